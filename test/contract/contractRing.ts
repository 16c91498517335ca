import type {
	IDataObject,
	INode,
	INodeCredentialsDetails,
	INodeParameters,
	IRun,
} from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/credential';
import { engineRing, output, runNode } from '../engine';
import { dialects, startSimulator, type Dialect, type Simulator } from '../simulator';
import { credentialFor } from './credentialFor';

export type ContractRing = {
	simulator(): Simulator;
	node(type: string, parameters: INodeParameters, over?: Partial<INode>): INode;
	run(type: string, parameters: INodeParameters, items?: IDataObject[]): Promise<IRun>;
	/** What the node puts out; a run that stops is thrown. */
	records(type: string, parameters: INodeParameters, items?: IDataObject[]): Promise<IDataObject[]>;
};

/**
 * Runs the same cases against a simulator of each dialect. Between dialects nothing differs but
 * the fields of the credential and what a case takes from its dialect as a parameter.
 */
export function describeContract(
	cases: (ring: ReturnType<typeof engineRing> & ContractRing, dialect: Dialect) => void,
): void {
	const engine = engineRing();
	describe.each(Object.values(dialects))('in the dialect “$name”', (dialect) => {
		cases({ ...engine, ...contractRing(engine, dialect) }, dialect);
	});
}

function contractRing(engine: ReturnType<typeof engineRing>, dialect: Dialect): ContractRing {
	let running: Simulator | undefined;
	let details: INodeCredentialsDetails = { id: null, name: CREDENTIAL };

	beforeAll(async () => {
		running = await startSimulator({ dialect });
		details = await engine.addCredential(credentialFor(running));
	});
	afterEach(() => running?.reset());
	afterAll(async () => await running?.stop());

	const node: ContractRing['node'] = (type, parameters, over = {}) =>
		engine.node(type, { parameters, credentials: { [CREDENTIAL]: details }, ...over });
	const run: ContractRing['run'] = async (type, parameters, items = [{}]) =>
		await runNode(
			engine.credentials,
			node(type, parameters),
			items.map((json) => ({ json })),
		);
	return {
		simulator: () => {
			if (running === undefined) throw new Error('The simulator is not running yet');
			return running;
		},
		node,
		run,
		records: async (type, parameters, items) => {
			const result = await run(type, parameters, items);
			const { error } = result.data.resultData;
			if (error !== undefined) throw new Error(`${error.message} ${String(error.description)}`);
			return output(result, 'Node').map(({ json }) => json);
		},
	};
}
