import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { untilIdle } from '../../n8n/until';
import { mcpTool, passTime, records, runNode, speedUp, stoppedResult } from '../../engine';
import { chatHarness, eventually, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSession', {
	operation: 'waitForEvent',
	sessionId: sessions.open,
	timeLimit: 10,
});
const control = () => harness.simulator().sessions;
const nudge = (event_id: string, more: object = {}) =>
	harness.receives({ type: 'nudge_sent', event_id, ...more });

/** The time limit passes, after what the service has sent is read. */
async function timeIsUp() {
	await clock.sleep(1_000);
	passTime(10_000);
}

describe('the event', () => {
	test.each<[INodeParameters, string]>([
		[{}, 'nudge_sent'],
		[{ developerSettings: { otherEventTypes: 'typing_started' } }, 'nudge_sent'],
		[
			{
				eventTypes: ['mode_changed'],
				developerSettings: { otherEventTypes: 'typing_started' },
			},
			'typing_started',
		],
	])('%j: the first one of these types, or of any', async (parameters, type) => {
		const waiting = harness.run(parameters);
		await harness.settled();
		nudge('e-1');
		harness.receives({ type: 'typing_started' });
		expect(records(await waiting)).toMatchObject([{ event: { type } }]);
	});

	test('is returned once in a loop, even if the session ID has another case', async () => {
		const items = [{ id: sessions.open }, { id: sessions.open.toUpperCase() }];
		const parameters = { sessionId: '={{ $json.id }}', developerSettings: { concurrency: 2 } };
		const waiting = harness.run(parameters, { items });
		await harness.settled();
		nudge('e-1');
		await timeIsUp();
		expect(records(await waiting)).toMatchObject([
			{ event: { event_id: 'e-1' } },
			{ timed_out: true, event: null },
		]);
	});

	test('is the next one if a model waits again', async () => {
		const parameters = { operation: 'waitForEvent', sessionId: sessions.open };
		const tool = mcpTool(await harness.other('chatSession', parameters), 'client-that-waits');
		for (const event_id of ['e-1', 'e-2']) {
			const waiting = tool({});
			await harness.settled();
			nudge(event_id);
			expect(await waiting).toMatchObject({
				...{ outcome: 'done', what_happened: 'An event arrived.' },
				result: { event: { event_id } },
			});
			await harness.connected(0);
		}
	});

	test('is another one for each of two waits of a model that wait for different events at the same time', async () => {
		const eventTypes = "={{ $fromAI('types', ``, 'string') }}";
		const parameters = { operation: 'waitForEvent', sessionId: sessions.open, eventTypes };
		const tool = mcpTool(await harness.other('chatSession', parameters), 'client-that-waits-twice');
		const waits = ['nudge_sent', 'mode_changed'].map(async (types) => await tool({ types }));
		await harness.settled();
		nudge('e-1');
		harness.receives({ type: 'mode_changed', event_id: 'e-2' });
		expect(await Promise.all(waits)).toMatchObject([
			{ result: { event: { event_id: 'e-1' } } },
			{ result: { event: { event_id: 'e-2' } } },
		]);
	});
});

describe('an event since the chat node before', () => {
	test.each(['without', 'with'])('ends one wait, %s a trigger of the session', async (trigger) => {
		if (trigger === 'with') await harness.publish();
		const first = harness.run();
		await harness.settled();
		speedUp(0);
		nudge('e-1');
		await first;
		nudge('e-2');
		harness.receives({ type: 'mode_changed', event_id: 'e-3' });
		const [event] = records(await harness.run({ eventTypes: ['mode_changed'] }));
		expect(event).toMatchObject({ event: { event_id: 'e-3' }, seen: [{ event_id: 'e-2' }] });
		const third = harness.run();
		speedUp(50);
		await harness.settled();
		nudge('e-4');
		expect(records(await third)).toMatchObject([{ event: { event_id: 'e-4' }, seen: [] }]);
	});

	test.each(['before', 'after'])(
		'ends the next wait, also in a burst of events that begins %s the wait before',
		async (when) => {
			const burst = () => ['e-1', 'e-2', 'e-3'].forEach((id) => nudge(id));
			await harness.publish();
			await harness.settled();
			if (when === 'before') {
				await harness.run({ timeLimit: 1 });
				speedUp(0);
				burst();
				await untilIdle();
			}
			const first = harness.run();
			await untilIdle();
			if (when === 'after') {
				speedUp(0);
				burst();
			}
			const waits = [await first, await harness.run(), await harness.run()];
			expect(waits.flatMap((run) => records(run))).toMatchObject(
				['e-1', 'e-2', 'e-3'].map((event_id) => ({ event: { event_id }, seen: [] })),
			);
		},
	);

	test('counts for half a second from the end of that node', async () => {
		await harness.publish();
		const first = harness.run();
		await harness.settled();
		speedUp(0);
		nudge('e-1');
		await first;
		passTime(100);
		nudge('e-2');
		await harness.run();
		passTime(300);
		nudge('e-3');
		await untilIdle();
		passTime(150);
		expect(records(await harness.run())).toMatchObject([{ event: { event_id: 'e-3' } }]);
		passTime(500);
		nudge('e-4');
		await untilIdle();
		speedUp(50);
		const last = harness.run();
		await harness.settled();
		nudge('e-5');
		expect(records(await last)).toMatchObject([{ event: { event_id: 'e-5' }, seen: [] }]);
	});
});

