import { sendTurn } from '../../../../nodes/shared/chat/turn';
import {
	chatConnectionHarness,
	type ConnectionChanges,
	eventFrame,
	type FakeClock,
	freshToken,
	messageSent,
	outgoing,
	settle,
	tokenFor,
	messageFrame,
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
		[0, 210_000],
		[0.5, 225_000],
		[1, 240_000],
	])('is renewed after 3.5 to 4 minutes (random %d: %d ms)', async (random, ms) => {
		const { connection, sockets, clock } = await connected({ random: () => random });
		await clock.advance(ms - 601);
		expect(sockets).toHaveLength(1);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it.each([
		['a short lifetime counts', 60, 42_000],
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
		const { connection, sockets, socket, clock, mints, connect, failures } = await connected({
			disconnectOther: true,
		});
		const [old] = sockets;
		await clock.advance(231_000);
		expect([mints(), sockets.length, old?.closeCalls]).toEqual([2, 2, [1000]]);
		expect(Object.fromEntries(socket().query)).toEqual({
			shard: '4',
			token: 'secret-2',
			client_id: 'client-1',
		});
		expect(connection.isConnected).toBe(false);
		await connect();
		expect(connection.isConnected).toBe(true);
		expect(failures).toEqual([]);
		await connection.close();
	});

	it('opens the next socket only when the old one has ended, after 2 seconds at the latest', async () => {
		const { connection, sockets, socket, clock } = await connected();
		socket().deaf = true;
		await clock.advance(225_000);
		expect(socket().closeCalls).toEqual([1000]);
		expect(sockets).toHaveLength(1);
		await clock.advance(2_000);
		expect(sockets).toHaveLength(2);
		await connection.close();
	});

	it('delivers what the service replays, and nothing twice', async () => {
		const { connection, socket, clock, connect, events } = await connected();
		for (const id of ['e1', 'e2']) socket().receives(eventFrame('nudge_sent', id));
		await clock.advance(231_000);
		await connect();
		for (const id of ['e1', 'e2', 'e3']) socket().receives(eventFrame('nudge_sent', id));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
		await connection.close();
	});

	it('waits until the frame in flight has its ack, before the next frame', async () => {
		const { connection, sockets, socket, clock, connect } = await connected();
		await clock.advance(150_000);
		const result = connection.sendWithAck(outgoing('slow'), 120_000);
		await clock.advance(110_000);
		const next = connection.sendWithAck(outgoing('next'), 120_000);
		await settle();
		expect([sockets.length, socket().closeCalls]).toEqual([1, []]);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await connect();
		expect(sockets.map(({ sent }) => sent)).toEqual([['slow'], ['next']]);
		socket().receives(messageSent);
		expect((await next).kind).toBe('ack');
		await connection.close();
	});

	it('stays open if no token is issued, logs it, and tries again after 30 seconds', async () => {
		const { connection, sockets, clock, logged } = await connected({}, async (n, time) =>
			n === 2 ? { kind: 'rejected', error: new Error('no') } : await freshToken(n, time),
		);
		await clock.advance(226_000);
		expect(logged.at(-1)).toEqual([
			"The token of a chat session couldn't be renewed yet",
			{ sessionId: 's-1', originalMessage: 'no' },
		]);
		expect(connection.isConnected).toBe(true);
		await clock.advance(30_000);
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
		await clock.advance(228_000);
		expect(sockets).toHaveLength(2);
		await connect();
		socket().receives(eventFrame('nudge_sent', 'missed'));
		expect(events).toHaveLength(1);
		await connection.close();
	});
});

describe('a reconnect', () => {
	it('reuses the token', async () => {
		const { connection, socket, clock, mints } = await connected();
		await clock.advance(200_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect([mints(), socket().query.get('token')]).toEqual([1, 'secret-1']);
		await connection.close();
	});

	it('mints another one once the renewal is due', async () => {
		const { connection, sockets, socket, clock } = await connected({}, onlyOneToken);
		await clock.advance(226_000);
		socket().ends(1011);
		await clock.advance(1_000);
		expect([sockets.length, connection.lastFailure?.kind]).toEqual([1, 'unreachable']);
		await connection.close();
	});
});

it('a frame has an unknown outcome if the service closes the socket with its token', async () => {
	const { connection, clock, socket } = await connected({}, onlyOneToken);
	await clock.advance(290_000);
	const outcome = sendTurn(connection, messageFrame('hi'), { clock, random: () => 0.5 });
	await settle();
	socket().ends(4401);
	expect(await outcome).toEqual({ kind: 'unknown', why: 'lost', hasKey: false });
	await connection.close();
});

it('closes the socket if it is closed during a renewal', async () => {
	const { connection, sockets, socket, clock } = await connected();
	await clock.advance(231_000);
	await connection.close();
	expect(socket().closeCalls).toEqual([1000]);
	await clock.advance(60_000);
	expect([sockets.length, clock.pending]).toEqual([2, 0]);
});
