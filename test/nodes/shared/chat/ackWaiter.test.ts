import { ackFrame, chatConnectionHarness, settle, outgoing } from './fakes';

const answered = (reply: string) => ackFrame({ state: 'default', reply });

describe('exchange', () => {
	it('waits until the connection is held, writes the frame and returns its ack', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		connection.start();
		const exchange = connection.sendWithAck(outgoing('frame'), 1_000);
		await settle();
		socket().opens();
		await settle();
		expect(socket().sent).toEqual([]);
		await hold();
		expect(socket().sent).toEqual(['frame']);
		socket().receives(answered('a'));
		expect(await exchange).toMatchObject({ kind: 'ack', ack: { reply: 'a' } });
	});

	it('takes an ack that comes while the frame is being handed over', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		socket().answer = (text) => {
			socket().receives(answered(text));
		};
		expect(await connection.sendWithAck(outgoing('frame'), 1_000)).toMatchObject({
			ack: { reply: 'frame' },
		});
	});

	it('sends one frame at a time, in order', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const both = Promise.all(
			['one', 'two'].map((text) => connection.sendWithAck(outgoing(text), 1_000)),
		);
		await settle();
		expect(socket().sent).toEqual(['one']);
		socket().receives(answered('1'));
		await settle();
		expect(socket().sent).toEqual(['one', 'two']);
		socket().receives(answered('2'));
		expect(await both).toMatchObject([{ ack: { reply: '1' } }, { ack: { reply: '2' } }]);
	});

	it('drops the socket of an ack that never came, so that a late one meets no other frame', async () => {
		const { connection, sockets, socket, clock, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const silent = socket();
		silent.deaf = true;
		const first = connection.sendWithAck(outgoing('one'), 5_000);
		const second = connection.sendWithAck(outgoing('two'), 5_000);
		await clock.advance(4_999);
		expect(silent.closeCalls).toEqual([]);
		await clock.advance(1);
		expect(await first).toEqual({ kind: 'no_ack' });
		silent.receives(answered('late'));
		await clock.advance(3_000);
		expect(sockets).toHaveLength(2);
		await hold();
		expect(socket().sent).toEqual(['two']);
		silent.receives(answered('very late'));
		socket().receives(answered('2'));
		expect(await second).toMatchObject({ kind: 'ack', ack: { reply: '2' } });
		expect(connection.counts).toEqual({ unexpected_ack: 1 });
	});

	it('is lost with its socket', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const exchange = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		socket().ends(1011);
		expect(await exchange).toEqual({ kind: 'lost', code: 1011 });
	});

	it('waits for the next socket when this one is closing under it', async () => {
		const { connection, sockets, socket, clock, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const dying = socket();
		dying.readyState = 2;
		const exchange = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		expect(dying.sent).toEqual([]);
		dying.ends(1006);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		await hold();
		expect(socket().sent).toEqual(['one']);
		socket().receives(answered('1'));
		expect((await exchange).kind).toBe('ack');
	});

	it('is surely not sent when the socket throws at it', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		socket().answer = () => {
			throw new Error('broken');
		};
		const exchange = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		await connection.close();
		expect(await exchange).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
	});

	it('is not sent when the connection ends before it was held', async () => {
		const { connection, socket, endings } = chatConnectionHarness();
		connection.start();
		const exchanges = Promise.all(
			['1', '2'].map((text) => connection.sendWithAck(outgoing(text), 5_000)),
		);
		await settle();
		socket().opens();
		socket().ends(1003);
		const notSent = { kind: 'not_sent', readiness: { kind: 'ended' } };
		expect(await exchanges).toMatchObject([notSent, notSent]);
		expect(endings).toHaveLength(1);
	});

	it('is lost when we close while it waits', async () => {
		const { connection, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const exchange = connection.sendWithAck(outgoing('one'), 5_000);
		await settle();
		await connection.close();
		expect((await exchange).kind).toBe('lost');
	});

	it('leaves no timer behind after an ack', async () => {
		const { connection, socket, clock, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		const exchange = connection.sendWithAck(outgoing('one'), 600_000);
		await settle();
		socket().receives(answered('1'));
		await exchange;
		await connection.close();
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
	});
});
