import { randomUUID } from 'node:crypto';
import { setTimeout as realSleep } from 'node:timers/promises';
import { WatchLimits } from '../../../nodes/ChatEventsTrigger/watchLimits';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import { mockTime } from '../../engine';
import { until } from '../../n8n/until';
import { eventually } from '../chatHarness';
import { hurry, neverLate, sessions, triggerHarness } from './triggerHarness';
import { watchAddress, WATCHING } from './watchHarness';

const harness = triggerHarness();
const { post, watch, stored, writes, storing } = watchAddress(harness);

const madeUp = (count: number) => Array.from({ length: count }, () => randomUUID());
const tokensAskedFor = () =>
	harness.service().requests.filter(({ path }) => path.endsWith('/ws_token')).length;

/** How many requests got which status. */
async function statuses(requests: Array<Promise<{ statusCode: number }>>) {
	const counts: Record<number, number> = {};
	for (const { statusCode } of await Promise.all(requests)) {
		counts[statusCode] = (counts[statusCode] ?? 0) + 1;
	}
	return counts;
}

describe('a body that is no request', () => {
	const bodies: Array<[string, Buffer, number, string]> = [
		['none', Buffer.alloc(0), 400, 'The body is empty.'],
		['text', Buffer.from('watch'), 400, 'The body is not JSON.'],
		['half of one', Buffer.from('{"action":'), 400, 'The body is not JSON.'],
		['null', Buffer.from('null'), 400, 'The request does not say what to do'],
		['a list', Buffer.from('["watch"]'), 400, 'The request does not say what to do'],
		['a JSON text', Buffer.from('"{}"'), 400, 'The request does not say what to do'],
		[
			'an inherited action',
			Buffer.from('{"__proto__":{"action":"watch"}}'),
			400,
			'The request does not say what to do',
		],
		[
			'65,537 bytes',
			Buffer.from(JSON.stringify('x'.repeat(65_535))),
			413,
			'The body is larger than 65,536 bytes.',
		],
	];
	test.each(bodies)('%s', async (_what, rawBody, status, message) => {
		await harness.start(WATCHING);
		expect(await post(undefined, { rawBody })).toEqual({
			statusCode: status,
			body: { message, resolution: expect.any(String) },
		});
		expect(writes()).toBe(0);
	});
});

test.each([101, 1_000])('a request with %i made-up sessions is rejected whole', async (count) => {
	await harness.start(WATCHING);
	for (const action of ['watch', 'unwatch']) {
		expect(await post({ action, session_ids: madeUp(count) })).toEqual({
			statusCode: 400,
			body: {
				message: `A request can name at most 100 sessions (this one names ${count.toLocaleString('en-US')})`,
				resolution: 'Send the sessions in several requests.',
			},
		});
	}
	expect([tokensAskedFor(), writes()]).toEqual([0, 0]);
});

test('a long text in place of a session comes back short', async () => {
	await harness.start(WATCHING);
	const { statusCode, body } = await watch('x'.repeat(50_000));
	expect(statusCode).toBe(400);
	expect(JSON.stringify(body).length).toBeLessThan(400);
});

test('100 sessions connect 20 at a time, and all of them', async () => {
	neverLate();
	await harness.start(WATCHING);
	const service = harness.service();
	service.configure({ latencyMs: 20 });
	const ids = Array.from({ length: 100 }, () => service.sessions.create().sessionId);
	expect(await watch(...ids)).toMatchObject({ statusCode: 200, body: { connected: true } });
	service.configure({ latencyMs: 0 });
	expect(service.stats().maxActive).toBeLessThanOrEqual(20);
	expect(service.sessions.openSockets()).toBe(100);
	expect(stored()).toEqual(ids);
});

test('sessions that wait to connect after a restart can be left', async () => {
	const service = harness.service();
	service.configure({ latencyMs: 100 });
	const ids = Array.from({ length: 60 }, () => service.sessions.create().sessionId);
	const active = await harness.start(WATCHING, 'init', storing(ids));
	const last = ids.slice(-20);
	expect(await post({ action: 'unwatch', session_ids: last })).toMatchObject({ statusCode: 200 });
	service.configure({ latencyMs: 0 });
	await harness.connected(40);
	await realSleep(50);
	expect(last.map((id) => service.sessions.openSockets(id))).toEqual(last.map(() => 0));
	expect(active.failed).toEqual([]);
});

