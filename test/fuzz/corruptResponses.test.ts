import { inspect } from 'node:util';
import fc from 'fast-check';
import { stringify } from 'flatted';
import type { IRun } from 'n8n-workflow';
import { contractCases } from '../contract/cases';
import { perDialect, type ContractCase } from '../contract/contractCase';
import { credentialFor } from '../contract/credentialFor';
import { profileOf } from '../simulator/dialects/profile';
import { engineHarness, runNode, speedUp } from '../engine';
import type { Simulator } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { corrupt, corruptions, statuses, type Corruption } from './corruption';
import { IS_LONG, nextDialect, RUNS, TIMEOUT_MS } from './runs';

/** Time passes this much faster for the nodes, because some wait for a value that a corrupt response never has. */
const SPEEDUP = 400;
const RUNS_PER_NODE = IS_LONG ? RUNS : 10;
/** Control characters, characters that change the text direction, and the beginning of a tag. */
const UNSAFE_TO_DISPLAY = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|<[a-z/!?]/i;

const harness = engineHarness();

beforeEach(() => {
	speedUp(SPEEDUP);
});
afterEach(() => jest.restoreAllMocks());

/** The response or frame to corrupt, and the fault. */
type Plan = { nth: number; harm: Corruption; status: number | undefined };
const plans = fc.record<Plan>({ nth: fc.nat(5), harm: corruptions, status: statuses });

const nodes = Object.entries(contractCases).map(([node, cases]) => {
	return { node, cases, dialect: nextDialect() };
});

describe.each(nodes)('$node, dialect $dialect.name', ({ node, cases, dialect }) => {
	const simulator = useSimulator({ dialect });

	test(
		'with one fault in a response or frame: stops with a text that is safe to display, or continues if set; never shows the token, and calls nobody twice',
		async () => {
			const property = fc.asyncProperty(
				fc.constantFrom(...cases),
				plans,
				fc.boolean(),
				async (contract, plan, continuesOnFail) => {
					simulator().reset();
					corruptOne(simulator(), plan);
					const result = await run(simulator(), node, contract, continuesOnFail);
					checkRun(result, simulator(), continuesOnFail);
				},
			);
			await fc.assert(property, { numRuns: RUNS_PER_NODE, includeErrorInReport: true });
		},
		TIMEOUT_MS,
	);
});

async function run(
	simulator: Simulator,
	type: string,
	{ profile, prepare, parameters, items = [{}] }: ContractCase,
	continuesOnFail: boolean,
): Promise<IRun> {
	const { dialect } = simulator;
	prepare?.(simulator);
	const serviceProfile = JSON.stringify({ ...profileOf(dialect), ...profile?.(dialect) });
	const account = { ...credentialFor(simulator), serviceProfile };
	const node = await harness.nodeWith(account, type, {
		parameters: perDialect(parameters, dialect),
		...(continuesOnFail && { onError: 'continueRegularOutput' }),
	});
	const input = items.map((json) => ({ json }));
	return await runNode(node, input);
}

function corruptOne(simulator: Simulator, { nth, harm, status }: Plan): void {
	let count = 0;
	simulator.tamper = (bytes) => {
		if (count++ !== nth) return { bytes };
		return { bytes: isJson(bytes) ? corrupt(bytes, harm) : bytes, status };
	};
}

function isJson(bytes: Buffer): boolean {
	try {
		JSON.parse(bytes.toString());
		return true;
	} catch {
		return false;
	}
}

function checkRun({ data }: IRun, simulator: Simulator, continuesOnFail: boolean): void {
	const { error } = data.resultData;
	expect(inspect(data, { depth: 50 })).not.toContain(simulator.token);
	// n8n copies and stores the output.
	expect(() => JSON.stringify(data)).not.toThrow();
	expect(() => stringify(data)).not.toThrow();
	expect(Object.keys(Object.prototype)).toEqual([]);
	const phones = simulator.placedCalls().map(({ phone }) => phone);
	expect(new Set(phones).size).toBe(phones.length);
	if (error === undefined) return;
	expect({ continuesOnFail, error }).toMatchObject({
		continuesOnFail: false,
		error: {
			name: expect.stringMatching(/^Node(Api|Operation)Error$/),
			message: expect.stringMatching(/./),
			description: expect.stringMatching(/./),
		},
	});
	const words = `${error.message} ${error.description}`;
	expect(words).not.toMatch(UNSAFE_TO_DISPLAY);
	expect(words.length).toBeLessThan(10_000);
}
