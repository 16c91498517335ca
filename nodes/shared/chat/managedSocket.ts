import { type Clock, type Deferred, deferred, pause } from '../clock';
import { CLOSE_GRACE_MS, CONNECT_TIMEOUT_MS, SETTLE_MS } from './timings';
import type { TokenLife } from './token';

const OPEN = 1;
const NORMAL_CLOSURE = 1000;

/** Why these nodes closed a socket. */
export type CloseCause = 'rotated' | 'no_ack' | 'session_closed' | 'stopped';

export interface SocketEnd {
	/** `closed`: by the service or the network, with `code`. */
	cause: 'closed' | 'connect_timeout' | 'cannot_connect' | CloseCause;
	code: number | null;
	reason: string;
	/** Null if it never opened. */
	openForMs: number | null;
}

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

export interface SocketOptions {
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	/** Lifetime of the token in the URL. The service may close the socket when the token expires. */
	tokenLife: TokenLife;
	/** Called with each frame as received, text or binary. */
	onFrame: (frame: unknown) => void;
}

/** Sockets that this process has opened. */
let opened = 0;

/** One socket from connecting to its end, which is reported exactly once, even if the socket misbehaves. */
export class ManagedSocket {
	/** Higher than the number of every earlier socket. */
	readonly number = ++opened;

	/** Resolves when the socket opens, or ends before it opens. */
	readonly opened: Promise<void>;

	readonly ended: Promise<SocketEnd>;

	private readonly openedDeferred: Deferred<void> = deferred();

	private readonly endedDeferred: Deferred<SocketEnd> = deferred();

	private readonly connected = new AbortController();

	private readonly endedSignal = new AbortController();

	private socket: WebSocketLike | null = null;

	private openedAt: number | null = null;

	private closeCause: CloseCause | null = null;

	constructor(
		url: string,
		private readonly options: SocketOptions,
	) {
		this.opened = this.openedDeferred.promise;
		this.ended = this.endedDeferred.promise;
		try {
			this.socket = options.openSocket(url);
		} catch {
			// The error isn't kept, because it may contain the URL with the token.
			this.finish('cannot_connect', null, '');
			return;
		}
		this.listen(this.socket);
		void this.watchConnecting();
	}

	/** Aborted once the socket has ended. */
	get signal(): AbortSignal {
		return this.endedSignal.signal;
	}

	get tokenLife(): TokenLife {
		return this.options.tokenLife;
	}

	/** By `clock.elapsed()`. Null before the socket opens. */
	get openSince(): number | null {
		return this.openedAt;
	}

	/** Whether the socket has been open long enough for the service to have replayed its recent events. */
	get isSettled(): boolean {
		return this.openedAt !== null && this.options.clock.elapsed() - this.openedAt >= SETTLE_MS;
	}

	/** @returns whether the socket was open and accepted the text. If false, nothing was sent. */
	send(text: string): boolean {
		if (this.socket?.readyState !== OPEN) return false;
		try {
			this.socket.send(text);
		} catch {
			return false;
		}
		return true;
	}

	/** Closes the socket. Waits for the service's close frame for a moment only. */
	close(cause: CloseCause): void {
		if (this.signal.aborted || this.closeCause !== null) return;
		this.closeCause = cause;
		this.closeSocket();
		void pause(this.options.clock, CLOSE_GRACE_MS, this.signal).then(() =>
			this.finish(cause, null, ''),
		);
	}

	private listen(socket: WebSocketLike): void {
		socket.binaryType = 'arraybuffer';
		socket.addEventListener('open', () => {
			if (this.signal.aborted) return;
			this.openedAt = this.options.clock.elapsed();
			this.connected.abort();
			this.openedDeferred.resolve();
		});
		socket.addEventListener('message', (event) => {
			if (!this.signal.aborted) this.options.onFrame(event.data);
		});
		socket.addEventListener('close', ({ code, reason }) => {
			this.finish(this.closeCause ?? 'closed', code, reason);
		});
		// A close event with more details follows each error event. Without a listener, some sockets throw.
		socket.addEventListener('error', () => undefined);
	}

	private async watchConnecting(): Promise<void> {
		const settled = AbortSignal.any([this.connected.signal, this.signal]);
		if (!(await pause(this.options.clock, CONNECT_TIMEOUT_MS, settled))) return;
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
		this.endedSignal.abort();
		const openForMs = this.openedAt === null ? null : this.options.clock.elapsed() - this.openedAt;
		this.openedDeferred.resolve();
		this.endedDeferred.resolve({ cause, code, reason, openForMs });
	}
}
