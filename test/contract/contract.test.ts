import { inspect } from 'node:util';
import { loader, output, runNode } from '../engine';
import { FieldsSeen } from '../schema/fieldsSeen';
import { hasSchema, keysOf, nameOf, schemaFaults } from '../schema/schemas';
import type { Simulator } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { describeContract } from './contractRing';

const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

/** These two talk to a trigger in n8n, not to the service: test/nodes/ChatSession has them. */
const NOT_THE_SERVICE = ['chatSession › unwatch', 'chatSession › watch'];

const ran = new Set<string>();
const came = new FieldsSeen();
const badHeaders: string[] = [];
const leaks: string[] = [];

describeContract((ring, dialect) => {
	async function run(type: string, { credential, parameters, items = [{}] }: ContractCase) {
		const over = { parameters: perDialect(parameters, dialect) };
		const node = await ring.node(type, over, credential?.(dialect));
		const input = items.map((json) => ({ json }));
		return await runNode(ring.credentials, node, input);
	}

	function expectOutcome({ refusal, output: expected }: ContractCase, said = '', json: object[]) {
		if (refusal === undefined) {
			expect(said).toBe('');
		} else {
			const beginning = perDialect(refusal, dialect);
			expect(said.slice(0, beginning.length)).toBe(beginning);
			expect(json).toEqual([]);
		}
		if (expected !== undefined) expect(json).toMatchObject(perDialect(expected, dialect));
	}

	describe.each(nodes)('$node', ({ node, cases }) => {
		it.each(cases)('$title', async (contract) => {
			const simulator = ring.simulator();
			contract.given?.(simulator);
			const done = await run(node, contract);
			const items = output(done, 'Node');
			const json = items.map((item) => item.json);

			if (inspect(done, { depth: Infinity }).includes(simulator.token)) leaks.push(contract.title);
			expectOutcome(contract, done.data.resultData.error?.message, json);
			const requests = simulator.requests.map(({ method, path }) => `${method} ${path}`);
			expect(requests.sort()).toEqual([...perDialect(contract.requests, dialect)].sort());
			badHeaders.push(...withoutHeaders(simulator));
			contract.then?.(simulator, items);

			const { operation } = perDialect(contract.parameters, dialect);
			const key = { node, operation: typeof operation === 'string' ? operation : undefined };
			ran.add(nameOf(key));
			if (!hasSchema(key)) return;
			expect(json.flatMap((item) => schemaFaults(key, item))).toEqual([]);
			for (const item of json) came.add(nameOf(key), item);
		});
	});
});

describe('the table of cases', () => {
	const keys = () =>
		keysOf(loader.types.nodes).filter(
			(key) => !key.node.endsWith('Trigger') && !NOT_THE_SERVICE.includes(nameOf(key)),
		);

	it('has each operation of each action', () => {
		expect([...ran].sort()).toEqual(keys().map(nameOf).sort());
	});

	it('has each field that a schema promises', () => {
		const promised = keys().filter(hasSchema);
		expect(promised.flatMap((key) => came.missing(key, nameOf(key)))).toEqual([]);
	});

	it('let the token out nowhere', () => {
		expect(leaks).toEqual([]);
	});

	it('sent each request with the token, and each body as JSON', () => {
		expect(badHeaders).toEqual([]);
	});
});

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
