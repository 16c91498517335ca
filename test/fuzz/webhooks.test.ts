/** Requests from strangers to webhooks, with any body and headers. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	mockTime,
	skipSleeps,
	webhookTrigger,
} from '../engine';
import { placeCallHarness } from '../nodes/PlaceCall/placeCallHarness';
import { waitingExecutions } from '../nodes/PlaceCall/waitHarness';
import { dialects, fixtures } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { corrupt, corruptions } from './corruption';
import { MANY_RUNS, TIMEOUT_MS } from './runs';

const { finished } = fixtures.calls;
const harness = engineHarness();
const placeCall = placeCallHarness();
const simulator = useSimulator({ dialect: dialects.plain });

jest.setTimeout(TIMEOUT_MS);
afterEach(() => {
	expect(Object.keys(Object.prototype)).toEqual([]);
	jest.restoreAllMocks();
});

const access = () => ({ baseUrl: simulator().baseUrl, apiToken: simulator().token });

const headers = fc.dictionary(
	fc.constantFrom('content-type', 'content-encoding', 'x-watch-secret', '__proto__', 'host', 'x-x'),
	fc.oneof(
		fc.string(),
		fc.constantFrom(
			'application/xml',
			'multipart/form-data; boundary=x',
			'gzip',
			'x'.repeat(9_000),
		),
	),
);

/** Requests with this body, most of which are corrupt. */
async function assertForAll(
	originals: fc.Arbitrary<object>,
	check: (request: { rawBody: Buffer; headers: Record<string, string> }) => Promise<void>,
): Promise<void> {
	const bodies = fc.tuple(originals, fc.option(corruptions)).map(([original, harm]) => {
		const bytes = Buffer.from(JSON.stringify(original));
		return harm === null ? bytes : corrupt(bytes, harm);
	});
	const property = fc.asyncProperty(bodies, headers, async (rawBody, sent) => {
		await check({ rawBody, headers: sent });
	});
	await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
}

test('Call Completed Trigger passes on only the record of the service, whatever is delivered', async () => {
	// Repeated reads and their time limits take no time.
	skipSleeps();
	let passedOn = 0;
	const node = await harness.nodeWith(access(), 'callCompletedTrigger');
	const { deliver } = webhookTrigger(node);
	const calls = fc.constantFrom(finished, '6f1c2a34-0000-4000-8000-999999999999', 'not an id');
	const madeUp = { status: 'failed', summary: 'made up', retry_count: 99 };
	const reports = calls.map((callId) => ({ call_id: callId, ...madeUp }));
	await assertForAll(reports, async ({ rawBody }) => {
		const { response, execution, items } = await deliver({ rawBody, body: undefined });
		passedOn += items.length;
		expect(execution?.data.resultData.error).toBeUndefined();
		expect(items.every(({ call_id: callId }) => callId === finished)).toBe(true);
		expect(items.filter(({ summary }) => summary === 'made up')).toEqual([]);
		expect([200, 400]).toContain(response.statusCode);
		const body = JSON.stringify(response.body ?? '');
		expect(body.length).toBeLessThan(300);
		expect(body).not.toMatch(/made up|<|polluted/);
	});
	expect(passedOn).toBeGreaterThan(0);
});

test('the watch URL of Chat Events Trigger rejects any request from a stranger, and stores nothing of it', async () => {
	const type = 'chatEventsTrigger';
	const node = await harness.nodeWith(access(), type, {
		id: type,
		parameters: { sessions: 'watched', watchSecret: 'sesame' },
		webhookId: 'hook',
	});
	const workflow = makeWorkflow([node]);
	const active = await activate(workflow);
	const original = { action: 'watch', session_ids: [randomUUID(), randomUUID()] };
	await assertForAll(fc.constant(original), async (request) => {
		const { response, result } = await callWebhook(workflow, node, request);
		expect([result?.noWebhookResponse, response.statusCode]).toEqual([true, 403]);
		expect(JSON.stringify(response.body).length).toBeLessThan(600);
		expect(result?.workflowData).toBeUndefined();
	});
	expect(simulator().sessions.openSockets()).toBe(0);
	expect(JSON.stringify(workflow.staticData)).not.toMatch(/[0-9a-f]{8}-/);
	expect([...active.errors, ...active.failed, ...active.emitted]).toEqual([]);
	await active.stop();
});

test('only its own calls resume a waiting execution of Place Call', async () => {
	// The node sends no pings.
	jest.spyOn(clock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
	let time = Date.now();
	mockTime(() => time);
	const { waiting } = waitingExecutions(placeCall, () => simulator());
	const { calls, deliver } = await waiting({ waitForCompletion: 'webhook' }, 2);
	const { requests } = simulator().stats();
	const original = { call_id: finished, status: 'picked', calls };
	await assertForAll(fc.constant(original), async (request) => {
		const { response, items } = await deliver(request);
		expect([200, 400, 413]).toContain(response.statusCode);
		expect(items).toBeUndefined();
		time += 10;
	});
	// While no call has ended, a request costs at most one reading. It needs n8n's token in the URL.
	expect(simulator().stats().requests - requests).toBeLessThanOrEqual(MANY_RUNS);
	for (const callId of calls) await simulator().endCall(callId);
	const resumed = [];
	for (const callId of calls) {
		const { items } = await deliver({ rawBody: Buffer.from(JSON.stringify({ call_id: callId })) });
		resumed.push(items?.length);
	}
	// All calls have ended, so the first report resumes the execution, and the second one doesn't again.
	expect(resumed).toEqual([2, undefined]);
});
