import { setTimeout as realSleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { CREDENTIAL } from '../../nodes/shared/n8n/credential';
import { clock } from '../../nodes/shared/n8n/connect';
import { engineRing, output, runNode } from '../engine';
import { hasSchema, schemaFaults } from '../schema/schemas';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { credentialFor } from './credentialFor';

const ring = engineRing();
const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

/** Pauses of the nodes last a fiftieth here. */
const FASTER = 50;

describe.each(Object.values(dialects))('a service that speaks $name', (dialect) => {
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

			expect(inspect(done, { depth: Infinity })).not.toContain(simulator.token);
			if (contract.refusal === undefined) {
				expect(error).toBeUndefined();
			} else {
				const said = perDialect(contract.refusal, dialect);
				expect(error?.message.slice(0, said.length)).toBe(said);
			}
			expect(json).toMatchObject(perDialect(contract.output ?? json, dialect));
			const requests = simulator.requests.map(({ method, path }) => `${method} ${path}`);
			expect(requests.sort()).toEqual([...perDialect(contract.requests, dialect)].sort());
			contract.then?.(simulator, items);

			const { operation } = perDialect(contract.parameters, dialect);
			const key = { node, operation: typeof operation === 'string' ? operation : undefined };
			const checked = hasSchema(key) ? json : [];
			expect(checked.flatMap((item) => schemaFaults(key, item))).toEqual([]);
		});
	});
});