test('a flood of made-up sessions, one in each request, costs 200 requests a minute at most, and leaves nothing behind', async () => {
	let time = Date.now();
	mockTime(() => time);
	neverLate();
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
	expect(tokensAskedFor()).toBeLessThanOrEqual(200);
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

test('made-up sessions count as rejected, even if the service takes longer to reject them than a request lasts', async () => {
	hurry(1_000);
	await harness.start(WATCHING);
	harness.service().configure({ latencyMs: 300 });
	for (let wave = 0; wave < 4; wave++) await statuses(madeUp(25).map((id) => watch(id)));
	const allAsked = async () => await Promise.resolve(tokensAskedFor() >= 100);
	await until('the service to be asked for all', allAsked, { every: 20, timeout: 20_000 });
	let status = 0;
	for (let attempt = 0; attempt < 50 && status !== 429; attempt++) {
		await realSleep(20);
		status = (await watch(randomUUID())).statusCode;
	}
	harness.service().configure({ latencyMs: 0 });
	expect(status).toBe(429);
});

test('a flood does not touch what is watched already', async () => {
	neverLate();
	await harness.start(WATCHING);
	await watch(sessions.open);
	for (let wave = 0; wave < 3; wave++) await statuses(madeUp(50).map((id) => watch(id)));
	expect((await watch(randomUUID())).statusCode).toBe(429);
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 200, body: { connected: true } });
	expect(stored()).toEqual([sessions.open]);
});

test('of 200 requests at the same moment 50 are handled, and the others are asked to come again', async () => {
	neverLate();
	await harness.start(WATCHING);
	const service = harness.service();
	service.configure({ latencyMs: 100 });
	const ids = Array.from({ length: 200 }, () => service.sessions.create().sessionId);
	const answers = await Promise.all(ids.map(async (id) => await watch(id)));
	service.configure({ latencyMs: 0 });
	expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(50);
	const rejected = answers.filter(({ statusCode }) => statusCode === 503);
	expect(rejected).toHaveLength(150);
	expect(rejected[0]).toEqual({
		statusCode: 503,
		retryAfter: '2',
		body: {
			message:
				'The Chat Events Trigger connects at most 100 new sessions, of at most 50 requests, at the same time',
			resolution: 'Send the request again in a few seconds.',
		},
	});
	await harness.connected(50);
	expect(stored()).toHaveLength(50);
});

test('of three requests with 60 sessions each, all at the same moment, one is handled', async () => {
	neverLate();
	await harness.start(WATCHING);
	const requests = [1, 2, 3].map(async () => {
		const ids = Array.from({ length: 60 }, () => harness.service().sessions.create().sessionId);
		return await watch(...ids);
	});
	expect(await statuses(requests)).toEqual({ 200: 1, 503: 2 });
});

test('1,000 sessions are as many as a trigger watches', async () => {
	const { faults, sessions: control } = harness.service();
	// While the service cannot be reached, nobody knows which of them are made up.
	faults.inject({ kind: 'status', status: 503, match: { path: /ws_token/ } });
	hurry(1_000);
	const active = await harness.start(WATCHING, 'init', storing(madeUp(1_200)));
	expect(await watch(sessions.open)).toEqual({
		statusCode: 409,
		body: {
			message: 'The Chat Events Trigger can watch at most 1,000 sessions (it watches 1,000)',
			resolution:
				'Unwatch sessions that have ended, or use another Chat Events Trigger for more sessions.',
		},
	});
	faults.clear();
	// The service knows none of them: they leave by themselves, and their owner is told in a few words.
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

test('who asks for one session does not learn which others are watched', async () => {
	await harness.start(WATCHING);
	await watch(sessions.open);
	const asked = randomUUID();
	for (const action of ['watch', 'unwatch']) {
		const answer = await post({ action, session_ids: [asked] });
		expect(JSON.stringify(answer)).not.toContain(sessions.open);
	}
	expect(await post({ action: 'unwatch', session_ids: [asked] })).toMatchObject({
		statusCode: 200,
		body: { watched_sessions: [] },
	});
});

test('a session that is asked for over and over leaves nothing behind', async () => {
	neverLate();
	await harness.start(WATCHING);
	await watch(sessions.open);
	const before = tokensAskedFor();
	const listening = jest.spyOn(AbortSignal.prototype, 'addEventListener');
	for (let times = 0; times < 20; times++) await watch(sessions.open);
	const lasting = listening.mock.calls.filter(([, , options]) => typeof options === 'object');
	expect(tokensAskedFor()).toBe(before);
	// Those of the pauses are taken off again.
	expect(lasting.length).toBeLessThanOrEqual(20);
	expect(harness.service().sessions.openSockets()).toBe(1);
});

test('of the sessions that are late, only those that the service rejects count as rejected', async () => {
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
