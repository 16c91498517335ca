/** Sockets that misbehave. Those that don't: test/nodes/chatConnection.test.ts. */
import { Socket } from '../../../../nodes/core/chat/socket';
import { timerClock } from '../../../engine/timerClock';

type SocketEvent = { data: unknown; code: number; reason: string };

/** Does only what the test says. */
class FakeSocket {
	readyState = 0;
	closed: Array<number | undefined> = [];
	send = (): void => {};
	private readonly listeners = new Map<string, (event: SocketEvent) => void>();

	addEventListener(type: string, listener: (event: SocketEvent) => void): void {
		this.listeners.set(type, listener);
	}

	close(code?: number): void {
		this.closed.push(code);
	}

	fires(type: string, event: Partial<SocketEvent> = {}): void {
		const listener = this.listeners.get(type);
		if (listener === undefined) throw new Error(`${type} has no listener`);
		listener({ data: null, code: 0, reason: '', ...event });
	}
}

const { WebSocket } = globalThis;

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
	jest.useRealTimers();
	Object.assign(globalThis, { WebSocket });
});

function opening() {
	const fake = new FakeSocket();
	function FakeWebSocket(): object {
		return fake;
	}
	Object.assign(globalThis, { WebSocket: FakeWebSocket });
	const frames: unknown[] = [];
	const socket = new Socket('wss://h/p?token=secret', {
		clock: timerClock,
		onFrame: (frame) => frames.push(frame),
		onSettled: () => {},
	});
	const opens = () => {
		fake.readyState = 1;
		fake.fires('open');
	};
	return { fake, socket, frames, opens };
}

const end = (openForMs = 0) => ({ code: null, reason: '', openForMs });

test("that doesn't open within 15 seconds is closed, and whatever it does later is ignored", async () => {
	const { fake, socket, frames, opens } = opening();
	await jest.advanceTimersByTimeAsync(14_999);
	expect(socket.signal.aborted).toBe(false);
	await jest.advanceTimersByTimeAsync(1);
	expect(await socket.ended).toEqual(end());
	expect(fake.closed).toEqual([1000]);
	opens();
	fake.fires('message', { data: 'late' });
	expect(frames).toEqual([]);
});

test('that breaks ends with its close event, which follows the error event', async () => {
	const { fake, socket, opens } = opening();
	opens();
	await jest.advanceTimersByTimeAsync(30_000);
	fake.fires('error');
	expect(socket.signal.aborted).toBe(false);
	fake.fires('close', { code: 1006 });
	expect(await socket.ended).toEqual({ ...end(30_000), code: 1006 });
});

test('that is closed and never confirms it ends after 2 seconds', async () => {
	const { fake, socket, opens } = opening();
	opens();
	socket.close();
	socket.close();
	expect([fake.closed, socket.send('late')]).toEqual([[1000], false]);
	await jest.advanceTimersByTimeAsync(1_999);
	expect(socket.signal.aborted).toBe(false);
	await jest.advanceTimersByTimeAsync(1);
	expect(await socket.ended).toEqual(end(2_000));
});

test('that is closing sends nothing, and ends within 2 seconds', async () => {
	const { fake, socket, opens } = opening();
	opens();
	expect(socket.send('one')).toBe(true);
	fake.readyState = 2;
	expect(socket.send('two')).toBe(false);
	await jest.advanceTimersByTimeAsync(0);
	expect(socket.signal.aborted).toBe(false);
	await jest.advanceTimersByTimeAsync(2_000);
	expect(await socket.ended).toEqual(end(2_000));
});
