import { ChatEventsListener } from '../../../nodes/ChatEventsTrigger/listener';
import { makeWorkflow, nodeTypes, triggerContext } from '../../engine';
import { eventually } from '../chatHarness';
import { eventsOf, hurry, sessions, triggerHarness } from './triggerHarness';
import { watchAddress, WATCHING } from './watchHarness';

const harness = triggerHarness();
const { post, watch, stored, database, storing } = watchAddress(harness);

test('a watched session is followed at once, and kept', async () => {
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

test('an unwatched session is left, a fixed one is not', async () => {
	await harness.start({ ...WATCHING, sessionIds: sessions.dormant });
	await watch(sessions.open);
	const unwatch = { action: 'unwatch', session_ids: [sessions.open, sessions.dormant] };
	expect(await post(unwatch)).toEqual({
		statusCode: 200,
		body: { watched: false, connected: false, watched_sessions: [] },
	});
	await harness.connected(1);
	expect(harness.service().sessions.openSockets(sessions.dormant)).toBe(1);
	expect(stored()).toEqual([]);
});

test('watched sessions are followed again after a restart', async () => {
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
	const { sessionId: further } = control.create();
	await watch(further);
	expect(stored()).toEqual([sessions.open, sessions.dormant, further]);
});

test('requests that come together lose none of the sessions', async () => {
	await harness.start(WATCHING);
	const { sessions: control } = harness.service();
	const many = Array.from({ length: 20 }, () => control.create().sessionId);
	await Promise.all(many.map(async (id) => await watch(id)));
	expect(new Set(stored())).toEqual(new Set(many));
	await harness.connected(20);
	expect(many.map((id) => control.openSockets(id))).toEqual(many.map(() => 1));
});

test('a session taken up while the trigger is published again is asked for once more, not lost', async () => {
	const active = await harness.start(WATCHING);
	const { open } = sessions;
	const watching = watch(open);
	await eventually(() => harness.service().sessions.openSockets(open) === 1);
	await active.stop();
	await harness.start(WATCHING, 'init', database());
	expect(await watching).toEqual({
		statusCode: 503,
		body: {
			message: 'The Chat Events Trigger was stopped or published again meanwhile',
			resolution: 'Send the request again in a moment: nothing of it was kept.',
		},
	});
	expect(await watch(open)).toMatchObject({ statusCode: 200, body: { watched_sessions: [open] } });
	expect(harness.service().sessions.openSockets(open)).toBe(1);
	expect(stored()).toEqual([open]);
});

test('a session that was watched before stays when it is asked for again during an outage', async () => {
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
	hurry(2_000);
	faults.clear();
	await harness.connected(1);
	control.nudge(open);
	await eventually(() => active.emitted.length === 1);
});

test('a session is one session in upper and in lower case', async () => {
	const active = await harness.start({ ...WATCHING, sessionIds: sessions.dormant });
	await watch(sessions.open);
	const upper = [sessions.open, sessions.dormant].map((id) => id.toUpperCase());
	expect(await watch(...upper)).toMatchObject({ statusCode: 200, body: { connected: true } });
	expect(harness.service().sessions.openSockets()).toBe(2);
	expect(stored()).toEqual([sessions.open, sessions.dormant]);
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => active.emitted.length > 0);
	await post({ action: 'unwatch', session_ids: upper });
	await harness.connected(1);
	expect([stored(), active.emitted.length]).toEqual([[], 1]);
});

test('a closed session leaves the list by itself', async () => {
	const active = await harness.start(WATCHING);
	await watch(sessions.open);
	harness.service().sessions.close(sessions.open);
	await eventually(() => eventsOf(active).includes('session_closed'));
	await harness.connected(0);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.dormant]);
	expect([...active.errors, ...active.failed]).toEqual([]);
});

test('of a stored list that somebody has edited, what is a session is followed', async () => {
	const edited = storing([7, null, sessions.open]);
	const active = await harness.start(WATCHING, 'init', edited);
	await harness.connected(1);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.open, sessions.dormant]);
	await active.stop();
	expect(active.failed).toEqual([]);
});

test('a stored session that is gone is reported once and does not stop the trigger', async () => {
	const gone = storing([sessions.unknown]);
	const active = await harness.start(WATCHING, 'init', gone);
	await eventually(() => active.failed.length === 1);
	expect(active.errors).toEqual([]);
	await watch(sessions.open);
	expect(stored()).toEqual([sessions.open]);
});

test('a request reaches the trigger of its own address, whatever others are active', async () => {
	const first = await harness.start(WATCHING);
	const other = await harness.start(WATCHING, 'activate', {}, { id: 'other' });
	await watch(sessions.open);
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => first.emitted.length === 1);
	expect(other.emitted).toEqual([]);
	await other.stop();
	expect(await watch(sessions.dormant)).toMatchObject({ statusCode: 200 });
});

