import { ManagedSocket } from '../../../../nodes/shared/chat/managedSocket';
import { FakeClock, FakeSocket, settle } from './fakes';

function opened() {
	const clock = new FakeClock();
	const socket = new FakeSocket('wss://stream.example.com');
	const line = new ManagedSocket(socket.url, {
		openSocket: () => socket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	socket.opens();
	return { clock, socket, line };
}

test('the first reason to end a socket is the one that counts, and it is closed once', async () => {
	const { clock, socket, line } = opened();
	socket.deaf = true;
	line.close('renewed');
	line.close('stopped');
	await clock.advance(2_000);
	expect(await line.ended).toEqual({ cause: 'renewed', code: null, reason: '', openForMs: 2_000 });
	expect(socket.closeCalls).toEqual([1000]);
});

test('a socket that does not open in time has said nothing', async () => {
	const clock = new FakeClock();
	const socket = new FakeSocket('wss://stream.example.com');
	socket.deaf = true;
	const line = new ManagedSocket(socket.url, {
		openSocket: () => socket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	await clock.advance(15_000);
	expect(await line.ended).toEqual({
		cause: 'connect_timeout',
		code: null,
		reason: '',
		openForMs: null,
	});
});

test('a socket that answers its closing ends with what it said', async () => {
	const { socket, line } = opened();
	socket.deaf = true;
	line.close('no_ack');
	socket.ends(1001, 'going away');
	expect(await line.ended).toMatchObject({ cause: 'no_ack', code: 1001, reason: 'going away' });
});

test('what cannot be handed to the socket was surely not sent', async () => {
	const { socket, line } = opened();
	expect(line.send('a')).toBe(true);
	jest.spyOn(socket, 'send').mockImplementation(() => {
		throw new Error('it is closing');
	});
	expect(line.send('b')).toBe(false);
	socket.ends(1000);
	expect(line.send('c')).toBe(false);
	expect(socket.sent).toEqual(['a']);
});

test('a socket that cannot be created has ended, and its address is not told', async () => {
	const clock = new FakeClock();
	const openSocket = () => {
		throw new Error('bad address wss://x?token=secret');
	};
	const line = new ManagedSocket('wss://x', {
		openSocket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	expect(await line.ended).toEqual({
		cause: 'cannot_connect',
		code: null,
		reason: '',
		openForMs: null,
	});
	await settle();
	expect(clock.pending).toBe(0);
});
