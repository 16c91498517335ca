import { randomUUID } from 'node:crypto';
import { ChatEventsListener } from '../../../nodes/ChatEventsTrigger/listener';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { makeWorkflow, nodeTypes, speedUp, triggerContext } from '../../engine';
import { untilIdle } from '../../n8n/until';
import { eventually } from '../chatHarness';
import { neverLate, sessions, triggerHarness } from './triggerHarness';
import { watchUrl, WATCHING } from './watchHarness';

const harness = triggerHarness();
const { post, watch, stored, writes, database, storing } = watchUrl(harness);

const madeUp = (count: number) => Array.from({ length: count }, () => randomUUID());
const tokenRequests = () =>
	harness.service().requests.filter(({ path }) => path.endsWith('/ws_token')).length;

test('a watched session is connected immediately, and stored', async () => {
	const active = await harness.start(WATCHING);
	expect(harness.service().sessions.openSockets()).toBe(0);
	expect(await watch(sessions.open)).toEqual({
		statusCode: 200,
		body: { watched: true, connected: true, watched_sessions: [sessions.open] },
	});
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => active.emitted.length === 1);
	expect(stored()).toEqual([sessions.open]);
	await watch(sessions.open);
	expect(harness.service().sessions.openSockets()).toBe(1);
});

test("an unwatched session is closed, but another one isn't", async () => {
	await harness.start(WATCHING);
	await watch(sessions.open, sessions.dormant);
	const unwatch = { action: 'unwatch', session_ids: [sessions.open] };
	expect(await post(unwatch)).toEqual({
		statusCode: 200,
		body: { watched: false, connected: false, watched_sessions: [] },
	});
	await harness.connected(1);
	expect(harness.service().sessions.openSockets(sessions.dormant)).toBe(1);
	expect(stored()).toEqual([sessions.dormant]);
});

test('watched sessions are connected again after a restart', async () => {
	const active = await harness.start(WATCHING);
	await watch(sessions.open, sessions.dormant);
	await active.stop();
	await harness.connected(0);
	await harness.start(WATCHING, 'init', database());
	await harness.connected(2);
	const { sessions: control } = harness.service();
	expect([control.openSockets(sessions.open), control.openSockets(sessions.dormant)]).toEqual([
		1, 1,
	]);
	const { sessionId: another } = control.create();
	await watch(another);
	expect(stored()).toEqual([sessions.open, sessions.dormant, another]);
});

test('concurrent requests lose no session', async () => {
	await harness.start(WATCHING);
	const { sessions: control } = harness.service();
	const many = Array.from({ length: 20 }, () => control.create().sessionId);
	await Promise.all(many.map(async (id) => await watch(id)));
	expect(new Set(stored())).toEqual(new Set(many));
	await harness.connected(20);
	expect(many.map((id) => control.openSockets(id))).toEqual(many.map(() => 1));
});

test("a session that is added while the trigger is published again must be requested again, and isn't lost", async () => {
	const active = await harness.start(WATCHING);
	const { open } = sessions;
	const watching = watch(open);
	await eventually(() => harness.service().sessions.openSockets(open) === 1);
	await active.stop();
	await harness.start(WATCHING, 'init', database());
	expect(await watching).toEqual({
		statusCode: 503,
		body: {
			message: 'The Chat Events Trigger was stopped or published again during the request',
			resolution: 'Nothing was saved. Send the request again in a moment.',
		},
	});
	expect(await watch(open)).toMatchObject({ statusCode: 200, body: { watched_sessions: [open] } });
	expect(harness.service().sessions.openSockets(open)).toBe(1);
	expect(stored()).toEqual([open]);
});

test("a watched session stays if it's requested again during an outage", async () => {
	const active = await harness.start(WATCHING);
	const { sessions: control, faults, requests } = harness.service();
	const { open, dormant } = sessions;
	await watch(open);
	faults.inject({ kind: 'status', status: 401, match: { path: /ws_token/ } });
	control.closeSockets(4401);
	await eventually(() => requests.some(({ outcome }) => outcome.status === 401));
	expect(await watch(open)).toEqual({
		statusCode: 200,
		body: { watched: true, connected: false, watched_sessions: [open] },
	});
	expect((await watch(open, dormant)).statusCode).toBe(422);
	expect(stored()).toEqual([open]);
	speedUp(2_000);
	faults.clear();
	await harness.connected(1);
	control.nudge(open);
	await eventually(() => active.emitted.length === 1);
});