describe('Chat Send', () => {
	const MESSAGES = { eventTypes: ['message_received'] };
	const send = async (message: string) => {
		const parameters = { operation: 'sendMessage', sendBy: 'socket', sessionId: sessions.open };
		const node = await harness.other('chatSend', { ...parameters, message });
		return await runNode(node, [{ json: {} }]);
	};
	const shown = (role: string, content: string) => ({ payload: { role, content } });
	const said = (event_id: string, role: string, content: string) =>
		harness.receives({ type: 'message_received', event_id, ...shown(role, content) });
	beforeEach(async () => {
		await harness.publish();
		await harness.settled();
		speedUp(0);
	});

	test.each(['before', 'after'])(
		'directly before the wait: its message and reply are seen, with the ack %s the events',
		async (order) => {
			const text = order === 'before' ? 'Hello' : 'please never ack';
			const reply = `You said: ${text}`;
			const sending = send(text);
			if (order === 'after') {
				await eventually(() => control().get(sessions.open).messages.length === 2);
				harness.acks({ state: 'default', reply });
			}
			await sending;
			await untilIdle();
			const waiting = harness.run(MESSAGES);
			// The customer says the same again.
			await untilIdle();
			said('e-1', 'user', text);
			const seen = [shown('user', text), shown('ai', reply)];
			expect(records(await waiting)).toMatchObject([{ event: { event_id: 'e-1' }, seen }]);
		},
	);

	test.each([
		[4, 'it', 'e-2'],
		[6, 'another message', 'e-1'],
	])(
		'before the wait: %s seconds later, an event with its reply is about %s',
		async (seconds, _what, event_id) => {
			const sending = send('please never ack');
			await eventually(() => control().get(sessions.open).messages.length === 2);
			harness.acks({ state: 'default', reply: 'Your order is ready' });
			await sending;
			const waiting = harness.run(MESSAGES);
			await untilIdle();
			passTime(seconds * 1_000);
			said('e-1', 'ai', 'Your order is ready');
			said('e-2', 'ai', 'Your order is ready');
			expect(records(await waiting)).toMatchObject([{ event: { event_id } }]);
		},
	);

	test('before the wait, twice: the replies come as events a few seconds later, and do not end it', async () => {
		for (const text of ['please never ack 1', 'please never ack 2']) {
			const { messages } = control().get(sessions.open);
			const expected = messages.length + 2;
			const sending = send(text);
			await eventually(() => control().get(sessions.open).messages.length === expected);
			harness.acks({ state: 'default', reply: `Yes, ${text}` });
			await sending;
		}
		// As after another node in between.
		passTime(2_000);
		const waiting = harness.run(MESSAGES);
		await untilIdle();
		for (const number of [1, 2]) said(`e-${number}`, 'ai', `Yes, please never ack ${number}`);
		said('e-3', 'ai', 'Your order is ready');
		expect(records(await waiting)).toMatchObject([
			{ event: { event_id: 'e-3' }, seen: [{ event_id: 'e-1' }, { event_id: 'e-2' }] },
		]);
	});

	test('directly before the wait: the wait ends with a reply that comes later', async () => {
		await send('please merge');
		const [output] = records(await harness.run(MESSAGES));
		expect(output).toMatchObject({ event: { payload: { role: 'ai' } }, seen: [{}] });
	});

	test('during the wait, as in another workflow: its message ends the wait', async () => {
		const waiting = harness.run(MESSAGES);
		await untilIdle();
		await send('Hello');
		expect(records(await waiting)).toMatchObject([{ event: shown('user', 'Hello'), seen: [] }]);
	});
});

