import { sendTurn } from '../../../../nodes/shared/chat/turn';
import { turnFault } from '../../../../nodes/ChatSend/turnFault';
import type { OutgoingFrame } from '../../../../nodes/shared/chat/acks';
import { ackFrame, chatConnectionHarness, freshToken, settle, messageFrame } from './fakes';
import { happens, WITH_KEY, turn } from './turnHarness';

describe('a frame and its ack', () => {
	it('is sent exactly as documented', async () => {
		const { socket } = await turn(WITH_KEY);
		expect(socket().sent.map((text): unknown => JSON.parse(text))).toEqual([
			{ type: 'message', content: 'hi', message_id: 'm-1', idempotency_key: 'k-1' },
		]);
	});

	it('default: completed, with the reply and all other fields', async () => {
		const { socket, whole } = await turn(messageFrame('hi'));
		const payload = {
			state: 'default',
			reply: 'hello',
			mode: 'ai',
			help_requested: false,
			turn_id: 't',
			message_id: 'm',
		};
		socket().receives(ackFrame(payload));
		expect(await whole).toEqual({
			kind: 'ack',
			ack: { state: 'default', payload },
			missingBefore: null,
		});
	});

	it.each(['error', 'invalid', 'brand_new', 'merged', 'accepted'])(
		"%s: returned immediately, and isn't sent again",
		async (state) => {
			const { socket, whole, clock } = await turn(WITH_KEY);
			const payload = { state, error: 'reason', merged_into: 't-9', turn_id: 't-1' };
			socket().receives(ackFrame(payload));
			expect(await whole).toEqual({ kind: 'ack', ack: { state, payload }, missingBefore: null });
			await clock.advance(60_000);
			expect(socket().sent).toHaveLength(1);
		},
	);
});

it('unsubscribes after the turn', async () => {
	const { connection, socket, connect, clock } = chatConnectionHarness();
	connection.start();
	await connect();
	let subscribed = 0;
	const link = {
		signal: connection.signal,
		acquireSend: async () => await connection.acquireSend(),
		sendWithAck: async (frame: OutgoingFrame, ms: number) =>
			await connection.sendWithAck(frame, ms),
		subscribe: () => {
			subscribed += 1;
			return () => {
				subscribed -= 1;
			};
		},
	};
	const whole = sendTurn(link, messageFrame('hi'), { clock, random: () => 0.5 });
	await settle();
	expect(subscribed).toBe(1);
	socket().receives(ackFrame({ state: 'default' }));
	await whole;
	expect(subscribed).toBe(0);
});

it('an ack that is too large to read: the outcome is unknown', async () => {
	const { socket, whole, clock } = await turn(messageFrame('hi'));
	socket().receives(ackFrame({ state: 'default', reply: 'x'.repeat(9_000_000) }));
	await clock.advance(120_000);
	const outcome = await whole;
	expect(outcome).toEqual({ kind: 'unknown', why: 'too_large', hasKey: false });
	expect(turnFault(outcome)?.message).toContain('too large to read');
});

