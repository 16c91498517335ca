import { z } from 'zod';
import { type ClientFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn, type TurnOutcome } from '../../../../nodes/shared/chat/turn';
import { turnFault } from '../../../../nodes/ChatSend/turnFault';
import type { JsonObject } from '../../../../nodes/shared/json';
import {
	ackFrame,
	type FakeSocket,
	fakeSockets,
	FakeClock,
	freshToken,
	hideApiToken,
	chatConnectionHarness,
	settle,
	messageFrame,
} from './fakes';
import { SharedConnections } from '../../../../nodes/shared/chat/sharedConnections';

const sentFrame = z.object({ message_id: z.string(), content: z.string() });

/** The frames that were sent on a socket. */
const framesOf = (socket: FakeSocket | undefined) =>
	(socket?.sent ?? []).map((text) => sentFrame.parse(JSON.parse(text)));

/** Sends a first message whose socket breaks before its ack, and a second one on the next socket. */
async function afterLostAck(first: ClientFrame, second: ClientFrame) {
	const use = chatConnectionHarness();
	const { connection, clock, connect, socket, sockets } = use;
	connection.start();
	await connect();
	const options = { clock, random: () => 0.5, ackTimeoutMs: 30_000 };
	const lost = sendTurn(connection, first, options);
	await settle();
	socket().breaks();
	await clock.advance(1_000);
	await connect();
	let outcome: TurnOutcome | null = null;
	void sendTurn(connection, second, options).then((ended) => (outcome = ended));
	await settle();
	const [lostFrame] = framesOf(sockets[0]);
	const [frame] = framesOf(socket()).slice(-1);
	if (lostFrame === undefined || frame === undefined) throw new Error('a frame was not sent');
	const acks = (id: string | number | undefined, payload: JsonObject) => {
		socket().receives(ackFrame({ ...payload, ...(id !== undefined && { message_id: id }) }));
	};
	return { ...use, lost, lostFrame, frame, acks, outcome: () => outcome };
}

const HI = messageFrame('hi');
const BYE = messageFrame('bye');
const late: JsonObject = { state: 'default', reply: 'You said: hi' };
const own: JsonObject = { state: 'default', reply: 'You said: bye' };

describe('a late ack on the next socket', () => {
	it("isn't assigned to the next message if it echoes another ID", async () => {
		const { acks, lostFrame, frame, outcome, clock } = await afterLostAck(HI, BYE);
		acks(lostFrame.message_id, late);
		await clock.advance(20_000);
		expect(outcome()).toBeNull();
		acks(frame.message_id, own);
		await settle();
		expect(outcome()).toMatchObject({
			kind: 'ack',
			ack: { payload: { reply: 'You said: bye' } },
		});
	});

	it.each([
		['without an ID', undefined],
		['with an ID of the service', 'msg-1'],
	])("%s can't be matched, so the outcome is unknown at once", async (_name, id) => {
		const { acks, outcome, sockets } = await afterLostAck(HI, BYE);
		acks(id, late);
		await settle();
		const unknown: TurnOutcome = { kind: 'unknown', why: 'unmatched', hasKey: false };
		expect(outcome()).toEqual(unknown);
		expect(turnFault(unknown)?.message).toContain("it's unknown whether it confirmed this one");
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(2);
	});

	it("that can't be matched is no reason to send a message with a key again", async () => {
		const withKey = messageFrame('bye', { idempotencyKey: 'k' });
		const { acks, outcome, clock, sockets } = await afterLostAck(HI, withKey);
		acks(undefined, late);
		await clock.advance(30_000);
		expect(outcome()).toEqual({ kind: 'unknown', why: 'unmatched', hasKey: true });
		expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(2);
	});

	it.each(['busy', 'invalid'])(
		'with the state "%s" and without an ID, is neither retried nor reported',
		async (state) => {
			const { acks, outcome, clock, sockets } = await afterLostAck(HI, BYE);
			acks(undefined, { state, error: state === 'busy' ? 'server_busy' : 'bad_payload' });
			await clock.advance(30_000);
			expect(outcome()).toMatchObject({ kind: 'unknown', why: 'unmatched' });
			expect(sockets.flatMap(({ sent }) => sent)).toHaveLength(2);
		},
	);

	it("isn't expected after ten minutes, so an ack without an ID counts again", async () => {
		const { acks, frame, connection, clock, socket, connect } = await afterLostAck(HI, BYE);
		acks(frame.message_id, own);
		const send = async () => {
			if (!connection.isConnected) await connect();
			const outcome = sendTurn(connection, HI, { clock, random: () => 0.5 });
			await settle();
			socket().receives(ackFrame(late));
			return (await outcome).kind;
		};
		expect(await send()).toBe('unknown');
		for (let minutes = 0; minutes < 11; minutes += 1) {
			await clock.advance(60_000);
			if (!connection.isConnected) await connect();
		}
		expect(await send()).toBe('ack');
		await connection.close();
	});

	it("can't be matched if two messages have the same chosen ID", async () => {
		const ids = { messageId: 'always-the-same' };
		const first = messageFrame('hi', ids);
		const { acks, outcome } = await afterLostAck(first, messageFrame('bye', ids));
		acks('always-the-same', late);
		await settle();
		expect(outcome()).toMatchObject({ kind: 'unknown', why: 'unmatched' });
	});

	it('of another n8n process is recognized by its ID', async () => {
		const { acks, frame, outcome } = await afterLostAck(HI, BYE);
		acks('n8n-of-another-process', late);
		await settle();
		expect(outcome()).toBeNull();
		acks(frame.message_id, own);
		await settle();
		expect(outcome()).toMatchObject({
			kind: 'ack',
			ack: { payload: { reply: 'You said: bye' } },
		});
	});

	it('counts if the same message was sent again with its key', async () => {
		const withKey = messageFrame('hi', { idempotencyKey: 'k' });
		const { connection, clock, connect, socket, sockets } = chatConnectionHarness();
		connection.start();
		await connect();
		const whole = sendTurn(connection, withKey, { clock, random: () => 0.5 });
		await settle();
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		expect(sockets[1]?.sent).toEqual(sockets[0]?.sent);
		socket().receives(ackFrame(late));
		expect(await whole).toMatchObject({
			kind: 'ack',
			ack: { payload: { reply: 'You said: hi' } },
		});
	});
});

it('a late ack is expected on the next connection of the session, too', async () => {
	const clock = new FakeClock();
	const { openSocket, connect, socket } = fakeSockets(clock);
	const shared = new SharedConnections({ openSocket, clock, random: () => 0.5 });
	const lease = () =>
		shared.lease({
			sessionId: 's-1',
			baseUrl: 'https://api.example.com',
			account: 'a',
			instanceId: 'i',
			usedBy: 'action',
			disconnectOther: false,
			mintToken: async () => await freshToken(1, clock),
			hideApiToken,
			log: { debug: () => {}, info: () => {}, warn: () => {} },
		});
	const options = { clock, random: () => 0.5, ackTimeoutMs: 30_000 };
	const first = lease();
	const lost = sendTurn(first, HI, options);
	await connect();
	const [lostFrame] = framesOf(socket());
	socket().breaks();
	expect(await lost).toMatchObject({ kind: 'unknown' });
	first.close();
	await clock.advance(10_000);
	const second = lease();
	const whole = sendTurn(second, BYE, options);
	await connect();
	socket().receives(ackFrame({ ...late, message_id: lostFrame?.message_id ?? '' }));
	await settle();
	socket().receives(ackFrame(own));
	expect(await whole).toMatchObject({ kind: 'unknown', why: 'unmatched' });
	second.close();
	await clock.advance(10_000);
});
