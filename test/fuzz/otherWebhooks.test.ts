import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { activate, callWebhook, engineHarness, makeWorkflow, mockTime } from '../engine';
import { placeCallHarness } from '../nodes/PlaceCall/placeCallHarness';
import { waitingExecutions } from '../nodes/PlaceCall/waitingExecutions';
import { dialects, fixtures } from '../simulator';
import { useSimulator } from '../simulator/testing/useSimulator';
import { corrupt, corruptions } from './corruption';
import { MANY_RUNS, printCounts, TIMEOUT_MS } from './runs';

const harness = engineHarness();
const placeCall = placeCallHarness();
const simulator = useSimulator({ dialect: dialects.plain });

afterEach(() => jest.restoreAllMocks());
/** Headers of requests from strangers. */
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

const bodies = (original: () => object) =>
	fc.tuple(fc.option(corruptions), fc.nat()).map(([harm]) => {
		const bytes = Buffer.from(JSON.stringify(original()));
		return harm === null ? bytes : corrupt(bytes, harm);
	});

test(
	'the watch URL of Chat Events Trigger rejects any request from a stranger, and stores nothing of it',
	async () => {
		const { baseUrl, token: apiToken } = simulator();
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		const type = 'chatEventsTrigger';
		const parameters = { sessions: 'watched', watchSecret: 'sesame' };
		const node = harness.node(type, { id: type, parameters, credentials, webhookId: 'hook' });
		const workflow = makeWorkflow([node]);
		const active = await activate(harness.credentials, workflow);
		const original = () => ({ action: 'watch', session_ids: [randomUUID(), randomUUID()] });
		const counts: Record<string, number> = {};
		const property = fc.asyncProperty(bodies(original), headers, async (rawBody, sent) => {
			const request = { rawBody, headers: sent };
			const { response, result } = await callWebhook(harness.credentials, workflow, node, request);
			const hasOwnResponse = result?.noWebhookResponse === true;
			const status = hasOwnResponse ? response.statusCode : 200;
			const body = JSON.stringify(hasOwnResponse ? response.body : result?.webhookResponse);
			counts[status] = (counts[status] ?? 0) + 1;
			expect(status).toBe(403);
			expect(body.length).toBeLessThan(600);
			expect(result?.workflowData).toBeUndefined();
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(simulator().sessions.openSockets()).toBe(0);
		expect(JSON.stringify(workflow.staticData)).not.toMatch(/[0-9a-f]{8}-/);
		expect(Object.keys(Object.prototype)).toEqual([]);
		expect([...active.errors, ...active.failed, ...active.emitted]).toEqual([]);
		printCounts('Watch requests by strangers', counts);
		await active.stop();
	},
	TIMEOUT_MS,
);

test(
	'only its own calls resume a waiting execution of Place Call, not requests from strangers',
	async () => {
		// The node sends no pings.
		jest.spyOn(clock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
		let time = Date.now();
		mockTime(() => time);
		const { waiting } = waitingExecutions(placeCall, () => simulator());
		const wait = { waitForCompletion: 'webhook' };
		const { calls, deliver } = await waiting(wait, 2);
		const { finished } = fixtures.calls;
		const original = () => ({ call_id: finished, status: 'picked', calls });
		const counts: Record<string, number> = {};
		const property = fc.asyncProperty(bodies(original), headers, async (rawBody, sent) => {
			const { response, items } = await deliver({ rawBody, headers: sent });
			counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1;
			expect([200, 400, 413]).toContain(response.statusCode);
			expect(items).toBeUndefined();
			time += 10;
		});
		const { requests } = simulator().stats();
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		// While no call has ended, a request costs at most one reading. It needs n8n's token in the URL.
		expect(simulator().stats().requests - requests).toBeLessThanOrEqual(MANY_RUNS);
		for (const callId of calls) await simulator().endCall(callId);
		const report = (callId: string) => ({
			rawBody: Buffer.from(JSON.stringify({ call_id: callId })),
		});
		const deliveries = [];
		for (const callId of calls) deliveries.push(await deliver(report(callId)));
		// All calls have ended, so the first report resumes the execution, and the second one doesn't again.
		expect(deliveries.map(({ items }) => items?.length)).toEqual([2, undefined]);
		printCounts('Reports by strangers to a waiting execution', counts);
	},
	TIMEOUT_MS,
);
