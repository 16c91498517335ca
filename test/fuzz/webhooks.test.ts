import fc from 'fast-check';
import type { IDataObject, INodeParameters, IRun } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import {
	activate,
	engineHarness,
	makeWorkflow,
	nodeTypes,
	skipSleeps,
	webhookContext,
	type ActiveWorkflow,
} from '../engine';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { harmed, harms } from './hostile';
import { MANY_RUNS, tell } from './runs';

const { calls } = fixtures;
/** A call that is over, one that nobody knows, and one that goes on. */
const CALL_IDS = [calls.finished, '6f1c2a34-0000-4000-8000-999999999999', 'not an id'];

const harness = engineHarness();
let simulator: Simulator;
let active: ActiveWorkflow | undefined;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
// What is read again is read at once, and given up at once.
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
		const answered = response.answered();
		const result = await nodeTypes.getByNameAndVersion(type).webhook?.call(context);
		await answered;
		for (const end of running.ends.splice(0)) end.resolve(z.custom<IRun>().parse({}));
		const started = running.emitted.splice(0).flatMap(({ items }) => items.flat());
		return { response, result, started: started.map(({ json }) => json) };
	};
}

const bodies = fc
	.record({ callId: fc.constantFrom(...CALL_IDS), harm: fc.option(harms) })
	.map(({ callId, harm }) => {
		const honest = { call_id: callId, status: 'failed', summary: 'made up', retry_count: 99 };
		const bytes = Buffer.from(JSON.stringify(honest));
		return harm === null ? bytes : harmed(bytes, harm);
	});

function expectNoHarm(started: IDataObject[], body: unknown): void {
	expect(Object.keys(Object.prototype)).toEqual([]);
	expect(() => JSON.stringify(started)).not.toThrow();
	// Nothing of what a stranger wrote comes back but the ID of a call.
	expect(JSON.stringify(body).length).toBeLessThan(300);
	expect(JSON.stringify(body)).not.toMatch(/made up|<|polluted/);
}

test(
	'Call Completed Trigger starts the workflow with nothing but the record of the service, whatever is delivered',
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
		tell('Completions by strangers', counts);
	},
	60_000 + MANY_RUNS * 100,
);

test(
	'Chat Delivery Trigger passes on what is JSON and rejects everything else',
	async () => {
		const counts = { deliveries: 0, executions: 0 };
		const deliver = await listen('chatDeliveryTrigger');
		const property = fc.asyncProperty(bodies, async (rawBody) => {
			const { response, started } = await deliver(rawBody);
			counts.deliveries++;
			counts.executions += started.length;
			expect(response.statusCode).toBe(started.length === 1 ? 200 : 400);
			expectNoHarm(started, response.body);
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(counts.executions).toBeGreaterThan(0);
		tell('Deliveries by strangers', counts);
	},
	60_000 + MANY_RUNS * 100,
);