test('the latest 20 other events are returned, and each of the latest 5,000 once', async () => {
	const waiting = harness.run({ eventTypes: ['mode_changed'] });
	await harness.settled();
	for (let id = 0; id <= 5_000; id++) nudge(`e-${id}`);
	for (const repeated of ['e-1', 'e-0']) nudge(repeated);
	harness.receives({ type: 'mode_changed' });
	const ids = [...Array.from({ length: 19 }, (_, index) => `e-${4_982 + index}`), 'e-0'];
	expect(records(await waiting)).toMatchObject([{ seen: ids.map((event_id) => ({ event_id })) }]);
});

describe('an event on a new socket', () => {
	const startedAt = Date.parse('2023-11-14T22:13:20.700Z');
	const states = {
		connecting: async () => {
			speedUp(0);
			await harness.connected();
		},
		connected: async () => await harness.settled(),
		reconnecting: async () => {
			await harness.settled();
			speedUp(0);
			control().cutSockets();
			await eventually(() => {
				passTime(100);
				return harness.sockets().length === 2;
			});
		},
	};

	test.each<[keyof typeof states, string | number | undefined, boolean]>([
		// Before the wait.
		['connecting', '2023-11-14T22:13:19Z', false],
		['connecting', startedAt - 1, false],
		['connecting', Math.floor(startedAt / 1_000), false],
		// In the second of the start, so it may be before it.
		['connecting', '2023-11-14T22:13:20Z', false],
		// After the start.
		['connecting', '2023-11-14T22:13:21Z', true],
		['connecting', '2023-11-15T03:43:21+05:30', true],
		['connecting', Math.ceil(startedAt / 1_000), true],
		// Unknown times prove no replay.
		['connecting', '2023-11-14T22:13:19', true],
		['connecting', 'now', true],
		['connecting', undefined, true],
		// The clock of the service may be wrong.
		['connected', '2023-11-14T22:13:19Z', true],
		// Only what is certainly from before the wait is a replay.
		['reconnecting', '2023-11-14T22:13:19Z', false],
		['reconnecting', '2023-11-14T22:13:20Z', true],
		['reconnecting', undefined, true],
	])('%s, with the time %p: new is %s, otherwise a replay', async (when, ts, isNew) => {
		jest.spyOn(clock, 'now').mockReturnValue(startedAt);
		const waiting = harness.run();
		await states[when]();
		nudge('e-1', { ts });
		nudge('without a time');
		const replayed = { event: { event_id: 'without a time' }, seen: [{ event_id: 'e-1' }] };
		expect(records(await waiting)).toMatchObject([
			isNew ? { event: { event_id: 'e-1' }, seen: [] } : replayed,
		]);
	});

	test('is a replay if it arrived before the wait, whatever its time', async () => {
		const trigger = await harness.publish();
		await harness.settled();
		nudge('e-1', { ts: '2099-01-01T00:00:00Z' });
		await eventually(() => trigger.emitted.length === 1);
		const waiting = harness.run();
		await harness.settled();
		for (const id of ['e-1', 'e-2']) nudge(id, { ts: '2099-01-01T00:00:00Z' });
		expect(records(await waiting)).toMatchObject([
			{ event: { event_id: 'e-2' }, seen: [{ event_id: 'e-1' }] },
		]);
	});
});

