import { type Clock, type Deferred, deferred, pause } from '../clock';
import { CLOSE_GRACE_MS, CONNECT_TIMEOUT_MS } from './timings';
import type { TokenLife } from './token';

const OPEN = 1;
const NORMAL_CLOSURE = 1000;

/** Why we ended a socket ourselves. */
export type CloseCause = 'renewed' | 'no_ack' | 'session_closed' | 'stopped';

export interface SocketEnd {
	/** `closed`: by the other side or the network, with `code`. */
	cause: 'closed' | 'connect_timeout' | 'cannot_connect' | CloseCause;
	code: number | null;
	reason: string;
	/** Null when it never opened. */
	openForMs: number | null;
}

/** The part of the browser-style WebSocket that is used; `new WebSocket(url)` is one. */
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
	/** Of the token that the socket is opened with; the service may close the socket at its end. */
	tokenLife: TokenLife;
	/** Called with each frame as it came, text or not. */
	onFrame: (frame: unknown) => void;
}

/** Sockets opened by this process. */
let opened = 0;

/** One socket from connecting to its end, which comes exactly once, whatever the socket does. */
export class ManagedSocket {
	/** Higher than that of each socket that was opened before. */
	readonly number = ++opened;

	/** Resolves when the socket opens, or ends without having opened. */
	readonly opened: Promise<void>;

	readonly ended: Promise<SocketEnd>;

	private readonly announceOpen: Deferred<void> = deferred();

	private readonly announceEnd: Deferred<SocketEnd> = deferred();

	private readonly connected = new AbortController();

	private readonly over = new AbortController();

	private socket: WebSocketLike | null = null;

	private openedAt: number | null = null;

	private closeCause: CloseCause | null = null;

	constructor(
		url: string,
		private readonly parts: SocketOptions,
	) {
		this.opened = this.announceOpen.promise;
		this.ended = this.announceEnd.promise;
		try {
			this.socket = parts.openSocket(url);
		} catch {
			// What it threw may quote the address with its token.
			this.finish('cannot_connect', null, '');
			return;
		}
		this.listen(this.socket);
		void this.watchConnecting();
	}

	/** Aborted once the socket has ended. */
	get signal(): AbortSignal {
		return this.over.signal;
	}

	get tokenLife(): TokenLife {
		return this.parts.tokenLife;
	}

	/** By the elapsed time; null before it has opened. */
	get openSince(): number | null {
		return this.openedAt;
	}

	/** Whether the text was handed to an open socket; false means that it was surely not sent. */
	send(text: string): boolean {
		if (this.socket?.readyState !== OPEN) return false;
		try {
			this.socket.send(text);
		} catch {
			return false;
		}
		return true;
	}

	/** Ends the socket: politely, then after a moment without waiting for the other side. */
	close(cause: CloseCause): void {
		if (this.signal.aborted || this.closeCause !== null) return;
		this.closeCause = cause;
		this.closeSocket();
		void pause(this.parts.clock, CLOSE_GRACE_MS, this.signal).then(() =>
			this.finish(cause, null, ''),
		);
	}

	private listen(socket: WebSocketLike): void {
		socket.binaryType = 'arraybuffer';
		socket.addEventListener('open', () => {
			if (this.signal.aborted) return;
			this.openedAt = this.parts.clock.elapsed();
			this.connected.abort();
			this.announceOpen.resolve();
		});
		socket.addEventListener('message', (event) => {
			if (!this.signal.aborted) this.parts.onFrame(event.data);
		});
		socket.addEventListener('close', ({ code, reason }) => {
			this.finish(this.closeCause ?? 'closed', code, reason);
		});
		// A close event follows each error event and says more; without a listener some sockets throw.
		socket.addEventListener('error', () => undefined);
	}

	private async watchConnecting(): Promise<void> {
		const settled = AbortSignal.any([this.connected.signal, this.signal]);
		if (!(await pause(this.parts.clock, CONNECT_TIMEOUT_MS, settled))) return;
		this.finish('connect_timeout', null, '');
		this.closeSocket();
	}

	private closeSocket(): void {
		try {
			this.socket?.close(NORMAL_CLOSURE);
		} catch {
			// A socket that cannot be closed has ended already.
		}
	}

	private finish(cause: SocketEnd['cause'], code: number | null, reason: string): void {
		this.over.abort();
		const openForMs = this.openedAt === null ? null : this.parts.clock.elapsed() - this.openedAt;
		this.announceOpen.resolve();
		this.announceEnd.resolve({ cause, code, reason, openForMs });
	}
}
