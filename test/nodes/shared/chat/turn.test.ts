import type { SendResult } from '../../../../nodes/shared/chat/connection';
import type { ClientFrame, OutgoingFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import type { JsonObject } from '../../../../nodes/shared/json';
import {
	ackFrame,
	type ChatHarness,
	closedSession,
	connected,
	eventFrame,
	type FakeSocket,
	freshToken,
	messageFrame,
	messageIdOf,
	messageSent,
	outgoing,
	settle,
} from './fakes';

const HI = messageFrame('hi');
const BYE = messageFrame('bye');
const WITH_KEY = messageFrame('hi', 'k-1');

const SERVER_BUSY = { state: 'busy', error: 'server_busy' };
const BUSY = ackFrame(SERVER_BUSY);

/** What happens to a frame in flight. */
type Step = (harness: ChatHarness) => unknown;

const acks =
	(payload: JsonObject): Step =>
	({ socket }) =>
		socket().receives(ackFrame(payload));
const passes =
	(seconds: number): Step =>
	async ({ clock }) =>
		await clock.advance(seconds * 1_000);
const breaks: Step = ({ socket }) => socket().breaks();
const closes: Step = async ({ connection }) => await connection.close();
const sessionCloses: Step = ({ socket }) => socket().receives(eventFrame('session_closed', 'e'));
const alwaysBusy: Step = ({ socket }) => {
	socket().onSend = () => socket().receives(BUSY);
	socket().receives(BUSY);
};
/** The socket breaks, and the next one opens after some seconds. */
const reconnects =
	(seconds: number): Step =>
	async ({ socket, clock, connect }) => {
		socket().breaks();
		await clock.advance(seconds * 1_000);
		await connect();
	};

const send = async (frame: ClientFrame, { clock, connection }: ChatHarness) =>
	await sendTurn({ connection, signal: connection.signal }, frame, {
		clock,
		random: () => 0.5,
		ackTimeoutMs: 120_000,
	});

const sentIn = ({ sockets }: ChatHarness) => sockets.flatMap(({ sent }) => sent);

const ack = (payload: JsonObject, isRepeat = false) => ({
	kind: 'ack',
	ack: { state: payload.state, payload },
	isRepeat,
});
const unknown = (hasKey: boolean) => ({ kind: 'unknown', hasKey });

const REPLY = { state: 'default', reply: 'once' };
const INACTIVE = { state: 'invalid', error: 'agent_inactive' };
const OOPS = { state: 'error', error: 'oops' };
const CLOSED = { kind: 'not_sent', ending: null };

describe('a message, the outcome, and how often it was sent', () => {
	it.each<[string, ClientFrame, Step[], object, number]>([
		['an ack with a reply', HI, [acks(REPLY)], ack(REPLY), 1],
		['an error with a key', WITH_KEY, [acks(OOPS), passes(60)], ack(OOPS), 1],
		['a lost connection', HI, [reconnects(1)], unknown(false), 1],
		['a lost connection with a key', WITH_KEY, [reconnects(1), acks(REPLY)], ack(REPLY, true), 2],
		[
			'three lost connections with a key',
			WITH_KEY,
			[reconnects(1), reconnects(2), breaks],
			unknown(true),
			3,
		],
		['no ack', HI, [passes(120)], unknown(false), 1],
		[
			'no ack, with a key',
			WITH_KEY,
			[passes(120), reconnects(1), acks(REPLY)],
			ack(REPLY, true),
			2,
		],
		// The first attempt may have been accepted.
		['lost, then rejected', WITH_KEY, [reconnects(1), acks(INACTIVE)], ack(INACTIVE, true), 2],
		[
			'lost, then busy',
			WITH_KEY,
			[reconnects(1), alwaysBusy, passes(120)],
			ack(SERVER_BUSY, true),
			7,
		],
		['busy 6 times', HI, [alwaysBusy, passes(120)], ack(SERVER_BUSY), 6],
		['stopped while it waits after busy', HI, [acks(SERVER_BUSY), settle, closes], CLOSED, 1],
		['stopped', HI, [closes], unknown(false), 1],
		['stopped, with a key', WITH_KEY, [closes], unknown(true), 1],
		[
			'a session that is closed before the ack',
			WITH_KEY,
			[sessionCloses, passes(120)],
			unknown(true),
			1,
		],
		['the last ack of a session', HI, [sessionCloses, passes(60), acks(REPLY)], ack(REPLY), 1],
	])('%s', async (_name, frame, steps, outcome, times) => {
		const harness = await connected();
		const whole = send(frame, harness);
		await settle();
		for (const step of steps) await step(harness);
		expect(await whole).toEqual(outcome);
		expect(sentIn(harness)).toHaveLength(times);
		expect(new Set(sentIn(harness)).size).toBe(1);
		await harness.connection.close();
	});
});

test('a session that turns out to be closed after the message was sent: its outcome is unknown', async () => {
	const harness = await connected({}, async (n) => {
		if (n > 1) throw closedSession();
		return await freshToken(n);
	});
	const whole = send(WITH_KEY, harness);
	await settle();
	harness.socket().ends(4401);
	await harness.clock.advance(2_000);
	expect(await whole).toEqual(unknown(true));
});

test('a session that is closed during a turn gets no further message, and ends after its ack', async () => {
	const harness = await connected();
	const whole = send(BYE, harness);
	await settle();
	await sessionCloses(harness);
	const next = send(HI, harness);
	harness.socket().receives(ackFrame(REPLY));
	expect(await whole).toEqual(ack(REPLY));
	await harness.clock.advance(4_000);
	expect(await next).toMatchObject({
		kind: 'not_sent',
		ending: { kind: 'session_closed' },
	});
	expect(harness.endings).toMatchObject([{ kind: 'session_closed' }]);
	expect(sentIn(harness)).toHaveLength(1);
});

describe('a late ack on the next socket', () => {
	const late: JsonObject = { state: 'default', reply: 'You said: hi' };
	const own: JsonObject = { state: 'default', reply: 'You said: bye' };

	/** Sends a first message whose socket breaks before its ack, and a second one on the next socket. */
	async function afterLostAck(second: ClientFrame) {
		const harness = await connected();
		const lost = send(HI, harness);
		await settle();
		await reconnects(1)(harness);
		expect(await lost).toMatchObject({ kind: 'unknown' });
		const outcome = send(second, harness);
		await settle();
		return { ...harness, ids: sentIn(harness).map(messageIdOf), outcome };
	}

	it("isn't assigned to the next message if it has the ID of the earlier one", async () => {
		const { ids, outcome, socket } = await afterLostAck(BYE);
		socket().receives(ackFrame({ ...late, message_id: ids[0] ?? '' }));
		await settle();
		socket().receives(ackFrame({ ...own, message_id: ids[1] ?? '' }));
		expect(await outcome).toMatchObject({ kind: 'ack', ack: { payload: own } });
	});

	it("isn't assigned to the next message if it has no ID", async () => {
		const { ids, outcome, socket } = await afterLostAck(BYE);
		socket().receives(ackFrame(late));
		await settle();
		socket().receives(ackFrame({ ...own, message_id: ids[1] ?? '' }));
		expect(await outcome).toMatchObject({ kind: 'ack', ack: { payload: own } });
	});
});

describe('sendWithAck', () => {
	const sendFrame = (harness: ChatHarness, frame: OutgoingFrame): Promise<SendResult> =>
		harness.connection.sendWithAck(frame, 5_000, harness.connection.signal);

	it("closes the socket if the ack doesn't arrive, and assigns no late ack to another frame", async () => {
		const harness = await connected();
		const { sockets, socket, clock, connect } = harness;
		const silent = socket();
		silent.deaf = true;
		const [one, two] = [outgoing('one'), outgoing('two')];
		const [first, second] = [sendFrame(harness, one), sendFrame(harness, two)];
		const lateAck = ackFrame({ state: 'default', reply: 'late', message_id: one.messageId });
		await clock.advance(4_999);
		expect(silent.closeCalls).toEqual([]);
		await clock.advance(1);
		expect(await first).toEqual({ kind: 'unknown' });
		silent.receives(lateAck);
		await clock.advance(3_000);
		expect(sockets).toHaveLength(2);
		await connect();
		expect(socket().sent).toEqual(['two']);
		silent.receives(lateAck);
		socket().receives(ackFrame({ state: 'default', reply: 'own', message_id: two.messageId }));
		expect(await second).toMatchObject({ ack: { payload: { reply: 'own' } } });
	});

	const fails = () => {
		throw new Error('broken');
	};
	it.each<[string, (socket: FakeSocket) => unknown]>([
		['is closing and never ends', (socket) => (socket.readyState = 2)],
		['accepts no frame', (socket) => (socket.onSend = fails)],
		[
			'is closing and ends',
			(socket) => {
				socket.readyState = 2;
				setImmediate(() => socket.ends(1006));
			},
		],
	])('uses the next socket if this one %s', async (_name, breakSocket) => {
		const harness = await connected();
		const { socket, clock, connect, sockets } = harness;
		breakSocket(socket());
		const result = sendFrame(harness, outgoing('one'));
		await clock.advance(3_000);
		await connect();
		expect([sockets.length, socket().sent]).toEqual([2, ['one']]);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
	});
});
