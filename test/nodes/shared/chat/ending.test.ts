import { eventFrame, freshToken, chatConnectionHarness, settle, outgoing } from './fakes';

describe('the end of a session', () => {
	it('delivers trailing events, then ends without another connection', async () => {
		const { connection, sockets, socket, clock, events, endings, connect } =
			chatConnectionHarness();
		connection.start();
		await connect();
		socket().receives(eventFrame('session_closed', 'e1'));
		await clock.advance(1_000);
		socket().receives(eventFrame('message_received', 'e2'));
		await clock.advance(999);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2']);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		await clock.advance(60_000);
		expect(sockets).toHaveLength(1);
	});

	it.each([1000, 1006, 1008, 4401, 4999])(
		'is recognized if the service then closes the socket with %d',
		async (code) => {
			const { connection, sockets, socket, clock, endings, connect } = chatConnectionHarness();
			connection.start();
			await connect();
			socket().receives(eventFrame('session_closed', 'e1'));
			socket().ends(code);
			await clock.advance(60_000);
			expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
			expect(sockets).toHaveLength(1);
		},
	);
});

describe('close', () => {
	it('closes the socket, leaves no timer, and makes no callback', async () => {
		const { connection, sockets, socket, clock, events, endings, connect } =
			chatConnectionHarness();
		connection.start();
		await connect();
		const closing = connection.close();
		socket().receives(eventFrame('nudge_sent', 'late'));
		await closing;
		expect(socket().closeCalls).toEqual([1000]);
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
		await clock.advance(600_000);
		expect(sockets).toHaveLength(1);
		expect([events, endings]).toEqual([[], []]);
		expect(await connection.ready()).toEqual({ kind: 'closed_by_us' });
	});

	it("waits at most 2 seconds for a service that doesn't respond", async () => {
		const { connection, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().deaf = true;
		let closed = false;
		void connection.close().then(() => {
			closed = true;
		});
		await clock.advance(1_999);
		expect(closed).toBe(false);
		await clock.advance(1);
		expect(closed).toBe(true);
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
	});

	it('ignores frames of a socket that is slow to close', async () => {
		const { connection, socket, clock, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().deaf = true;
		const closing = connection.close();
		socket().receives(eventFrame('nudge_sent', 'late'));
		await clock.advance(2_000);
		await closing;
		expect(events).toEqual([]);
	});

	it('makes no callback after a missing ack', async () => {
		const { connection, socket, clock, endings, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().deaf = true;
		const result = connection.sendWithAck(outgoing('frame'), 1_000);
		await clock.advance(1_000);
		expect((await result).kind).toBe('no_ack');
		const closing = connection.close();
		await clock.advance(2_000);
		await closing;
		expect(endings).toEqual([]);
		expect(await connection.ready()).toEqual({ kind: 'closed_by_us' });
	});

	it('resolves pending ready() calls', async () => {
		const { connection } = chatConnectionHarness();
		const waiting = connection.start().ready();
		await settle();
		await connection.close();
		expect(await waiting).toEqual({ kind: 'closed_by_us' });
	});

	it.each([
		['while waiting for the next attempt', true],
		['while connecting', false],
	])('%s', async (_name, broken) => {
		const { connection, sockets, socket, clock, endings } = chatConnectionHarness();
		connection.start();
		await settle();
		if (broken) socket().breaks();
		await settle();
		await connection.close();
		await clock.advance(600_000);
		expect(sockets).toHaveLength(1);
		expect(clock.pending).toBe(0);
		expect(endings).toEqual([]);
	});

	it('while a token is requested: no socket is opened when it arrives', async () => {
		let issueToken: () => void = () => undefined;
		const { connection, sockets, clock } = chatConnectionHarness({}, async (n, time) => {
			await new Promise<void>((resolve) => {
				issueToken = resolve;
			});
			return await freshToken(n, time);
		});
		const ready = connection.start().ready();
		await settle();
		await connection.close();
		expect(await ready).toEqual({ kind: 'closed_by_us' });
		issueToken();
		await settle();
		expect(sockets).toHaveLength(0);
		expect(clock.pending).toBe(0);
	});

	it('works twice, before the start, and after the end', async () => {
		const { connection, sockets } = chatConnectionHarness();
		await connection.close();
		await connection.close();
		connection.start();
		await settle();
		expect(sockets).toHaveLength(0);

		const ended = chatConnectionHarness();
		ended.connection.start();
		await ended.connect();
		ended.socket().ends(1003);
		await settle();
		await ended.connection.close();
		expect(await ended.connection.ready()).toMatchObject({ kind: 'ended' });
		expect(ended.endings).toHaveLength(1);
	});
});