describe('a session that is closed', () => {
	test.each([
		['nudge_sent', { session_closed: true, event: null, seen: [{}, { event_id: 'e-2' }] }],
		['turn_result', { session_closed: false, event: { event_id: 'e-2' } }],
	])('ends the wait two seconds later, unless it gets its event: %s', async (type, result) => {
		const waiting = harness.run({ eventTypes: ['turn_result'] });
		await harness.settled();
		speedUp(0);
		harness.receives({ type: 'session_closed', event_id: 'e-1' });
		harness.receives({ type, event_id: 'e-2' });
		speedUp(50);
		expect(records(await waiting)).toMatchObject([{ timed_out: false, ...result }]);
	});

	test.each(['during', 'before'])(
		'ends the wait also while a message waits for its acknowledgement, if it was closed %s it',
		async (when) => {
			const message = {
				operation: 'sendMessage',
				sessionId: sessions.open,
				sendBy: 'socket',
				message: 'please never ack',
			};
			const sending = runNode(await harness.other('chatSend', message), [{ json: {} }]);
			await eventually(() => harness.simulator().sessions.frames().length === 1);
			const close = () => harness.receives({ type: 'session_closed', event_id: 'e-1' });
			if (when === 'before') close();
			const waiting = harness.run({ eventTypes: ['mode_changed'], timeLimit: 60 });
			await harness.settled();
			speedUp(0);
			if (when === 'during') close();
			await untilIdle();
			passTime(2_000);
			expect(records(await waiting)).toMatchObject([{ timed_out: false, session_closed: true }]);
			passTime(120_000);
			await sending;
		},
	);

	test('shortly before the time limit, is closed and not timed out', async () => {
		const waiting = harness.run({ eventTypes: ['turn_result'] });
		await harness.settled();
		speedUp(0);
		passTime(8_000);
		harness.receives({ type: 'session_closed', event_id: 'e-1' });
		await untilIdle();
		passTime(1_000);
		expect(records(await waiting)).toMatchObject([
			{ timed_out: false, session_closed: true, event: null, seen: [{ event_id: 'e-1' }] },
		]);
	});

	test('before the wait ends it', async () => {
		expect(records(await harness.run({ sessionId: sessions.closed }))).toMatchObject([
			{ timed_out: false, session_closed: true, event: null },
		]);
	});

	test('is what a model reads', async () => {
		const parameters = { operation: 'waitForEvent', sessionId: sessions.closed };
		const tool = mcpTool(await harness.other('chatSession', parameters), 'client-of-a-closed-chat');
		expect(await tool({})).toMatchObject({
			outcome: 'done',
			what_happened: 'The chat session is closed. No such event arrived.',
		});
	});
});

describe('no event', () => {
	test.each([
		['while the session is connected', () => {}, undefined],
		[
			'and the connection is down at the end',
			() => {
				harness.simulator().faults.respond(/ws_token/, 503);
				control().closeSockets(4401);
			},
			'The live connection was down when the wait ended, so an event may be missing.',
		],
	])('%s', async (_case, prepare, notRead) => {
		const waiting = harness.run();
		await harness.settled();
		prepare();
		await timeIsUp();
		const [output] = records(await waiting);
		expect(output).toMatchObject({ timed_out: true, event: null });
		expect(output?.not_read).toBe(notRead);
	});

	test('because the session was never connected', async () => {
		harness.simulator().faults.inject({ kind: 'hang', match: { path: /ws_token/ } });
		const waiting = harness.run({ sessionId: sessions.dormant });
		await eventually(() => harness.tokens() > 0);
		await timeIsUp();
		expect(stopMessage(await waiting)).toEqual({
			message:
				"The chat session wasn't connected within the time limit, so no event could be received",
			description: expect.stringMatching(/^Check that the service is available/),
		});
	});

	test('because the wait was stopped', async () => {
		const { execution } = await harness.start();
		await harness.settled();
		execution.cancel();
		expect((await stoppedResult(execution)).error?.message).toBe('The execution was canceled');
	});

	test('if the wait of a later item fails, the message names those that have ended', async () => {
		const items = [{ id: sessions.open }, { id: randomUUID() }];
		const waiting = harness.run({ sessionId: '={{ $json.id }}' }, { items });
		await harness.settled();
		nudge('e-1');
		expect(stopMessage(await waiting).description).toContain('Completed in this run: row 1.');
	});
});

test.each([
	[0, 'must be more than 0 and at most 86400 (got 0)'],
	[86_401, 'must be more than 0 and at most 86400 (got 86401)'],
	['={{ "soon" }}', 'must be a number (got "soon")'],
])('the time limit %j is rejected before anything is sent', async (timeLimit, message) => {
	expect(stopMessage(await harness.run({ timeLimit })).message).toBe(
		`'Time Limit (Seconds)' ${message}`,
	);
	expect(harness.simulator().requests).toEqual([]);
});
