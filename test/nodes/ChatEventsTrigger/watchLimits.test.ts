import { randomUUID } from 'node:crypto';
import { WatchLimits } from '../../../nodes/ChatEventsTrigger/watchLimits';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { mockTime, speedUp } from '../../engine';
import { untilIdle } from '../../n8n/until';
import { eventually } from '../chatHarness';
import { neverLate, sessions, triggerHarness } from './triggerHarness';
import { watchUrl, WATCHING } from './watchHarness';

const harness = triggerHarness();
const { post, watch, stored, writes, storing } = watchUrl(harness);

const madeUp = (count: number) => Array.from({ length: count }, () => randomUUID());
const tokenRequests = () =>
	harness.service().requests.filter(({ path }) => path.endsWith('/ws_token')).length;

/** Counts the requests by status. */
async function statuses(requests: Array<Promise<{ statusCode: number }>>) {
	const counts: Record<number, number> = {};
	for (const { statusCode } of await Promise.all(requests)) {
		counts[statusCode] = (counts[statusCode] ?? 0) + 1;
	}
	return counts;
}

describe('an invalid body', () => {
	const bodies: Array<[string, string]> = [
		['none', ''],
		['text', 'watch'],
		['incomplete JSON', '{"action":'],
		['null', 'null'],
		['a list', '["watch"]'],
		['a JSON text', '"{}"'],
		['an inherited action', '{"__proto__":{"action":"watch"}}'],
	];
	test.each(bodies)('%s', async (_name, text) => {
		await harness.start(WATCHING);
		const message = '"action" in the request must be "watch" or "unwatch"';
		expect(await post(undefined, { rawBody: Buffer.from(text) })).toEqual({
			statusCode: 400,
			body: { message, resolution: expect.any(String) },
		});
		expect(writes()).toBe(0);
	});
});

test.each([101, 1_000])(
	'a request with %i made-up sessions is rejected completely',
	async (count) => {
		await harness.start(WATCHING);
		for (const action of ['watch', 'unwatch']) {
			expect(await post({ action, session_ids: madeUp(count) })).toEqual({
				statusCode: 400,
				body: {
					message: `A request can contain at most 100 sessions (got ${count.toLocaleString('en-US')})`,
					resolution: 'Send the sessions in several requests.',
				},
			});
		}
		expect([tokenRequests(), writes()]).toEqual([0, 0]);
	},
);

test('a long invalid ID is shortened in the response', async () => {
	await harness.start(WATCHING);
	const { statusCode, body } = await watch('x'.repeat(50_000));
	expect(statusCode).toBe(400);
	expect(JSON.stringify(body).length).toBeLessThan(400);
});

test('connects 100 sessions, 20 at the same time', async () => {
	neverLate();
	await harness.start(WATCHING);
	const service = harness.service();
	const ids = Array.from({ length: 100 }, () => service.sessions.create().sessionId);
	const release = service.holdResponses();
	const watching = watch(...ids);
	await eventually(() => service.stats().maxActive === 20);
	await untilIdle();
	release();
	expect(await watching).toMatchObject({ statusCode: 200, body: { connected: true } });
	expect(service.stats().maxActive).toBe(20);
	expect(service.sessions.openSockets()).toBe(100);
	expect(stored()).toEqual(ids);
});

test('sessions that wait to connect after a restart can be unwatched', async () => {
	const service = harness.service();
	const release = service.holdResponses();
	const ids = Array.from({ length: 60 }, () => service.sessions.create().sessionId);
	const active = await harness.start(WATCHING, 'init', storing(ids));
	const last = ids.slice(-20);
	expect(await post({ action: 'unwatch', session_ids: last })).toMatchObject({ statusCode: 200 });
	release();
	await harness.connected(40);
	await clock.sleep(2_500);
	expect(last.map((id) => service.sessions.openSockets(id))).toEqual(last.map(() => 0));
	expect(active.failed).toEqual([]);
});

test('a flood of requests with one made-up session each causes at most 200 requests per minute, and is not stored', async () => {
	let time = Date.now();
	neverLate();
	mockTime(() => time);
	const active = await harness.start(WATCHING);
	const flood = async (count: number) => await statuses(madeUp(count).map((id) => watch(id)));
	const counts: Record<number, number> = {};
	for (let wave = 0; wave < 40; wave++) {
		for (const [status, times] of Object.entries(await flood(50))) {
			counts[Number(status)] = (counts[Number(status)] ?? 0) + times;
		}
	}
	expect(Object.keys(counts)).toEqual(['422', '429']);
	expect(counts[429]).toBeGreaterThan(1_800);
	expect(tokenRequests()).toBeLessThanOrEqual(200);
	expect(stored()).toEqual([]);
	expect(writes()).toBeLessThanOrEqual(200);
	expect(active.failed).toEqual([]);

	expect(await watch(sessions.open)).toEqual({
		statusCode: 429,
		retryAfter: '60',
		body: {
			message:
				'The service rejected 100 sessions within a minute, so the Chat Events Trigger accepts no new ones',
			resolution:
				"Try again in a minute. If others send these sessions, set 'Secret' in the Chat Events Trigger.",
		},
	});
	time += 60_000;
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 200 });
	expect(stored()).toEqual([sessions.open]);
});