describe('a session that is closed during the turn', () => {
	it('stays connected until the ack, which contains the last reply', async () => {
		const { socket, whole, clock, endings } = await turn(messageFrame('bye'));
		happens(socket(), 'session_closed', {});
		await clock.advance(60_000);
		socket().receives(ackFrame({ state: 'default', reply: 'Goodbye' }));
		expect(await whole).toMatchObject({
			kind: 'ack',
			ack: { payload: { reply: 'Goodbye' } },
		});
		await clock.advance(2_000);
		expect(endings).toMatchObject([{ kind: 'session_closed' }]);
	});

	it.each([
		['without a key', messageFrame('bye'), false],
		['with a key', WITH_KEY, true],
	])("is named if the ack doesn't arrive, %s", async (_name, frame, hasKey) => {
		const { sockets, socket, whole, clock } = await turn(frame);
		happens(socket(), 'session_closed', {});
		await clock.advance(120_000);
		const outcome = await whole;
		expect(outcome).toEqual({ kind: 'unknown', why: 'session_closed', hasKey });
		const { message = '', resolution = '' } = turnFault(outcome) ?? {};
		expect(message).toContain('The session was closed');
		expect(resolution).not.toContain('again');
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(1);
	});

	it('is named if the service says so only when a new token is requested', async () => {
		const use = chatConnectionHarness({}, async (n, clock) =>
			n === 1 ? await freshToken(n, clock) : { kind: 'session_closed', error: null },
		);
		use.connection.start();
		await use.connect();
		const whole = sendTurn(use.connection, WITH_KEY, { clock: use.clock, random: () => 0.5 });
		await settle();
		use.socket().ends(4401);
		await use.clock.advance(2_000);
		expect(await whole).toEqual({ kind: 'unknown', why: 'session_closed', hasKey: true });
	});

	it('gets no further message', async () => {
		const { connection, socket, clock, whole } = await turn(messageFrame('bye'));
		happens(socket(), 'session_closed', {});
		const next = sendTurn(connection, messageFrame('hello?'), { clock, random: () => 0.5 });
		socket().receives(ackFrame({ state: 'default', reply: 'Goodbye' }));
		expect(await whole).toMatchObject({ kind: 'ack' });
		await clock.advance(4_000);
		expect(await next).toMatchObject({
			kind: 'not_sent',
			readiness: { kind: 'ended', ending: { kind: 'session_closed' } },
		});
		expect(socket().sent).toHaveLength(1);
	});
});

describe('busy', () => {
	const busy = ackFrame({ state: 'busy', error: 'server_busy' });

	it('is retried after 1, 2, 4 seconds and so on with the same frame', async () => {
		const { socket, whole, clock } = await turn(messageFrame('hi'));
		for (const seconds of [1, 2, 4]) {
			const before = socket().sent.length;
			socket().receives(busy);
			await clock.advance(seconds * 1_000 - 1);
			expect(socket().sent).toHaveLength(before);
			await clock.advance(1);
			expect(socket().sent).toHaveLength(before + 1);
		}
		socket().receives(ackFrame({ state: 'default', reply: 'at last' }));
		expect(await whole).toMatchObject({
			kind: 'ack',
			ack: { payload: { reply: 'at last' } },
		});
		expect(new Set(socket().sent).size).toBe(1);
	});

	it('is reported after 5 retries', async () => {
		const { socket, whole, clock } = await turn(messageFrame('hi'));
		socket().onSend = () => {
			socket().receives(busy);
		};
		socket().receives(busy);
		await clock.advance(120_000);
		expect(await whole).toMatchObject({ kind: 'ack', ack: { state: 'busy' }, missingBefore: null });
		expect(socket().sent).toHaveLength(6);
	});

	it('is reported as not sent if the connection is closed while it waits', async () => {
		const { socket, whole, connection } = await turn(messageFrame('hi'));
		socket().receives(busy);
		await settle();
		await connection.close();
		expect(await whole).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
	});

	it("doesn't hide that an earlier attempt may have been accepted", async () => {
		const { socket, whole, clock, connect } = await turn(WITH_KEY);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().onSend = () => {
			socket().receives(busy);
		};
		socket().receives(busy);
		await clock.advance(120_000);
		expect(await whole).toMatchObject({ ack: { state: 'busy' }, missingBefore: 'lost' });
	});
});