test('nor that of a copy of its workflow, whose nodes have the same IDs', async () => {
	const active = await harness.start(WATCHING);
	const node = await harness.node(WATCHING);
	const copied = makeWorkflow([node]);
	copied.id = 'a-copy';
	const type = nodeTypes.getByNameAndVersion(node.type);
	const other = await type.trigger?.call(triggerContext(harness.credentials, copied, node));
	await watch(sessions.open);
	harness.service().sessions.nudge(sessions.open);
	await eventually(() => active.emitted.length === 1);
	await other?.closeFunction?.();
	expect(await watch(sessions.dormant)).toMatchObject({ statusCode: 200 });
});

test('a trigger whose successor is active already does not take its place from it', async () => {
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

test('one that is left while it is taken up does not come back', async () => {
	await harness.start(WATCHING);
	const service = harness.service();
	service.configure({ latencyMs: 300 });
	const watching = watch(sessions.open);
	await eventually(() => service.stats().maxActive === 1);
	const left = await post({ action: 'unwatch', session_ids: [sessions.open] });
	expect(left).toMatchObject({ statusCode: 200, body: { watched_sessions: [] } });
	await watching;
	service.configure({ latencyMs: 0 });
	expect(stored()).toEqual([]);
	await harness.connected(0);
});

test('a trigger that does not watch takes no sessions', async () => {
	await harness.start({ sessionIds: sessions.dormant });
	expect(await watch(sessions.open)).toMatchObject({ statusCode: 503 });
	expect(harness.service().sessions.openSockets(sessions.open)).toBe(0);
});

test('whoever asks for what cannot be followed is told, and not the owner as well', async () => {
	const active = await harness.start(WATCHING);
	expect((await watch(sessions.unknown)).statusCode).toBe(422);
	await active.stop();
	expect(active.failed).toEqual([]);
});

test('a watched session that is lost for good is told to the owner and leaves the list', async () => {
	const active = await harness.start(WATCHING);
	await watch(sessions.open);
	harness.service().sessions.closeSockets(1003, sessions.open);
	await eventually(() => active.failed.length === 1);
	expect(active.failed[0]?.message).toContain(sessions.open);
	await watch(sessions.dormant);
	expect(stored()).toEqual([sessions.dormant]);
});

test('a defect of ours is not told as a rejection', async () => {
	await harness.start(WATCHING);
	jest.spyOn(ChatEventsListener.prototype, 'watch').mockRejectedValue(new TypeError('a defect'));
	await expect(watch(sessions.open)).rejects.toThrow('a defect');
});

describe('rejected', () => {
	const rejections: Array<[string, unknown, number, string]> = [
		['no action', { session_ids: [sessions.open] }, 400, 'The request does not say what to do'],
		['no session', { action: 'watch' }, 400, 'The request names no session'],
		['a word', { action: 'watch', session_id: 'x' }, 400, '"x" is not a session ID'],
		['a list that is none', { action: 'watch', session_ids: { a: 1 } }, 400, 'names no session'],
		[
			'a closed session',
			{ action: 'watch', session_id: sessions.closed },
			422,
			'session is closed',
		],
	];
	test.each(rejections)('%s', async (_case, body, status, message) => {
		await harness.start(WATCHING);
		const answer = await post(body);
		expect(answer.statusCode).toBe(status);
		expect(answer.body).toEqual({
			message: expect.stringContaining(message),
			resolution: expect.any(String),
		});
		expect(stored()).toEqual([]);
	});

	test('one of two: the other is followed and kept', async () => {
		await harness.start(WATCHING);
		expect((await watch(sessions.closed, sessions.open)).statusCode).toBe(422);
		expect(stored()).toEqual([sessions.open]);
	});

	test.each([[{}], [{ 'x-watch-secret': 'wrong' }]])(
		'a secret that is not right: %j',
		async (headers) => {
			await harness.start(WATCHING);
			const parameters = { ...WATCHING, watchSecret: 'right' };
			const answer = await post(
				{ action: 'watch', session_id: sessions.open },
				{ parameters, headers },
			);
			expect(answer).toEqual({
				statusCode: 403,
				body: {
					message: 'The Chat Events Trigger does not accept the secret',
					resolution:
						'Enter the same Secret in Chat Session → Watch as in the Chat Events Trigger.',
				},
			});
			expect(harness.service().sessions.openSockets()).toBe(0);
			const right = { parameters, headers: { 'x-watch-secret': 'right' } };
			expect((await post({ action: 'watch', session_id: sessions.open }, right)).statusCode).toBe(
				200,
			);
		},
	);

	test('in a process without the trigger, and in the editor’s test', async () => {
		expect(await watch(sessions.open)).toMatchObject({
			statusCode: 503,
			body: {
				message: expect.stringContaining('another process of n8n'),
				resolution: expect.stringMatching(
					/^Try again in a moment\. .* served by the main process\.$/,
				),
			},
		});
		const body = { action: 'watch', session_id: sessions.open };
		expect(await post(body, { mode: 'manual' })).toMatchObject({
			statusCode: 409,
			body: {
				message: expect.stringContaining('only while its workflow is published'),
				resolution: expect.stringMatching(/^Use the production URL of the trigger\./),
			},
		});
	});
});

test.each([
	[true, 'POST'],
	[false, ''],
])('the node has an address only when it watches: %s', async (watchSessions, method) => {
	const node = await harness.node(
		{ watchSessions, sessionIds: sessions.open },
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
