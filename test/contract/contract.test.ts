import { inspect } from 'node:util';
import { loader, output, runNode } from '../engine';
import { FieldsSeen } from '../schema/fieldsSeen';
import { hasSchema, keysOf, nameOf, schemaFaults, type SchemaKey } from '../schema/schemas';
import { dialects, type Dialect, type Simulator } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { describeContract } from './contractHarness';
import { endpointsOfDocument } from '../document/document';
import { escaped } from './wireNames';

const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

/** These two talk to a trigger in n8n, not to the service: test/nodes/ChatSession has them. */
const NOT_THE_SERVICE = ['chatSession › unwatch', 'chatSession › watch'];

const came = new FieldsSeen();
const asked = new Set<string>();
let left = 0;

describeContract((harness, dialect) => {
	async function run(type: string, contract: ContractCase) {
		const { credential, parameters, items = [{}] } = contract;
		const over = { parameters: perDialect(parameters, dialect) };
		const node = await harness.node(type, over, credential?.(dialect));
		const input = items.map((json) => ({ json }));
		return await runNode(harness.credentials, node, input);
	}

	function expectOutcome(
		{ rejection, output: expected }: ContractCase,
		originalMessage = '',
		json: object[],
	) {
		const beginning = rejection === undefined ? undefined : perDialect(rejection, dialect);
		if (beginning === undefined) {
			expect(originalMessage).toBe('');
		} else {
			expect(originalMessage.slice(0, beginning.length)).toBe(beginning);
			expect(json).toEqual([]);
		}
		if (expected !== undefined) expect(json).toMatchObject(perDialect(expected, dialect));
	}

	describe.each(nodes)(
		'$node: each request with the token, each body as JSON, the token nowhere else',
		({ node, cases }) => {
			left += cases.length;
			it.each(cases)('$title', async (contract) => {
				const simulator = harness.simulator();
				contract.prepare?.(simulator);
				const done = await run(node, contract);
				const items = output(done, 'Node');
				const json = items.map((item) => item.json);

				expect(inspect(done, { depth: Infinity })).not.toContain(simulator.token);
				expectOutcome(contract, done.data.resultData.error?.message, json);
				const requests = requestsOf(simulator);
				for (const request of requests) asked.add(request);
				expect(requests.sort()).toEqual([...perDialect(contract.requests, dialect)].sort());
				expect(withoutHeaders(simulator)).toEqual([]);
				contract.verify?.(simulator, items);

				const key = keyOf(node, contract, dialect);
				left -= 1;
				if (!hasSchema(key)) return;
				expect(json.flatMap((item) => schemaFaults(key, item))).toEqual([]);
				for (const item of json) came.add(nameOf(key), item);
			});
		},
	);
});

const keys = () =>
	keysOf(loader.types.nodes).filter(
		(key) => !key.node.endsWith('Trigger') && !NOT_THE_SERVICE.includes(nameOf(key)),
	);

/** The operation of a case, in whatever version of the node it runs. */
function keyOf(node: string, { parameters }: ContractCase, dialect: Dialect): SchemaKey {
	const { operation } = perDialect(parameters, dialect);
	const found = keys().find((key) => key.node === node && key.operation === operation);
	if (found === undefined) throw new Error(`No operation ${JSON.stringify(operation)} of ${node}`);
	return found;
}

it.each(Object.entries(dialects))('has a case for each operation, spoken %s', (_name, dialect) => {
	const covered = nodes.flatMap(({ node, cases }) =>
		cases.map((contract) => nameOf(keyOf(node, contract, dialect))),
	);
	expect([...new Set(covered)].sort()).toEqual(keys().map(nameOf).sort());
});

// Known when every case has run, in whatever order.
afterAll(() => {
	if (left > 0) return;
	const promised = keys().filter(hasSchema);
	const missing = promised.flatMap((key) =>
		came.missing(key, nameOf(key)).map((field) => `${nameOf(key)} › ${field}`),
	);
	if (missing.length > 0) throw new Error(`No case has what a schema promises: ${missing.join()}`);
	const never = endpointsOfDocument().filter((endpoint) => !wasAsked(endpoint));
	if (never.length > 0) throw new Error(`No case asks for ${never.join()}`);
});

const wasAsked = (endpoint: string) => {
	const pattern = new RegExp(`^${escaped(endpoint).replace('\\{id\\}', '[^/]+')}$`);
	return [...asked].some((request) => pattern.test(request));
};

/** With a name in place of the ID that the service gave to a call of this case. */
function requestsOf(simulator: Simulator): string[] {
	const placed = simulator.placedCalls().map(({ callId }) => callId);
	return simulator.requests.map(({ method, path }) => {
		const id = placed.find((callId) => path.includes(callId));
		return `${method} ${id === undefined ? path : path.replace(id, '{placed}')}`;
	});
}

/** Requests to the interface itself; a socket and a recording have addresses of their own. */
function withoutHeaders({ requests, token }: Simulator): string[] {
	return requests
		.filter(({ path }) => /^\/(v1|call|chat_)/.test(path) && !path.endsWith('/user-stream'))
		.filter(({ headers }) => {
			const hasBody = Number(headers['content-length'] ?? 0) > 0;
			const isJson = headers['content-type']?.includes('application/json') === true;
			return headers['api-token'] !== token || (hasBody && !isJson);
		})
		.map(({ method, path, headers }) => `${method} ${path} ${JSON.stringify(headers)}`);
}
