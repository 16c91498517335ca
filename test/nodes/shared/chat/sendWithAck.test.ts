import { ackFrame, chatConnectionHarness, type FakeSocket, settle, outgoing } from './fakes';

/** The ack of a turn that completed inline. Echoes the ID of the frame, if given. */
const ackWith = (reply: string, frame?: { messageId: string }) =>
	ackFrame({ state: 'default', reply, ...(frame && { message_id: frame.messageId }) });

const fails = () => {
	throw new Error('broken');
};

describe('sendWithAck', () => {
	it('waits until the session is connected, sends the frame, and returns its ack', async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		connection.start();
		const result = connection.sendWithAck(outgoing('frame'), 1_000);
		await settle();
		socket().opens();
		await settle();
		expect(socket().sent).toEqual([]);
		await connect();
		expect(socket().sent).toEqual(['frame']);
		socket().receives(ackWith('a'));
		expect(await result).toMatchObject({ kind: 'ack', ack: { payload: { reply: 'a' } } });
	});

	it('accepts an ack that arrives while the frame is being sent', async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().onSend = (text) => {
			socket().receives(ackWith(text));
		};
		expect(await connection.sendWithAck(outgoing('frame'), 1_000)).toMatchObject({
			ack: { payload: { reply: 'frame' } },
		});
	});

	it('sends one frame at a time, in order', async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const both = Promise.all(
			['one', 'two'].map((text) => connection.sendWithAck(outgoing(text), 1_000)),
		);
		await settle();
		expect(socket().sent).toEqual(['one']);
		socket().receives(ackWith('1'));
		await settle();
		expect(socket().sent).toEqual(['one', 'two']);
		socket().receives(ackWith('2'));
		expect(await both).toMatchObject([
			{ ack: { payload: { reply: '1' } } },
			{ ack: { payload: { reply: '2' } } },
		]);
	});

	it("closes the socket if the ack doesn't arrive, and assigns no late ack to another frame", async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const silent = socket();
		silent.deaf = true;
		const [one, two] = [outgoing('one'), outgoing('two')];
		const first = connection.sendWithAck(one, 5_000);
		const second = connection.sendWithAck(two, 5_000);
		await clock.advance(4_999);
		expect(silent.closeCalls).toEqual([]);
		await clock.advance(1);
		expect(await first).toEqual({ kind: 'no_ack' });
		silent.receives(ackWith('late', one));
		await clock.advance(3_000);
		expect(sockets).toHaveLength(2);
		await connect();
		expect(socket().sent).toEqual(['two']);
		silent.receives(ackWith('very late', one));
		socket().receives(ackWith('2', two));
		expect(await second).toMatchObject({ kind: 'ack', ack: { payload: { reply: '2' } } });
	});

	it('returns "lost" if the socket ends', async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const result = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		socket().ends(1011);
		expect(await result).toEqual({ kind: 'lost' });
	});

	it('waits for the next socket if this one is closing', async () => {
		const { connection, sockets, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const dying = socket();
		dying.readyState = 2;
		const result = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		expect(dying.sent).toEqual([]);
		dying.ends(1006);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await connect();
		expect(socket().sent).toEqual(['one']);
		socket().receives(ackWith('1'));
		expect((await result).kind).toBe('ack');
	});

	it.each([
		['after its close frame', (socket: FakeSocket) => (socket.readyState = 2)],
		['although it accepts no frame', (socket: FakeSocket) => (socket.onSend = fails)],
	])('waits no longer than 2 seconds for a socket that never ends %s', async (_name, breaks) => {
		const { connection, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		breaks(socket());
		const result = connection.sendWithAck(outgoing('one'), 5_000);
		await clock.advance(3_000);
		await connect();
		socket().receives(ackWith('1'));
		expect((await result).kind).toBe('ack');
	});

	it("isn't sent if the socket throws", async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().onSend = () => {
			throw new Error('broken');
		};
		const result = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		await connection.close();
		expect(await result).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
	});

	it("isn't sent if the connection ends before it was ready", async () => {
		const { connection, socket, endings } = chatConnectionHarness();
		connection.start();
		const results = Promise.all(
			['1', '2'].map((text) => connection.sendWithAck(outgoing(text), 5_000)),
		);
		await settle();
		socket().opens();
		socket().ends(1003);
		const notSent = { kind: 'not_sent', readiness: { kind: 'ended' } };
		expect(await results).toMatchObject([notSent, notSent]);
		expect(endings).toHaveLength(1);
	});

	it('returns "aborted" if the connection is closed while it waits', async () => {
		const { connection, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const result = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		await connection.close();
		expect((await result).kind).toBe('aborted');
	});

	it('leaves no timer after an ack', async () => {
		const { connection, socket, clock, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const result = connection.sendWithAck(outgoing('one'), 600_000);
		await settle();
		socket().receives(ackWith('1'));
		await result;
		await connection.close();
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
	});
});
