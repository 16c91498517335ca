import fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import {
	activate,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	skipSleeps,
	webhookContext,
	webhookTrigger,
	type ActiveWorkflow,
} from '../engine';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { corrupt, corruptions } from './corruption';
import { MANY_RUNS, printCounts, TIMEOUT_MS } from './runs';

const { calls } = fixtures;
/** An ended call, an unknown call, and an invalid ID. */
const CALL_IDS = [calls.finished, '6f1c2a34-0000-4000-8000-999999999999', 'not an id'];

const harness = engineHarness();
let simulator: Simulator;
let active: ActiveWorkflow | undefined;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
// Repeated reads and their time limits take no time.
beforeEach(skipSleeps);
afterEach(async () => {
	await active?.stop();
	jest.restoreAllMocks();
});
afterAll(async () => await simulator.stop());

/** An active trigger, and a way to deliver bytes to it. */
async function listen(type: string, parameters: INodeParameters = {}) {
	const { baseUrl, token: apiToken } = simulator;
	const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
	const node = harness.node(type, { id: type, parameters, credentials, webhookId: 'hook' });
	const workflow = makeWorkflow([node]);
	const running = (active = await activate(harness.credentials, workflow));
	return async (rawBody: Buffer) => {
		const { context, response } = webhookContext(harness.credentials, workflow, node, { rawBody });
		const responded = response.sent();
		const result = await nodeTypes.getByNameAndVersion(type).webhook?.call(context);
		await responded;
		running.endExecutions();
		const started = running.emitted.splice(0).flatMap(({ items }) => items.flat());
		return { response, result, started: started.map(({ json }) => json) };
	};
}

const bodies = fc
	.record({ callId: fc.constantFrom(...CALL_IDS), harm: fc.option(corruptions) })
	.map(({ callId, harm }) => {
		const original = { call_id: callId, status: 'failed', summary: 'made up', retry_count: 99 };
		const bytes = Buffer.from(JSON.stringify(original));
		return harm === null ? bytes : corrupt(bytes, harm);
	});

function expectNoHarm(started: IDataObject[], body: unknown): void {
	expect(Object.keys(Object.prototype)).toEqual([]);
	expect(() => JSON.stringify(started)).not.toThrow();
	// The response contains nothing from the request except the ID of a call.
	expect(JSON.stringify(body).length).toBeLessThan(300);
	expect(JSON.stringify(body)).not.toMatch(/made up|<|polluted/);
}

test(
	'Call Completed Trigger starts the workflow only with the record of the service, whatever is delivered',
	async () => {
		const counts = { deliveries: 0, executions: 0, made_up: 0 };
		const deliver = await listen('callCompletedTrigger', { settings: { allowDuplicates: true } });
		const property = fc.asyncProperty(bodies, async (rawBody) => {
			const { response, started } = await deliver(rawBody);
			counts.deliveries++;
			counts.executions += started.length;
			counts.made_up += started.filter(({ summary }) => summary === 'made up').length;
			expect([200, 400, 404, 503]).toContain(response.statusCode);
			expect(started.every(({ call_id: callId }) => callId === calls.finished)).toBe(true);
			expect(counts.made_up).toBe(0);
			expectNoHarm(started, response.body);
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.executions).toBeGreaterThan(0);
		printCounts('Completions by strangers', counts);
	},
	TIMEOUT_MS,
);

test(
	'Chat Delivery Trigger passes everything on except an empty body',
	async () => {
		const counts = { deliveries: 0, executions: 0 };
		const node = harness.node('chatDeliveryTrigger');
		const { deliver } = webhookTrigger(harness.credentials, node);
		const property = fc.asyncProperty(bodies, async (rawBody) => {
			const { response, items } = await deliver({ rawBody, body: undefined });
			counts.deliveries++;
			counts.executions += items.length;
			expect(response.statusCode).toBe(items.length === 1 ? 200 : 400);
			expect(Object.keys(Object.prototype)).toEqual([]);
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.executions).toBeGreaterThan(0);
		printCounts('Deliveries by strangers', counts);
	},
	TIMEOUT_MS,
);
