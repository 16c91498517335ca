import { messageFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import {
	ackFrame,
	chatConnectionHarness,
	type ConnectionChanges,
	eventFrame,
	type FakeClock,
	freshToken,
	messageSent,
	outgoing,
	settle,
	tokenFor,
} from './fakes';

/** A connected session. */
async function connected(
	options: ConnectionChanges = {},
	mint?: Parameters<typeof chatConnectionHarness>[1],
) {
	const use = chatConnectionHarness(options, mint);
	use.connection.start();
	await use.connect();
	return use;
}

/** Every token request from the second one on fails. */
const onlyOneToken = async (n: number, clock: FakeClock) =>
	n === 1 ? await freshToken(n, clock) : { kind: 'unreachable' as const, error: new Error('down') };

describe('before the token expires, the connection', () => {
	it.each([
		[0, 240_000],
		[0.5, 255_000],
		[1, 270_000],
	])('is renewed after 4 to 4.5 minutes (random %d: %d ms)', async (random, ms) => {
		const { connection, sockets, clock } = await connected({ random: () => random });
		await clock.advance(ms - 601);
		expect(sockets).toHaveLength(1);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it.each([
		['a short lifetime counts', 60, 48_000],
		['a lifetime of 1 second may mean that the clock here is ahead', 1, 30_000],
	])('%s', async (_name, seconds, ms) => {
		const { connection, sockets, clock } = await connected({ random: () => 0 }, tokenFor(seconds));
		await clock.advance(ms - 1_601);
		expect(sockets).toHaveLength(1);
		await clock.advance(2_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('mints a token, closes the socket, and opens the next one at once, with the same client_id and without a claim', async () => {
		const { connection, sockets, socket, clock, mints, connect, losses } = await connected({
			disconnectOther: true,
		});
		const [old] = sockets;
		await clock.advance(256_000);
		expect([mints(), sockets.length, old?.closeCalls]).toEqual([2, 2, [1000]]);
		expect(Object.fromEntries(socket().query)).toEqual({
			shard: '4',
			token: 'secret-2',
			client_id: 'client-1',
		});
		expect(connection.isConnected).toBe(false);
		await connect();
		expect(connection.isConnected).toBe(true);
		expect(losses).toEqual([]);
		await connection.close();
	});

	it('opens the next socket only when the old one has ended, after 2 seconds at the latest', async () => {
		const { connection, sockets, socket, clock } = await connected();
		socket().deaf = true;
		await clock.advance(255_000);
		expect(socket().closeCalls).toEqual([1000]);
		expect(sockets).toHaveLength(1);
		await clock.advance(2_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('delivers what the service replays, and nothing twice', async () => {
		const { connection, socket, clock, connect, events } = await connected();
		for (const id of ['e1', 'e2']) socket().receives(eventFrame('nudge_sent', id));
		await clock.advance(256_000);
		await connect();
		for (const id of ['e1', 'e2', 'e3']) socket().receives(eventFrame('nudge_sent', id));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
		await connection.close();
	});

	it('waits until the frame in flight has its ack', async () => {
		const { connection, sockets, socket, clock } = await connected();
		await clock.advance(150_000);
		const result = connection.sendWithAck(outgoing('slow'), 120_000);
		await clock.advance(110_000);
		expect([sockets.length, socket().closeCalls]).toEqual([1, []]);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('lasts for hours', async () => {
		const { connection, sockets, socket, clock, mints, losses } = await connected();
		for (let seconds = 0; seconds < 7_200; seconds += 1) {
			await clock.advance(1_000);
			if (socket().readyState === 0) socket().opens();
		}
		expect(mints()).toBe(sockets.length);
		expect(sockets.length).toBeGreaterThan(23);
		expect([connection.isConnected, losses]).toEqual([true, []]);
		await connection.close();
	});

	it('stays open if no token is issued, logs it, and tries again after 30 seconds', async () => {
		const { connection, sockets, clock, logged } = await connected({}, async (n, time) =>
			n === 2 ? { kind: 'rejected', error: new Error('no') } : await freshToken(n, time),
		);
		await clock.advance(260_000);
		expect(logged.at(-1)).toEqual([
			"The token of a chat session couldn't be renewed yet",
			{ sessionId: 's-1', originalMessage: 'no' },
		]);
		expect(connection.isConnected).toBe(true);
		await clock.advance(26_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('ends if the token request shows that the session is closed', async () => {
		const { clock, endings } = await connected({}, async (n, time) =>
			n === 2 ? { kind: 'session_closed', error: new Error('x') } : await freshToken(n, time),
		);
		await clock.advance(260_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
	});

	it('finds a connection that broke without notice', async () => {
		const { connection, sockets, socket, clock, connect, events } = await connected();
		socket().deaf = true;
		await clock.advance(258_000);
		expect(sockets).toHaveLength(2);
		await connect();
		socket().receives(eventFrame('nudge_sent', 'missed'));
		expect(events).toHaveLength(1);
		await connection.close();
	});
});

describe('a reconnect', () => {
	it('reuses a token that outlasts an ack', async () => {
		const { connection, socket, clock, mints } = await connected();
		await clock.advance(90_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect([mints(), socket().query.get('token')]).toEqual([1, 'secret-1']);
		await connection.close();
	});

	it('mints another one otherwise', async () => {
		const { connection, socket, clock, mints } = await connected();
		await clock.advance(110_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect([mints(), socket().query.get('token')]).toEqual([2, 'secret-2']);
		await connection.close();
	});
});

describe('a frame whose ack may take longer than the token is valid', () => {
	it('is sent on the next socket', async () => {
		const { connection, sockets, socket, clock, connect } = await connected();
		await clock.advance(200_000);
		const result = connection.sendWithAck(outgoing('frame'), 120_000);
		await settle();
		expect(sockets.map(({ sent }) => sent.length)).toEqual([0, 0]);
		await connect();
		expect(socket().sent).toEqual(['frame']);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await connection.close();
	});

	it('is sent on the old socket if no token is issued', async () => {
		const { connection, sockets, socket, clock } = await connected({}, onlyOneToken);
		await clock.advance(200_000);
		const result = connection.sendWithAck(outgoing('frame'), 120_000);
		await settle();
		expect(socket().sent).toEqual(['frame']);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		expect(sockets).toHaveLength(1);
		await connection.close();
	});

	it('has an unknown outcome if the service then closes the socket with its token', async () => {
		const { connection, clock, socket } = await connected({}, onlyOneToken);
		await clock.advance(200_000);
		const outcome = sendTurn(connection, messageFrame('hi'), { clock, random: () => 0.5 });
		await settle();
		socket().ends(4401);
		expect(await outcome).toEqual({ kind: 'unknown', why: 'lost', hasKey: false });
		await connection.close();
	});

	it("isn't sent if the session turns out to be closed", async () => {
		const { connection, clock, sockets } = await connected({}, async (n, time) =>
			n === 1 ? await freshToken(n, time) : { kind: 'session_closed', error: null },
		);
		await clock.advance(200_000);
		expect(await connection.sendWithAck(outgoing('frame'), 120_000)).toMatchObject({
			kind: 'not_sent',
			readiness: { kind: 'ended', ending: { kind: 'session_closed' } },
		});
		expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
		await connection.close();
	});

	it("isn't sent after the sender stopped waiting during the token request", async () => {
		let issue: () => void = () => undefined;
		const { connection, clock, sockets, socket, connect } = await connected({}, async (n, time) => {
			if (n > 1) await new Promise<void>((resolve) => (issue = resolve));
			return await freshToken(n, time);
		});
		await clock.advance(200_000);
		const sender = new AbortController();
		const result = connection.sendWithAck(outgoing('frame'), 120_000, sender.signal);
		await settle();
		sender.abort();
		expect(await result).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
		issue();
		await clock.advance(1_000);
		expect(sockets.flatMap(({ sent }) => sent)).toEqual([]);
		const next = connection.sendWithAck(outgoing('next'), 120_000);
		await connect();
		expect(sockets.map(({ sent }) => sent)).toEqual([[], ['next']]);
		socket().receives(ackFrame({ state: 'default' }));
		expect((await next).kind).toBe('ack');
		await connection.close();
	});

	it("doesn't renew again and again if tokens are short-lived", async () => {
		const { connection, sockets, socket, clock, mints } = await connected({}, tokenFor(60));
		await clock.advance(5_000);
		for (const text of ['a', 'b', 'c']) {
			const result = connection.sendWithAck(outgoing(text), 120_000);
			await settle();
			socket().receives(messageSent);
			await result;
		}
		expect([mints(), sockets.length]).toEqual([1, 1]);
		await connection.close();
	});
});

it('closes the socket if it is closed during a renewal', async () => {
	const { connection, sockets, socket, clock } = await connected();
	await clock.advance(256_000);
	await connection.close();
	expect(socket().closeCalls).toEqual([1000]);
	await clock.advance(60_000);
	expect([sockets.length, clock.pending]).toEqual([2, 0]);
});
