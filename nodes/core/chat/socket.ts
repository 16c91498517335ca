import {
	type Clock,
	deferred,
	type Deferred,
	DONE,
	pause,
	settledOrTimeout,
} from '../values/clock';

/** Timeout for opening a socket. */
const CONNECT_TIMEOUT_MS = 15_000;

/** How long to wait for the end of a socket that is closing. */
const CLOSE_GRACE_MS = 2_000;

/** Why these nodes closed a socket. */
type CloseCause = 'renewed' | 'no_ack' | 'session_closed' | 'stopped';

export interface SocketEnd {
	/** `closed`: by the service or the network, with `code`. */
	cause: 'closed' | 'connect_timeout' | 'cannot_connect' | CloseCause;
	code: number | null;
	reason: string;
	/** 0 if it never opened. */
	openForMs: number;
}

const OPEN = 1;
const NORMAL_CLOSURE = 1000;

/** The part of the browser-style `WebSocket` that the nodes use. */
export interface WebSocketLike {
	binaryType: 'arraybuffer' | 'blob';
	readonly readyState: number;
	send(text: string): void;
	close(code?: number, reason?: string): void;
	addEventListener(type: 'open' | 'error', listener: () => void): void;
	addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
	addEventListener(
		type: 'close',
		listener: (event: { code: number; reason: string }) => void,
	): void;
}

/** One socket from connecting to its end, which is reported exactly once, even if the socket misbehaves. */
export class Socket {
	/** Called with each frame as received, text or binary. */
	onFrame: (frame: unknown) => void = () => {};

	/** Whether it has been open long enough to be accepted, and for the service to have replayed its recent events. */
	isSettled = false;

	private readonly openedDeferred: Deferred<void> = deferred();
	private readonly endedDeferred: Deferred<SocketEnd> = deferred();
	private readonly endedSignal = new AbortController();
	private socket: WebSocketLike | null = null;
	private openedAt: number | null = null;
	private closeCause: CloseCause | null = null;

	constructor(
		url: string,
		private readonly options: { openSocket: (url: string) => WebSocketLike; clock: Clock },
	) {
		try {
			this.socket = options.openSocket(url);
		} catch {
			// The error isn't kept, because it may contain the URL with the token.
			this.finish('cannot_connect', null, '');
			return;
		}
		this.listen(this.socket);
		void this.limitConnecting();
	}

	/** Resolves when the socket opens, or ends before it opens. */
	get opened(): Promise<void> {
		return this.openedDeferred.promise;
	}

	get ended(): Promise<SocketEnd> {
		return this.endedDeferred.promise;
	}

	/** Aborted once the socket has ended. */
	get signal(): AbortSignal {
		return this.endedSignal.signal;
	}

	/**
	 * @returns whether the socket was open and accepted the text. If false, nothing was sent, and the socket ends soon: after
	 * the service's close frame, the network can keep it closing forever.
	 */
	send(text: string): boolean {
		try {
			if (this.closeCause === null && this.socket?.readyState === OPEN) {
				this.socket.send(text);
				return true;
			}
		} catch {
			// The socket is broken.
		}
		void this.finishLater(this.closeCause ?? 'closed');
		return false;
	}

	/** Closes the socket. Waits for the service's close frame for a moment only. */
	close(cause: CloseCause): void {
		if (this.signal.aborted || this.closeCause !== null) return;
		this.closeCause = cause;
		this.isSettled = false;
		this.closeSocket();
		void this.finishLater(cause);
	}

	private async finishLater(cause: SocketEnd['cause']): Promise<void> {
		await pause(this.options.clock, CLOSE_GRACE_MS, this.signal);
		this.finish(cause, null, '');
	}

	private listen(socket: WebSocketLike): void {
		socket.binaryType = 'arraybuffer';
		socket.addEventListener('open', () => {
			if (this.signal.aborted) return;
			this.openedAt = this.options.clock.elapsed();
			this.openedDeferred.resolve();
		});
		socket.addEventListener('message', (event) => {
			if (!this.signal.aborted) this.onFrame(event.data);
		});
		socket.addEventListener('close', ({ code, reason }) => {
			this.finish(this.closeCause ?? 'closed', code, reason);
		});
		// A close event with more details follows each error event. Without a listener, some sockets throw.
		socket.addEventListener('error', () => undefined);
	}

	private async limitConnecting(): Promise<void> {
		await settledOrTimeout(this.options.clock, CONNECT_TIMEOUT_MS, this.opened);
		if (this.openedAt !== null || this.signal.aborted) return;
		this.finish('connect_timeout', null, '');
		this.closeSocket();
	}

	private closeSocket(): void {
		try {
			this.socket?.close(NORMAL_CLOSURE);
		} catch {
			// The socket has already ended.
		}
	}

	private finish(cause: SocketEnd['cause'], code: number | null, reason: string): void {
		const openForMs = this.openedAt === null ? 0 : this.options.clock.elapsed() - this.openedAt;
		this.endedSignal.abort(DONE);
		this.openedDeferred.resolve();
		this.endedDeferred.resolve({ cause, code, reason, openForMs });
	}
}
