import { inspect } from 'node:util';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';
import { harness, output, runNode } from '../engine';
import type { Dialect, Simulator } from '../simulator';
import { perDialect, type ContractCase } from './contractCase';
import { profileOf } from '../simulator/dialects/profile';
import { credentialFor } from './credentialFor';
import { simulatorWithSockets } from './simulatedNodes';

export type ContractHarness = {
	simulator: () => Simulator;
	/** A node with a credential for the simulator. `data` replaces some of its fields. */
	node: (
		type: string,
		overrides: Partial<INode>,
		data?: ICredentialDataDecryptedObject,
	) => Promise<INode>;
};

/** A service of this dialect, and nodes whose credential fits it. */
export function contractHarness(dialect: Dialect): ContractHarness {
	const simulator = simulatorWithSockets(dialect);
	return {
		simulator,
		node: async (type, overrides, data = {}) =>
			await harness.nodeWith({ ...credentialFor(simulator()), ...data }, type, overrides),
	};
}

/** Runs a case, and checks everything that it expects. Returns the output. */
export async function checkCase(
	{ simulator, node }: ContractHarness,
	type: string,
	contract: ContractCase,
): Promise<IDataObject[]> {
	const { dialect, token, requests } = simulator();
	contract.prepare?.(simulator());
	const items = (contract.items ?? [{}]).map((json): INodeExecutionData => ({ json }));
	const parameters = perDialect(contract.parameters, dialect);
	const serviceProfile = JSON.stringify({ ...profileOf(dialect), ...contract.profile?.(dialect) });
	const tested = await node(type, { parameters }, { serviceProfile });
	if (contract.isRunTwice === true) await runNode(tested, items);
	const result = await runNode(tested, items);

	expect(inspect(result, { depth: Infinity })).not.toContain(token);
	const returned = output(result, 'Node');
	const json = returned.map((item) => item.json);
	const { message = '' } = result.data.resultData.error ?? {};
	const beginning = perDialect(contract.rejection, dialect);
	if (beginning === undefined) {
		expect(message).toBe('');
	} else {
		expect(message.slice(0, beginning.length)).toBe(beginning);
		expect(json).toEqual([]);
	}
	const expected = perDialect(contract.output, dialect);
	if (expected !== undefined) expect(json).toMatchObject(expected);
	expect(requestsOf(simulator()).sort()).toEqual(
		[...perDialect(contract.requests, dialect)].sort(),
	);
	expect(requests.filter((request) => !hasHeaders(request, simulator()))).toEqual([]);
	contract.verify?.(simulator(), returned);
	return json;
}

/** The requests of a case, with `{placed}` instead of the ID of a call that it placed. */
function requestsOf(simulator: Simulator): string[] {
	const placed = simulator.placedCalls().map(({ callId }) => callId);
	return simulator.requests.map(({ method, path }) => {
		const id = placed.find((callId) => path.includes(callId));
		return `${method} ${id === undefined ? path : path.replace(id, '{placed}')}`;
	});
}

/** Whether a request has the token, and JSON as its body. Sockets and recordings need neither. */
function hasHeaders(
	{ path, headers }: Simulator['requests'][number],
	{ dialect, token }: Simulator,
): boolean {
	const { pathname: recordings } = new URL(dialect.calls.recordingUrl('http://127.0.0.1', '/'));
	if (path.endsWith('/user-stream') || path.startsWith(recordings)) return true;
	const hasBody = Number(headers['content-length'] ?? 0) > 0;
	const isJson = headers['content-type']?.includes('application/json') === true;
	return headers['api-token'] === token && (isJson || !hasBody);
}
