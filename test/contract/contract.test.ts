import { setTimeout as realSleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { CREDENTIAL } from '../../nodes/shared/n8n/credential';
import { clock } from '../../nodes/shared/n8n/connect';
import { engineRing, loader, output, runNode } from '../engine';
import { FieldsSeen } from '../schema/fieldsSeen';
import { hasSchema, keysOf, nameOf, schemaFaults } from '../schema/schemas';
import { dialects, startSimulator, type Dialect, type Simulator } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { credentialFor } from './credentialFor';
import { unguessable } from './unguessable';

const ring = engineRing();
const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

/** These two talk to n8n, not to the service: test/nodes/ChatEventsTrigger has them. */
const NOT_THE_SERVICE = ['chatSession › unwatch', 'chatSession › watch'];

const ran = new Set<string>();
const came = new FieldsSeen();
const badHeaders: string[] = [];
const leaks: string[] = [];

/** Pauses of the nodes last a fiftieth here. */
const FASTER = 50;

const services = { ...dialects, 'what nobody could guess': unguessable };

describe.each(Object.entries<Dialect>(services))('a service that speaks %s', (_name, dialect) => {
	let simulator: Simulator;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			await realSleep(ms / FASTER);
		});
	});
	afterEach(() => {
		jest.restoreAllMocks();
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	async function run(node: string, { credential, parameters, items = [{}] }: ContractCase) {
		const data = { ...credentialFor(simulator), ...credential?.(dialect) };
		const one = ring.node(node, {
			parameters: perDialect(parameters, dialect),
			credentials: { [CREDENTIAL]: await ring.addCredential(data) },
		});
		return await runNode(
			ring.credentials,
			one,
			items.map((json) => ({ json })),
		);
	}

	describe.each(nodes)('$node', ({ node, cases }) => {
		it.each(cases)('$title', async (contract) => {
			contract.given?.(simulator);
			const done = await run(node, contract);
			const items = output(done, 'Node');
			const json = items.map((item) => item.json);
			const { error } = done.data.resultData;

			if (inspect(done, { depth: Infinity }).includes(simulator.token)) leaks.push(contract.title);
			if (contract.refusal === undefined) {
				expect(error).toBeUndefined();
			} else {
				const said = perDialect(contract.refusal, dialect);
				expect(error?.message.slice(0, said.length)).toBe(said);
				expect(json).toEqual([]);
			}
			if (contract.output !== undefined) {
				expect(json).toMatchObject(perDialect(contract.output, dialect));
			}
			const requests = simulator.requests.map(({ method, path }) => `${method} ${path}`);
			expect(requests.sort()).toEqual([...perDialect(contract.requests, dialect)].sort());
			contract.then?.(simulator, items);
			badHeaders.push(...withoutHeaders(simulator));

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
