import { ManagedSocket } from '../../../../nodes/shared/chat/managedSocket';
import { FakeClock, FakeSocket, settle } from './fakes';

function opened() {
	const clock = new FakeClock();
	const socket = new FakeSocket('wss://stream.example.com');
	const managed = new ManagedSocket(socket.url, {
		openSocket: () => socket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	socket.opens();
	return { clock, socket, managed };
}

test('keeps the first reason for closing, and closes the socket once', async () => {
	const { clock, socket, managed } = opened();
	socket.deaf = true;
	managed.close('rotated');
	managed.close('stopped');
	await clock.advance(2_000);
	expect(await managed.ended).toEqual({
		cause: 'rotated',
		code: null,
		reason: '',
		openForMs: 2_000,
	});
	expect(socket.closeCalls).toEqual([1000]);
});

test("a socket that doesn't open in time ends without a code", async () => {
	const clock = new FakeClock();
	const socket = new FakeSocket('wss://stream.example.com');
	socket.deaf = true;
	const managed = new ManagedSocket(socket.url, {
		openSocket: () => socket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	await clock.advance(15_000);
	expect(await managed.ended).toEqual({
		cause: 'connect_timeout',
		code: null,
		reason: '',
		openForMs: null,
	});
});

test('a socket that confirms the close ends with its code and reason', async () => {
	const { socket, managed } = opened();
	socket.deaf = true;
	managed.close('no_ack');
	socket.ends(1001, 'going away');
	expect(await managed.ended).toMatchObject({ cause: 'no_ack', code: 1001, reason: 'going away' });
});

test("a frame that the socket doesn't accept isn't sent", async () => {
	const { socket, managed } = opened();
	expect(managed.send('a')).toBe(true);
	jest.spyOn(socket, 'send').mockImplementation(() => {
		throw new Error('it is closing');
	});
	expect(managed.send('b')).toBe(false);
	socket.ends(1000);
	expect(managed.send('c')).toBe(false);
	expect(socket.sent).toEqual(['a']);
});

test("a socket that can't be created has ended, and its URL isn't shown", async () => {
	const clock = new FakeClock();
	const openSocket = () => {
		throw new Error('bad URL wss://x?token=secret');
	};
	const managed = new ManagedSocket('wss://x', {
		openSocket,
		clock,
		onFrame: () => undefined,
		tokenLife: { mintedAt: 0, endsAt: 0 },
	});
	expect(await managed.ended).toEqual({
		cause: 'cannot_connect',
		code: null,
		reason: '',
		openForMs: null,
	});
	await settle();
	expect(clock.pending).toBe(0);
});