test('made-up sessions count as rejected even if the service rejects them after the response', async () => {
	await harness.start(WATCHING);
	const release = harness.service().holdResponses();
	for (let wave = 0; wave < 4; wave++) await statuses(madeUp(25).map((id) => watch(id)));
	// Rejections count for a minute.
	neverLate();
	release();
	await eventually(() => tokenRequests() >= 100);
	let status = 0;
	for (let attempt = 0; attempt < 50 && status !== 429; attempt++) {
		status = (await watch(randomUUID())).statusCode;
	}
	expect(status).toBe(429);
});

test("a flood doesn't affect watched sessions", async () => {
	neverLate();
	await harness.start(WATCHING);
	await watch(sessions.open);
	for (let wave = 0; wave < 3; wave++) await statuses(madeUp(50).map((id) => watch(id)));
	expect((await watch(randomUUID())).statusCode).toBe(429);
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 200, body: { connected: true } });
	expect(stored()).toEqual([sessions.open]);
});

test('handles 50 of 200 concurrent requests, and asks the others to retry', async () => {
	neverLate();
	await harness.start(WATCHING);
	const service = harness.service();
	const release = service.holdResponses();
	const ids = Array.from({ length: 200 }, () => service.sessions.create().sessionId);
	let ended = 0;
	const requests = ids.map(async (id) => await watch(id).finally(() => ended++));
	await eventually(() => ended === 150);
	release();
	const responses = await Promise.all(requests);
	expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(50);
	const rejected = responses.filter(({ statusCode }) => statusCode === 503);
	expect(rejected).toHaveLength(150);
	expect(rejected[0]).toEqual({
		statusCode: 503,
		retryAfter: '2',
		body: {
			message:
				'The Chat Events Trigger is busy, because it connects at most 100 new sessions from at most 50 requests at the same time',
			resolution: 'Send the request again in a few seconds.',
		},
	});
	await harness.connected(50);
	expect(stored()).toHaveLength(50);
});

test('handles one of 3 concurrent requests with 60 sessions each', async () => {
	neverLate();
	await harness.start(WATCHING);
	const requests = [1, 2, 3].map(async () => {
		const ids = Array.from({ length: 60 }, () => harness.service().sessions.create().sessionId);
		return await watch(...ids);
	});
	expect(await statuses(requests)).toEqual({ 200: 1, 503: 2 });
});

test('a trigger watches at most 1,000 sessions', async () => {
	const { faults, sessions: control } = harness.service();
	// While the service is unreachable, made-up sessions can't be recognized.
	faults.inject({ kind: 'status', status: 503, match: { path: /ws_token/ } });
	speedUp(1_000);
	const active = await harness.start(WATCHING, 'init', storing(madeUp(1_200)));
	expect(await watch(sessions.open)).toEqual({
		statusCode: 409,
		body: {
			message: 'The Chat Events Trigger can watch at most 1,000 sessions (it watches 1,000)',
			resolution:
				'Unwatch sessions that are no longer needed, or use another Chat Events Trigger for more sessions.',
		},
	});
	faults.clear();
	// The service knows none of them, so they are removed and reported in a short message.
	await eventually(() => active.failed.length > 0);
	for (const { message, description } of active.failed.map((error) => ({
		message: error.message,
		description: 'description' in error ? String(error.description) : '',
	}))) {
		expect(message.length).toBeLessThan(300);
		expect(description.length).toBeLessThan(20_000);
	}
	expect(control.openSockets()).toBe(0);
});

test("the response doesn't show other watched sessions", async () => {
	await harness.start(WATCHING);
	await watch(sessions.open);
	const requested = randomUUID();
	for (const action of ['watch', 'unwatch']) {
		const response = await post({ action, session_ids: [requested] });
		expect(JSON.stringify(response)).not.toContain(sessions.open);
	}
	expect(await post({ action: 'unwatch', session_ids: [requested] })).toMatchObject({
		statusCode: 200,
		body: { watched_sessions: [] },
	});
});

test('repeated requests for a session leave no listeners', async () => {
	neverLate();
	await harness.start(WATCHING);
	await watch(sessions.open);
	const before = tokenRequests();
	const listening = jest.spyOn(AbortSignal.prototype, 'addEventListener');
	for (let request = 0; request < 20; request++) await watch(sessions.open);
	const lasting = listening.mock.calls.filter(([, , options]) => typeof options === 'object');
	expect(tokenRequests()).toBe(before);
	// Listeners of pauses are removed again.
	expect(lasting.length).toBeLessThanOrEqual(20);
	expect(harness.service().sessions.openSockets()).toBe(1);
});

test('of late sessions, only rejected ones count as rejected', async () => {
	const limits = new WatchLimits(() => 0);
	const connect = async () => await limits.forSessions(1, 0, async () => await Promise.resolve(0));
	for (let session = 0; session < 200; session++) {
		await limits.noteLate(Promise.resolve({ kind: session % 2 === 0 ? 'open' : 'closed_by_us' }));
		await limits.noteLate(undefined);
	}
	await connect();
	const ending = new ChatEnded(
		'mint_rejected',
		{ message: 'No token', resolution: forEveryone('Check the session ID.') },
		undefined,
		null,
		404,
	);
	for (let session = 0; session < 99; session++) {
		await limits.noteLate(Promise.resolve({ kind: 'ended', ending }));
	}
	await connect();
	await limits.noteLate(Promise.resolve({ kind: 'ended', ending }));
	await expect(connect()).rejects.toThrow('The service rejected 100 sessions within a minute');
});
