import { type Clock, DONE, pause } from '../values/clock';

/** Timeout for opening a socket. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * A socket counts as connected after it has been open for this long, because a rejection (4401, 1008) arrives only after
 * it opens, and its code doesn't prove that a frame wasn't taken. Replayed events arrive first.
 */
const SETTLE_MS = 500;

/** How long to wait for the end of a socket that is closing. */
const CLOSE_GRACE_MS = 2_000;

export interface SocketEnd {
	/** Null if it didn't open, or its end wasn't confirmed. */
	code: number | null;
	reason: string;
	/** 0 if it never opened. */
	openForMs: number;
}

const OPEN = 1;
const NORMAL_CLOSURE = 1000;

interface SocketOptions {
	clock: Clock;
	/** Called with each frame as received, text or binary. */
	onFrame: (frame: unknown) => void;
	onSettled: () => void;
}

/** One socket from connecting to its end, which is reported exactly once, even if the socket misbehaves. */
export class Socket {
	/** Whether these nodes closed it. */
	isClosing = false;
	/** Whether it has been open long enough to be accepted. */
	private isSettled = false;
	private openedAt: number | null = null;
	private readonly socket: WebSocket;
	private readonly endedDeferred = Promise.withResolvers<SocketEnd>();
	private readonly endedSignal = new AbortController();

	constructor(
		url: string,
		private readonly options: SocketOptions,
	) {
		this.socket = new WebSocket(url);
		this.socket.addEventListener('open', () => void this.settle());
		this.socket.addEventListener('message', ({ data }: { data: unknown }) => {
			if (!this.signal.aborted) options.onFrame(data);
		});
		this.socket.addEventListener('close', ({ code, reason }) => this.finish(code, reason));
		// A close event with more details follows each error event. Without a listener, some sockets throw.
		this.socket.addEventListener('error', () => undefined);
		void this.limitOpening();
	}

	get ended(): Promise<SocketEnd> {
		return this.endedDeferred.promise;
	}

	/** Aborted once the socket has ended. */
	get signal(): AbortSignal {
		return this.endedSignal.signal;
	}

	get isConnected(): boolean {
		return this.isSettled && !this.isClosing && !this.signal.aborted;
	}

	/**
	 * @returns whether the socket was open and accepted the text. If false, nothing was sent, and the socket ends soon: after
	 * the service's close frame, the network can keep it closing forever.
	 */
	send(text: string): boolean {
		if (!this.isClosing && this.socket.readyState === OPEN) {
			this.socket.send(text);
			return true;
		}
		void this.finishLater();
		return false;
	}

	/** Closes the socket. Waits for the service's close frame for a moment only. */
	close(): void {
		if (this.signal.aborted || this.isClosing) return;
		this.isClosing = true;
		this.socket.close(NORMAL_CLOSURE);
		void this.finishLater();
	}

	private async limitOpening(): Promise<void> {
		await pause(this.options.clock, CONNECT_TIMEOUT_MS, this.signal);
		if (this.openedAt !== null || this.signal.aborted) return;
		this.finish(null, '');
		this.socket.close(NORMAL_CLOSURE);
	}

	private async settle(): Promise<void> {
		const { clock, onSettled } = this.options;
		if (this.signal.aborted) return;
		this.openedAt = clock.elapsed();
		if (!(await pause(clock, SETTLE_MS, this.signal)) || this.isClosing) return;
		this.isSettled = true;
		onSettled();
	}

	private async finishLater(): Promise<void> {
		await pause(this.options.clock, CLOSE_GRACE_MS, this.signal);
		this.finish(null, '');
	}

	private finish(code: number | null, reason: string): void {
		const openForMs = this.openedAt === null ? 0 : this.options.clock.elapsed() - this.openedAt;
		this.endedSignal.abort(DONE);
		this.endedDeferred.resolve({ code, reason, openForMs });
	}
}
