import { inspect } from 'node:util';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
	IRun,
} from 'n8n-workflow';
import { z } from 'zod';
import { engineHarness, executeRaw, runNode, TOKEN, records, useNoWaits } from '../engine';

const OUTPUTS = z.array(z.array(z.custom<INodeExecutionData>()));

type RunOptions = {
	items?: IDataObject[];
	/** Fields of the credential, such as the profile. */
	credential?: ICredentialDataDecryptedObject;
	overrides?: Partial<INode>;
	sinks?: string[];
};

/** One node of the package in n8n's engine. It doesn't wait between attempts. */
export function nodeHarness(type: string, base: INodeParameters = {}) {
	const harness = engineHarness();
	const waits = useNoWaits();

	const nodeOf = async (
		parameters: INodeParameters,
		{ credential, overrides = {} }: RunOptions,
	) => {
		const all = { parameters: { ...base, ...parameters }, ...overrides };
		return credential ? await harness.nodeWith(credential, type, all) : harness.node(type, all);
	};
	const inputOf = ({ items = [{}] }: RunOptions): INodeExecutionData[] =>
		items.map((json) => ({ json }));

	const run = async (parameters: INodeParameters = {}, setting: RunOptions = {}): Promise<IRun> => {
		const node = await nodeOf(parameters, setting);
		const result = await runNode(node, inputOf(setting), setting.sinks);
		expect(inspect(result, { depth: Infinity })).not.toContain(TOKEN);
		return result;
	};
	return {
		...harness,
		/** The waits between attempts. */
		waits,
		run,
		/** The output of the node. */
		records: async (parameters: INodeParameters = {}, setting: RunOptions = {}) =>
			records(await run(parameters, setting)),
		/** The error that stops the node. Checks that it has no discouraged words, beside those of the service, and no token. */
		errorOf: async (parameters: INodeParameters = {}, setting: RunOptions = {}) => {
			const { error } = (await run(parameters, setting)).data.resultData;
			if (error === undefined) throw new Error('The node did not stop');
			const description = error.description ?? '';
			const own = error.message.replace(/"[^"]*"/g, '');
			const words = `${own} ${description.split('The service said')[0] ?? ''}`;
			expect(words).not.toMatch(/\b(?<!'On )(error|problem|failure)\b/i);
			return { message: error.message, description, context: error.context };
		},
		/** The items as `execute` returns them, before the engine completes their pairing. */
		executeItems: async (parameters: INodeParameters = {}, setting: RunOptions = {}) => {
			const node = await nodeOf(parameters, setting);
			const outputs = await executeRaw(node, inputOf(setting));
			return OUTPUTS.parse(outputs)[0] ?? [];
		},
	};
}