test('upper and lower case are the same session', async () => {
	const active = await harness.start(WATCHING);
	await watch(sessions.open, sessions.dormant);
	const upper = [sessions.open, sessions.dormant].map((id) => id.toUpperCase());
	expect(await watch(...upper)).toMatchObject({ statusCode: 200, body: { connected: true } });
	expect(harness.service().sessions.openSockets()).toBe(2);
	expect(stored()).toEqual([sessions.open, sessions.dormant]);
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => active.emitted.length > 0);
	await post({ action: 'unwatch', session_ids: upper });
	await harness.connected(0);
	expect([stored(), active.emitted.length]).toEqual([[], 1]);
});

test.each([
	[
		'a closed session is removed from the list',
		0,
		() => harness.service().sessions.close(sessions.open),
	],
	[
		'a session with a final failure is reported and removed from the list',
		1,
		() => harness.service().sessions.closeSockets(1003, sessions.open),
	],
])('%s', async (_what, failures, end) => {
	const active = await harness.start(WATCHING);
	await watch(sessions.open);
	end();
	await harness.connected(0);
	await eventually(() => active.failed.length === failures);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.dormant]);
	expect(active.failed.map(({ message }) => message.includes(sessions.open))).toEqual(
		Array(failures).fill(true),
	);
});

test('follows the valid sessions of an edited stored list', async () => {
	const edited = storing([7, null, sessions.open]);
	const active = await harness.start(WATCHING, 'init', edited);
	await harness.connected(1);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.open, sessions.dormant]);
	await active.stop();
	expect(active.failed).toEqual([]);
});

test("an unknown stored session is reported once, and doesn't stop the trigger", async () => {
	const gone = storing([sessions.unknown]);
	const active = await harness.start(WATCHING, 'init', gone);
	await eventually(() => active.failed.length === 1);
	expect(active.errors).toEqual([]);
	await watch(sessions.open);
	expect(stored()).toEqual([sessions.open]);
});

test('a request reaches the trigger of its URL, even if others are active', async () => {
	const first = await harness.start(WATCHING);
	const other = await harness.start(WATCHING, 'activate', {}, { id: 'other' });
	await watch(sessions.open);
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => first.emitted.length === 1);
	expect(other.emitted).toEqual([]);
	await other.stop();
	expect(await watch(sessions.dormant)).toMatchObject({ statusCode: 200 });
});

test("closing a trigger doesn't deactivate its successor", async () => {
	const node = await harness.node(WATCHING);
	const workflow = makeWorkflow([node]);
	workflow.id = 'workflow-of-trigger';
	const type = nodeTypes.getByNameAndVersion(node.type);
	const opened = async () =>
		await type.trigger?.call(triggerContext(harness.credentials, workflow, node));
	const [former, successor] = [await opened(), await opened()];
	await former?.closeFunction?.();
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 200 });
	await successor?.closeFunction?.();
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 503 });
});

test("a session that is unwatched while it connects isn't added", async () => {
	await harness.start(WATCHING);
	const service = harness.service();
	const release = service.holdResponses();
	const watching = watch(sessions.open);
	await eventually(() => service.stats().maxActive === 1);
	const response = await post({ action: 'unwatch', session_ids: [sessions.open] });
	expect(response).toMatchObject({ statusCode: 200, body: { watched_sessions: [] } });
	release();
	expect((await watching).body).toEqual({ watched: false, connected: false, watched_sessions: [] });
	expect(stored()).toEqual([]);
	await harness.connected(0);
});

test('a trigger with listed sessions rejects sessions', async () => {
	await harness.start({ sessionIds: sessions.dormant });
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 503 });
	expect(harness.service().sessions.openSockets(sessions.open)).toBe(0);
});

test("a session that can't be connected is reported in the response only", async () => {
	const active = await harness.start(WATCHING);
	expect((await watch(sessions.unknown)).statusCode).toBe(422);
	await active.stop();
	expect(active.failed).toEqual([]);
});

test("an internal error isn't reported as a rejection", async () => {
	await harness.start(WATCHING);
	jest.spyOn(ChatEventsListener.prototype, 'watch').mockRejectedValue(new TypeError('a bug'));
	await expect(watch(sessions.open)).rejects.toThrow('a bug');
});

