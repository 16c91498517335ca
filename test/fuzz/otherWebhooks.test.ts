import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { activate, callWebhook, engineHarness, makeWorkflow, mockTime } from '../engine';
import { placeCallHarness } from '../nodes/PlaceCall/placeCallHarness';
import { waitingExecutions } from '../nodes/PlaceCall/waitingExecutions';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { harmed, harms } from './hostile';
import { MANY_RUNS, tell } from './runs';

const harness = engineHarness();
const ring = placeCallHarness();
let simulator: Simulator;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
afterEach(() => {
	jest.restoreAllMocks();
	simulator.reset();
});
afterAll(async () => await simulator.stop());

/** What strangers put into the headers of a request. */
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

const bodies = (honest: () => object) =>
	fc.tuple(fc.option(harms), fc.nat()).map(([harm]) => {
		const bytes = Buffer.from(JSON.stringify(honest()));
		return harm === null ? bytes : harmed(bytes, harm);
	});

test(
	'the watch address of Chat Events Trigger has a clear answer to whatever is posted, and keeps nothing of it',
	async () => {
		// No time limit is reached, so that each session has its answer.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			await new Promise<void>((resolve) => (ms <= 500 ? setImmediate(resolve) : undefined));
		});
		let time = Date.now();
		mockTime(() => time);
		const { baseUrl, token: apiToken } = simulator;
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		const type = 'chatEventsTrigger';
		const parameters = { watchSessions: true };
		const node = harness.node(type, { id: type, parameters, credentials, webhookId: 'hook' });
		const workflow = makeWorkflow([node]);
		const active = await activate(harness.credentials, workflow);
		const honest = () => ({ action: 'watch', session_ids: [randomUUID(), randomUUID()] });
		const counts: Record<string, number> = {};
		const property = fc.asyncProperty(bodies(honest), headers, async (rawBody, sent) => {
			const request = { rawBody, headers: sent };
			const { response, result } = await callWebhook(harness.credentials, workflow, node, request);
			const isAnswered = result?.noWebhookResponse === true;
			const status = isAnswered ? response.statusCode : 200;
			const body = JSON.stringify(isAnswered ? response.body : result?.webhookResponse);
			counts[status] = (counts[status] ?? 0) + 1;
			expect([400, 413, 422, 429]).toContain(status);
			expect(body.length).toBeLessThan(600);
			expect(result?.workflowData).toBeUndefined();
			time += 1_000;
		});
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		expect(simulator.sessions.openSockets()).toBe(0);
		expect(JSON.stringify(workflow.staticData)).not.toMatch(/[0-9a-f]{8}-/);
		expect(Object.keys(Object.prototype)).toEqual([]);
		expect([...active.errors, ...active.failed, ...active.emitted]).toEqual([]);
		tell('Watch requests by strangers', counts);
		await active.stop();
	},
	60_000 + MANY_RUNS * 100,
);

test(
	'the address of an execution that Place Call keeps waiting wakes it for nothing but its own calls',
	async () => {
		// Nobody knocks by itself.
		jest.spyOn(clock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
		let time = Date.now();
		mockTime(() => time);
		const { waiting } = waitingExecutions(ring, () => simulator);
		const wait = { options: { wait: { settings: { waitForCompletion: 'webhook' } } } };
		const { calls, deliver } = await waiting(wait, 2);
		const { finished } = fixtures.calls;
		const honest = () => ({ call_id: finished, status: 'picked', calls });
		const counts: Record<string, number> = {};
		const property = fc.asyncProperty(bodies(honest), headers, async (rawBody, sent) => {
			const { response, items } = await deliver({ rawBody, headers: sent });
			counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1;
			expect([200, 400, 413]).toContain(response.statusCode);
			expect(items).toBeUndefined();
			time += 10;
		});
		const { requests } = simulator.stats();
		const begun = time;
		await fc.assert(property, { numRuns: MANY_RUNS, includeErrorInReport: true });
		// Two calls, read once in two seconds.
		const most = 2 * (1 + (time - begun) / 2_000);
		expect(simulator.stats().requests - requests).toBeLessThanOrEqual(most);
		for (const callId of calls) await simulator.endCall(callId);
		const report = (callId: string) => ({
			rawBody: Buffer.from(JSON.stringify({ call_id: callId })),
		});
		const arrivals = [];
		for (const callId of calls) arrivals.push(await deliver(report(callId)));
		expect(arrivals.at(-1)?.items).toHaveLength(2);
		tell('Reports by strangers to a waiting execution', counts);
	},
	60_000 + MANY_RUNS * 100,
);