describe('no ack', () => {
	it.each([messageFrame('hi'), WITH_KEY])(
		'connection closed by this process: names that it was stopped: %j',
		async (frame) => {
			const { connection, socket, whole } = await turn(frame);
			await connection.close();
			const outcome = await whole;
			expect(outcome).toMatchObject({ kind: 'unknown', why: 'stopped' });
			expect(turnFault(outcome)?.message).toContain('the execution was stopped');
			expect(socket().sent).toHaveLength(1);
		},
	);

	it("without an idempotency key: unknown, and isn't sent again", async () => {
		const { sockets, whole, clock, connect } = await turn(messageFrame('hi', { messageId: 'm' }));
		await clock.advance(119_999);
		expect(sockets).toHaveLength(1);
		await clock.advance(1);
		expect(await whole).toEqual({ kind: 'unknown', why: 'no_ack', hasKey: false });
		await clock.advance(1_000);
		await connect();
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(1);
	});

	it("connection lost, without a key: unknown, and isn't sent again", async () => {
		const { sockets, socket, whole, clock, connect } = await turn(messageFrame('hi'));
		socket().breaks();
		expect(await whole).toEqual({ kind: 'unknown', why: 'lost', hasKey: false });
		await clock.advance(1_000);
		await connect();
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(1);
	});

	it('connection lost, with a key: sends the same frame again on the next connection', async () => {
		const { sockets, socket, whole, clock, connect } = await turn(WITH_KEY);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().receives(ackFrame({ state: 'default', reply: 'once' }));
		expect(await whole).toMatchObject({ kind: 'ack', ack: { payload: { reply: 'once' } } });
		const [first, second] = sockets.map(({ sent }) => sent);
		expect(second).toEqual(first);
	});

	it('with a key: sent 3 times in total, then the outcome is unknown', async () => {
		const { sockets, socket, whole, clock, connect } = await turn(WITH_KEY);
		for (const seconds of [1, 2]) {
			socket().breaks();
			await clock.advance(seconds * 1_000);
			await connect();
		}
		socket().breaks();
		expect(await whole).toEqual({ kind: 'unknown', why: 'lost', hasKey: true });
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(3);
	});

	it("a second attempt with another ack than an accepting one doesn't settle the first", async () => {
		const { socket, whole, clock, connect } = await turn(WITH_KEY);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().receives(ackFrame({ state: 'invalid', error: 'agent_inactive' }));
		const outcome = await whole;
		expect(outcome).toMatchObject({ kind: 'ack', missingBefore: 'lost' });
		expect(turnFault(outcome)?.outcome).toBe('unknown');
	});

	it("stays unknown if the session can't be connected again", async () => {
		const { socket, whole } = await turn(WITH_KEY);
		socket().ends(1003);
		expect(await whole).toEqual({ kind: 'unknown', why: 'lost', hasKey: true });
	});

	it("isn't sent if the session was never connected", async () => {
		const { connection, clock, socket } = chatConnectionHarness();
		connection.start();
		const whole = sendTurn(connection, WITH_KEY, { clock, random: () => 0.5 });
		await settle();
		socket().ends(1003);
		expect(await whole).toMatchObject({ kind: 'not_sent', readiness: { kind: 'ended' } });
	});

	it.each([
		['without a key: unknown', messageFrame('hi'), 1, { kind: 'unknown', why: 'no_ack' }],
		['with a key: sent again', WITH_KEY, 2, { kind: 'ack', ack: { payload: { reply: 'once' } } }],
	])('messages of the agent are no ack, %s', async (_name, frame, sent, outcome) => {
		const { sockets, socket, whole, clock, connect } = await turn(frame);
		happens(socket(), 'message_received', { id: 1, role: 'user', content: 'hi' });
		happens(socket(), 'message_received', { id: 2, role: 'ai', content: 'one moment' });
		await clock.advance(119_999);
		expect([socket().sent.length, socket().closeCalls]).toEqual([1, []]);
		await clock.advance(1_001);
		await connect();
		if (sent === 2) socket().receives(ackFrame({ state: 'accepted', reply: 'once' }));
		expect(await whole).toMatchObject(outcome);
		expect(sockets.flatMap((one) => one.sent)).toHaveLength(sent);
	});

	it('uses the given timeouts', async () => {
		const { connection, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const whole = sendTurn(connection, messageFrame('hi'), {
			clock,
			random: () => 0.5,
			ackTimeoutMs: 3_000,
		});
		await clock.advance(3_000);
		expect((await whole).kind).toBe('unknown');
	});
});
