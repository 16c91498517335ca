import { inspect } from 'node:util';
import { loader, output, runNode } from '../engine';
import {
	FieldsSeen,
	hasSchema,
	keysOf,
	nameOf,
	schemaFaults,
	type SchemaKey,
} from '../schema/schemas';
import { dialects, type Dialect, type Simulator } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { describeContract } from './contractHarness';
import { endpointOf, ENDPOINTS } from '../openapi/openapi';
import { operationNamed, TRIGGER } from '../operations/operations';

const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

const fieldsSeen = new FieldsSeen();
const usedEndpoints = new Set<string>();
let remainingCases = 0;

describeContract((harness, dialect) => {
	async function run(type: string, contract: ContractCase) {
		const { credential, parameters, items = [{}] } = contract;
		const overrides = { parameters: perDialect(parameters, dialect) };
		const node = await harness.node(type, overrides, credential?.(dialect));
		const input = items.map((json) => ({ json }));
		if (contract.isRunTwice === true) await runNode(node, input);
		return await runNode(node, input);
	}

	function expectOutcome(
		{ rejection, output: expected }: ContractCase,
		message = '',
		json: object[],
	) {
		const beginning = rejection === undefined ? undefined : perDialect(rejection, dialect);
		if (beginning === undefined) {
			expect(message).toBe('');
		} else {
			expect(message.slice(0, beginning.length)).toBe(beginning);
			expect(json).toEqual([]);
		}
		if (expected !== undefined) expect(json).toMatchObject(perDialect(expected, dialect));
	}

	describe.each(nodes)(
		'$node: sends the token with each request and nowhere else, and each body as JSON',
		({ node, cases }) => {
			remainingCases += cases.length;
			it.each(cases)('$title', async (contract) => {
				const simulator = harness.simulator();
				contract.prepare?.(simulator);
				const result = await run(node, contract);
				const items = output(result, 'Node');
				const json = items.map((item) => item.json);

				expect(inspect(result, { depth: Infinity })).not.toContain(simulator.token);
				expectOutcome(contract, result.data.resultData.error?.message, json);
				const requests = requestsOf(simulator);
				for (const { method, path } of simulator.requests)
					usedEndpoints.add(endpointOf(method, path));
				expect(requests.sort()).toEqual([...perDialect(contract.requests, dialect)].sort());
				expect(withoutHeaders(simulator)).toEqual([]);
				contract.verify?.(simulator, items);

				const key = keyOf(node, contract, dialect);
				remainingCases -= 1;
				if (!hasSchema(key)) return;
				expect(json.flatMap((item) => schemaFaults(key, item))).toEqual([]);
				for (const item of json) fieldsSeen.add(nameOf(key), item);
			});
		},
	);
});

/** Those that send requests to a trigger in n8n are in test/nodes/ChatSession. */
const keys = () =>
	keysOf(loader.types.nodes).filter(
		(key) => !key.node.endsWith('Trigger') && operationNamed(nameOf(key)).sends !== TRIGGER,
	);

/** The schema key of a case's operation. */
function keyOf(node: string, { parameters }: ContractCase, dialect: Dialect): SchemaKey {
	const { operation } = perDialect(parameters, dialect);
	const found = keys().find((key) => key.node === node && key.operation === operation);
	if (found === undefined) throw new Error(`No operation ${JSON.stringify(operation)} of ${node}`);
	return found;
}

it.each(Object.entries(dialects))(
	'has a case for each operation in the dialect %s',
	(_name, dialect) => {
		const covered = nodes.flatMap(({ node, cases }) =>
			cases.map((contract) => nameOf(keyOf(node, contract, dialect))),
		);
		expect([...new Set(covered)].sort()).toEqual(keys().map(nameOf).sort());
	},
);

// Only if every case has run, because a run can be limited to some cases.
afterAll(() => {
	if (remainingCases > 0) return;
	const withSchema = keys().filter(hasSchema);
	const missing = withSchema.flatMap((key) =>
		fieldsSeen.missing(key, nameOf(key)).map((field) => `${nameOf(key)} › ${field}`),
	);
	if (missing.length > 0)
		throw new Error(`No case returns these fields of a schema: ${missing.join()}`);
	const unused = ENDPOINTS.map(({ name }) => name).filter((name) => !usedEndpoints.has(name));
	if (unused.length > 0) throw new Error(`No case sends a request to ${unused.join()}`);
});

/** The requests of a case, with `{placed}` instead of the ID of a call that it placed. */
function requestsOf(simulator: Simulator): string[] {
	const placed = simulator.placedCalls().map(({ callId }) => callId);
	return simulator.requests.map(({ method, path }) => {
		const id = placed.find((callId) => path.includes(callId));
		return `${method} ${id === undefined ? path : path.replace(id, '{placed}')}`;
	});
}

/** Requests without the token, or with a body that isn't JSON. Sockets and recordings need neither. */
function withoutHeaders({ requests, token, dialect }: Simulator): string[] {
	const { pathname: recordings } = new URL(dialect.calls.recordingUrl('http://127.0.0.1', '/'));
	return requests
		.filter(({ path }) => !path.endsWith('/user-stream') && !path.startsWith(recordings))
		.filter(({ headers }) => {
			const hasBody = Number(headers['content-length'] ?? 0) > 0;
			const isJson = headers['content-type']?.includes('application/json') === true;
			return headers['api-token'] !== token || (hasBody && !isJson);
		})
		.map(({ method, path, headers }) => `${method} ${path} ${JSON.stringify(headers)}`);
}