describe('rejected', () => {
	const rejections: Array<[string, unknown, number, string]> = [
		[
			'no action',
			{ session_ids: [sessions.open] },
			400,
			'"action" in the request must be "watch" or "unwatch"',
		],
		['no session', { action: 'watch' }, 400, '"session_ids" in the request is empty'],
		['an invalid ID', { action: 'watch', session_id: 'x' }, 400, 'must list session IDs (got "x")'],
		[
			"a list that isn't one",
			{ action: 'watch', session_ids: { a: 1 } },
			400,
			'"session_ids" in the request is empty',
		],
		[
			'a closed session',
			{ action: 'watch', session_id: sessions.closed },
			422,
			'session is closed',
		],
	];
	test.each(rejections)('%s', async (_case, body, status, message) => {
		await harness.start(WATCHING);
		const response = await post(body);
		expect(response.statusCode).toBe(status);
		expect(response.body).toEqual({
			message: expect.stringContaining(message),
			resolution: expect.any(String),
		});
		expect(stored()).toEqual([]);
	});

	test.each([[{}], [{ 'x-watch-secret': 'wrong' }]])('a wrong secret: %j', async (headers) => {
		await harness.start(WATCHING);
		const response = await post({ action: 'watch', session_id: sessions.open }, { headers });
		expect(response).toEqual({
			statusCode: 403,
			body: {
				message: 'The Chat Events Trigger rejected the secret',
				resolution:
					"Enter the text of 'Secret' in the Chat Events Trigger as 'Trigger Secret' of Chat Session > Watch.",
			},
		});
		expect(harness.service().sessions.openSockets()).toBe(0);
		expect((await watch(sessions.open)).statusCode).toBe(200);
	});

	test('in a process without the trigger, and in a test in the editor', async () => {
		expect(await watch(sessions.open)).toMatchObject({
			statusCode: 503,
			body: {
				message: "The Chat Events Trigger isn't active in this n8n process",
				resolution: expect.stringMatching(
					/^Try again in a moment\. If this package was updated, publish .* again\. .* the main process must serve the URL of this trigger\.$/,
				),
			},
		});
		const body = { action: 'watch', session_id: sessions.open };
		expect(await post(body, { mode: 'manual' })).toMatchObject({
			statusCode: 409,
			body: {
				message: expect.stringContaining('only while its workflow is published'),
				resolution: expect.stringMatching(/^Use the Production URL of the trigger\./),
			},
		});
	});
});

test.each([
	['watched', 'POST'],
	['listed', ''],
])('the node has a URL only for watched sessions: %s', async (which, method) => {
	const node = await harness.node(
		{ sessions: which, sessionIds: sessions.open },
		{ webhookId: 'abc' },
	);
	const workflow = makeWorkflow([node]);
	const { description, webhookMethods } = nodeTypes.getByNameAndVersion(node.type);
	const httpMethod = description.webhooks?.[0]?.httpMethod;
	expect(workflow.expression.getSimpleParameterValue(node, httpMethod, 'internal', {})).toBe(
		method,
	);
	expect(Object.keys(webhookMethods?.default ?? {})).toEqual(['checkExists', 'create', 'delete']);
});

test.each(['', 'watch', '{"action":', 'null', '["watch"]', '{"__proto__":{"action":"watch"}}'])(
	'the body %j is rejected',
	async (text) => {
		await harness.start(WATCHING);
		expect(await post(undefined, { rawBody: Buffer.from(text) })).toEqual({
			statusCode: 400,
			body: {
				message: '"action" in the request must be "watch" or "unwatch"',
				resolution: expect.any(String),
			},
		});
		expect(writes()).toBe(0);
	},
);

test('a request with more than 100 sessions is rejected completely', async () => {
	await harness.start(WATCHING);
	for (const action of ['watch', 'unwatch']) {
		expect(await post({ action, session_ids: madeUp(1_000) })).toEqual({
			statusCode: 400,
			body: {
				message: 'A request can contain at most 100 sessions (got 1,000)',
				resolution: 'Send the sessions in several requests.',
			},
		});
	}
	expect([tokenRequests(), writes()]).toEqual([0, 0]);
});

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

test('a trigger watches at most 1,000 sessions', async () => {
	const { faults, sessions: control } = harness.service();
	// While the service is unreachable, made-up sessions can't be recognized.
	faults.inject({ kind: 'status', status: 503, match: { path: /ws_token/ } });
	speedUp(1_000);
	const active = await harness.start(WATCHING, 'init', storing(madeUp(1_200)));
	expect(await watch(sessions.open)).toEqual({
		statusCode: 400,
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
