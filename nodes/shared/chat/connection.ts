import { withoutSecret } from '../api/secrets';
import { backoffMs, type Clock, deferred, type Deferred, DONE, pause, whenAborted } from '../clock';
import { KeyedMutex } from '../keyedMutex';
import { type OutgoingFrame, UnconfirmedFrames } from './acks';
import { type ChatEnded, describeEnding, mintFailureReason, serviceReason } from './endings';
import {
	EventDispatcher,
	type Log,
	type OnEvent,
	type OnTooLarge,
	type StopReason,
} from './eventDispatcher';
import { type Ack, isTooLargeFrame, parseFrame } from './frames';
import {
	type AttemptEnd,
	type CloseCause,
	type EndingKind,
	POLICY,
	ReconnectPolicy,
	type SocketEnd,
	TRIGGER_LIMITS,
} from './reconnectPolicy';
import { socketUrl } from './socketUrl';
import {
	CLOSE_GRACE_MS,
	CONNECT_TIMEOUT_MS,
	LOST_BACKOFF,
	SESSION_CLOSED_LINGER_MS,
	SETTLE_MS,
	STABLE_AFTER_MS,
	TOKEN_RETRY_MS,
} from './timings';
import { type MintedToken, type MintResult, withLifetime } from './token';

export interface ConnectionOptions {
	sessionId: string;
	/** From the credential. Decides whether unencrypted `ws:` is acceptable. */
	baseUrl: string;
	/** The `client_id` of the WebSocket. */
	clientId: string;
	/** Whether another client may lose the session now. Called before each attempt to connect. */
	mayDisconnectOther: () => boolean;
	/** See `mintToken` in `token.ts`. */
	mintToken: () => Promise<MintResult>;
	/** Hides the API token of the account in a text of the service. */
	hideApiToken: (text: string) => string;
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	random: () => number;
	log: Log;
	/** Shared with earlier connections of the session. */
	unconfirmed?: UnconfirmedFrames;
	/**
	 * Called when an attempt to connect failed or its socket has ended, and another attempt follows.
	 *
	 * @returns milliseconds after which a user needs another attempt at the latest
	 */
	onAttemptEnded?: (attempt: AttemptEnd, ending: ChatEnded) => number;
	/** Called when several attempts have failed. Attempts continue at intervals of minutes. */
	onLost?: (ending: ChatEnded) => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

export type Readiness =
	| { kind: 'open' }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'closed_by_us' };

/** Why a session isn't connected. */
export type NotReady = Exclude<Readiness, { kind: 'open' }>;

export type AckResult =
	/** `isRepeat`: the sender of an earlier frame of the same message got no ack, perhaps in another execution. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	| { kind: 'no_ack' }
	/** An ack arrived that may be about this frame or about an earlier one. */
	| { kind: 'unmatched' }
	/** The socket ended before the ack. */
	| { kind: 'lost' }
	/** Sent, but the sender stopped waiting for the ack. */
	| { kind: 'aborted' }
	/** The session was closed before the ack. */
	| { kind: 'session_closed' }
	| { kind: 'not_sent'; readiness: NotReady };

/** A new socket needs a token for this long, so that it doesn't expire while a frame waits for its ack. */
const MIN_TOKEN_LIFE_MS = 200_000;

/** Tokens to hide in texts of the service. All but the newest few have expired. */
const MAX_ISSUED = 10;

/**
 * Keeps one session connected: token, socket, acks, events, and reconnects, until the session is closed, the service
 * rejects the connection for good, or `close()`. One loop (`run`) owns the life cycle. No method throws or rejects.
 *
 * The protocol has no ping, so a connection that broke without notice is found only by replacing it. This happens before
 * the token expires: the next token is minted first, then the socket is closed and opened again at once, with the same
 * `client_id`. The document doesn't allow a second socket beside the first. The service replays what happens in between.
 */
export class ChatConnection {
	private readonly stop = new AbortController();
	private readonly policy: ReconnectPolicy;
	private readonly events: EventDispatcher;
	private readonly mutex = new KeyedMutex();
	private readonly unconfirmed: UnconfirmedFrames;
	private isStarted = false;

	private token: MintedToken | null = null;
	/** The newest tokens, also of earlier sockets. */
	private issued: string[] = [];
	private minting: Promise<MintResult> | null = null;
	/** When the latest request for a token ended, and when the next one is due, by `clock.elapsed()`. */
	private mintedLast = -Infinity;
	private renewAt = 0;

	private socket: Socket | null = null;
	private becameReady: Deferred<void> = deferred();
	private sessionIsClosed = false;
	/** The frame that waits for its ack. */
	private flight: { frame: OutgoingFrame; settle: (result: AckResult) => void } | null = null;

	private attemptCount = 0;
	/** When the next attempt is due, and when a user needs one, by `clock.elapsed()`. */
	private dueAt: number;
	private neededAt = Infinity;
	private wake = new AbortController();
	private mayClaim = true;
	/** Since when the session has been connected, apart from renewals, by `clock.elapsed()`. */
	private connectedSince: number | null = null;
	private losses = 0;
	private failure: ChatEnded | null = null;
	private ending: ChatEnded | null = null;

	constructor(private readonly options: ConnectionOptions) {
		this.policy = new ReconnectPolicy(TRIGGER_LIMITS, options.random);
		this.events = new EventDispatcher(options.sessionId, options.log);
		this.unconfirmed = options.unconfirmed ?? new UnconfirmedFrames();
		this.dueAt = options.clock.elapsed();
	}

	start(): this {
		if (!this.isStarted) void this.run();
		this.isStarted = true;
		return this;
	}

	/** Ends the connection. Resolves when the socket has ended. No callback follows. */
	async close(): Promise<void> {
		const reason: StopReason = 'stopped';
		this.stop.abort(reason);
		this.socket?.close('stopped');
		await this.socket?.ended;
	}

	/** Aborted when the connection has ended for good or is closed. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** Whether the session is connected now. */
	get isConnected(): boolean {
		return this.socket?.isSettled === true && !this.socket.signal.aborted;
	}

	/** Attempts to connect that have begun. */
	get attempts(): number {
		return this.attemptCount;
	}

	/** Why the latest attempt failed, while the connection retries. Null if the session is connected or it's the first attempt. */
	get lastFailure(): ChatEnded | null {
		return this.failure;
	}

	/** Ignored frames and duplicate events, by kind. */
	get counts(): Readonly<Record<string, number>> {
		return this.events.counts;
	}

	/** @returns a function that unsubscribes */
	subscribe(listener: OnEvent, onTooLarge?: OnTooLarge): () => void {
		return this.events.subscribe(listener, onTooLarge);
	}

	/** For a new user: if the session isn't connected, tries again now, with `claim=1` if a user allows it. */
	retryNow(): void {
		if (this.isConnected) return;
		this.mayClaim = true;
		this.wake.abort(DONE);
	}

	/** Resolves when the session is connected, when it never will be, or when `signal` is aborted. */
	async ready(signal: AbortSignal = this.signal): Promise<Readiness> {
		// Avoids a new signal, which Node.js would keep for as long as the connection exists.
		if (this.isConnected && !this.signal.aborted && !signal.aborted) return { kind: 'open' };
		const stopped = AbortSignal.any([this.signal, signal]);
		const hasEnded = whenAborted(stopped);
		while (!stopped.aborted) {
			if (this.isConnected) return { kind: 'open' };
			await Promise.race([this.becameReady.promise, hasEnded]);
		}
		return this.unavailable();
	}

	// Connecting, one attempt after another.

	private async run(): Promise<void> {
		const { clock, random, onAttemptEnded, onLost } = this.options;
		for (;;) {
			const isEarly = await this.untilDue();
			if (this.signal.aborted) return;
			this.attemptCount += 1;
			const attempt = await this.attempt();
			if (attempt === null || this.isStopped()) return;
			const openForMs = attempt.kind === 'socket' ? attempt.end.openForMs : 0;
			const since = this.connectedSince ?? Infinity;
			if (clock.elapsed() - since >= STABLE_AFTER_MS) this.losses = 0;
			// It doesn't count, so that many actions don't use up the attempts of a trigger.
			const isExtra = isEarly && openForMs < SETTLE_MS;
			const policy = isExtra ? new ReconnectPolicy(TRIGGER_LIMITS, random) : this.policy;
			const step = policy.next(attempt);
			const ending = this.describe(step.why, attempt);
			if (step.kind === 'end') {
				this.end(ending);
				return;
			}
			const isLost = step.kind === 'lost';
			if (isLost || step.token === 'new') this.token = null;
			if (!isExtra && isLost) this.losses += 1;
			const afterMs = isLost ? backoffMs(LOST_BACKOFF, this.losses) : step.afterMs;
			if (!isExtra) this.dueAt = clock.elapsed() + afterMs;
			if (attempt.kind !== 'socket' || attempt.end.cause !== 'renewed') {
				this.connectedSince = null;
				this.failure = ending;
				this.logRetry(ending);
			}
			this.neededAt = clock.elapsed() + (onAttemptEnded?.(attempt, ending) ?? Infinity);
			if (!isExtra && isLost && this.losses === 1) onLost?.(ending);
		}
	}

	/** @returns whether a user needs an attempt before it is due */
	private async untilDue(): Promise<boolean> {
		const { clock } = this.options;
		const isNeeded = this.neededAt < this.dueAt;
		const waitMs = Math.min(this.dueAt, this.neededAt) - clock.elapsed();
		this.wake = new AbortController();
		const stopped = AbortSignal.any([this.signal, this.wake.signal]);
		const hasPassed = await pause(clock, waitMs, stopped);
		// Not by the time alone, because a timer may fire a little early.
		return (isNeeded || !hasPassed) && this.dueAt > clock.elapsed();
	}

	/** Connects once: from the token to the end of the socket. Null if the connection was closed before. */
	private async attempt(): Promise<AttemptEnd | null> {
		const { baseUrl, clientId, openSocket, clock, mayDisconnectOther } = this.options;
		const isUsable = this.token !== null && clock.elapsed() < this.token.endsAt;
		if (this.token === null || !isUsable || this.mayExpire(this.token, MIN_TOKEN_LIFE_MS)) {
			const result = await this.mint();
			if (result.kind !== 'token') return { kind: 'mint', result };
		}
		const { token } = this;
		if (token === null || this.isStopped()) return null;
		const claim = this.mayClaim && mayDisconnectOther();
		const url = socketUrl({ token: token.token, baseUrl, clientId, claim });
		if (url.kind === 'unusable') return { kind: 'url', wsUrl: token.token.ws_url };
		const socket = new Socket(url.url, token, { openSocket, clock });
		socket.onFrame = (frame) => this.receive(frame, socket);
		this.socket = socket;
		void this.maintain(socket);
		const end = await socket.ended;
		if (end.code === POLICY) this.mayClaim = true;
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause }, claimed: claim };
	}

	/** Marks a socket as connected, and replaces it before its token expires, when no frame waits for its ack. */
	private async maintain(socket: Socket): Promise<void> {
		const { clock } = this.options;
		await socket.opened;
		if (!(await pause(clock, SETTLE_MS, socket.signal))) return;
		socket.isSettled = true;
		this.connectedSince ??= clock.elapsed();
		// From now on it reconnects without a claim, so that two clients don't displace each other forever.
		this.mayClaim = false;
		this.failure = null;
		this.becameReady.resolve();
		this.becameReady = deferred();
		for (;;) {
			const isOutdated = this.token !== socket.token;
			if (isOutdated && this.flight === null) {
				socket.close('renewed');
				return;
			}
			// While a frame waits for its ack, check again in a second.
			const waitMs = isOutdated ? 0 : this.renewAt - clock.elapsed();
			if (!(await pause(clock, Math.max(waitMs, 1_000), socket.signal))) return;
			if (!isOutdated && clock.elapsed() >= this.renewAt) await this.mintAhead();
		}
	}

	/** Whether the token may expire within this time, and another one can be requested. */
	private mayExpire({ endsAt }: MintedToken, ms: number): boolean {
		const now = this.options.clock.elapsed();
		return now + ms > endsAt && now >= this.mintedLast + TOKEN_RETRY_MS;
	}

	/** Mints the next token while the socket is open. If it fails, the socket stays, and it's tried again later. */
	private async mintAhead(): Promise<void> {
		const minted = await this.mint();
		if (minted.kind === 'session_closed') void this.endClosedSession();
		if (minted.kind === 'token' || minted.kind === 'session_closed') return;
		const reason = mintFailureReason(minted.error);
		this.warn("The token of a chat session couldn't be renewed yet", reason);
	}

	/** Concurrent calls share one request. */
	private async mint(): Promise<MintResult> {
		this.minting ??= this.mintOnce().finally(() => (this.minting = null));
		return await this.minting;
	}

	private async mintOnce(): Promise<MintResult> {
		const { clock, mintToken, random } = this.options;
		const mintedAt = clock.elapsed();
		const requestedOn = clock.now();
		const result = await mintToken().catch((error: unknown) => {
			const failed: MintResult = { kind: 'unreachable', error };
			return failed;
		});
		this.mintedLast = clock.elapsed();
		this.renewAt = this.mintedLast + TOKEN_RETRY_MS;
		if (result.kind !== 'token') return result;
		this.token = withLifetime(result.token, mintedAt, requestedOn);
		this.issued = [...this.issued, result.token.token].slice(-MAX_ISSUED);
		// After 80 to 90 % of its lifetime, so that sessions opened together don't all renew at the same moment.
		const lifetimeMs = this.token.endsAt - mintedAt;
		this.renewAt = Math.max(this.renewAt, mintedAt + lifetimeMs * (0.8 + 0.1 * random()));
		return result;
	}

	// Sending: one frame in flight.

	/**
	 * Waits until no other send is in progress. A send may take several frames (`busy`, a missing ack), and another send in
	 * between would change the order of the conversation.
	 *
	 * @returns `release`
	 */
	async acquireSend(signal: AbortSignal = this.signal): Promise<() => void> {
		return await this.mutex.acquire('send', signal);
	}

	/**
	 * Sends one frame as soon as the session is connected, and waits for its ack. If `signal` is aborted, it returns
	 * immediately, but the next frame still waits for the ack.
	 */
	async sendWithAck(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal = this.signal,
	): Promise<AckResult> {
		const result = deferred<AckResult>();
		let isSent = false;
		void whenAborted(signal).then(() => {
			const notSent = { kind: 'not_sent', readiness: this.unavailable() } as const;
			result.resolve(isSent ? { kind: 'aborted' } : notSent);
		});
		void this.mutex.acquire('frame', signal).then(async (release) => {
			const onSent = () => {
				isSent = true;
			};
			result.resolve(await this.sendWhenReady(frame, timeoutMs, signal, onSent));
			release();
		});
		return await result.promise;
	}

	private async sendWhenReady(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
		onSent: () => void,
	): Promise<AckResult> {
		const isAborted = () => signal.aborted;
		// It can change while this waits.
		const isClosed = () => this.sessionIsClosed;
		for (;;) {
			const readiness = await this.ready(signal);
			if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
			if (isClosed()) return { kind: 'not_sent', readiness: this.sessionClosed() };
			if (isAborted()) return { kind: 'not_sent', readiness: this.unavailable() };
			const { socket } = this;
			if (socket === null) continue;
			// The service may close the socket with its token, and the outcome of the frame would be unknown.
			if (this.token === socket.token && this.mayExpire(socket.token, timeoutMs)) {
				await this.mintAhead();
			}
			if (isAborted() || isClosed()) continue;
			if (this.token !== socket.token) socket.close('renewed');
			const result = await this.write(socket, frame, timeoutMs, signal, onSent);
			if (result === null) await socket.ended;
			else return result;
		}
	}

	/** Sends the frame and waits for its ack. Null if the socket is closing. If no ack comes, the socket is closed. */
	private async write(
		socket: Socket,
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
		onSent: () => void,
	): Promise<AckResult | null> {
		const { clock } = this.options;
		const isRepeat = this.unconfirmed.hasAnother(frame);
		const sent = this.unconfirmed.add(frame, clock.elapsed());
		const settled = deferred<AckResult>();
		// Set before sending, because a socket may respond synchronously.
		this.flight = { frame, settle: settled.resolve };
		if (!socket.send(frame.text)) {
			this.flight = null;
			this.unconfirmed.remove(sent);
			return null;
		}
		onSent();
		const isOver = new AbortController();
		void socket.ended.then(() => settled.resolve({ kind: 'lost' }));
		void pause(clock, timeoutMs, isOver.signal).then(() => settled.resolve({ kind: 'no_ack' }));
		const result = await settled.promise;
		isOver.abort(DONE);
		this.flight = null;
		if (result.kind === 'no_ack') socket.close('no_ack');
		if (result.kind !== 'ack') return this.sessionIsClosed ? { kind: 'session_closed' } : result;
		sent.isAcknowledged = true;
		if (!signal.aborted) this.unconfirmed.remove(sent);
		return { ...result, isRepeat };
	}

	// Receiving.

	private receive(frame: unknown, socket: Socket): void {
		if (this.signal.aborted) return;
		const isText = typeof frame === 'string' && !isTooLargeFrame(frame);
		const received = parseFrame(isText ? this.redact(frame) : frame);
		if (received.kind === 'ignored') {
			this.events.ignore(received.why, frame);
		} else if (received.kind === 'ack') {
			this.receiveAck(received.ack);
		} else {
			this.events.deliver(received.event, !socket.isSettled);
			if (received.event.type === 'session_closed') void this.endClosedSession();
		}
	}

	private receiveAck(ack: Ack): void {
		const { flight } = this;
		const now = this.options.clock.elapsed();
		const match = flight === null ? 'another' : this.unconfirmed.match(ack, flight.frame, now);
		if (match === 'own') flight?.settle({ kind: 'ack', ack, isRepeat: false });
		if (match === 'unclear') flight?.settle({ kind: 'unmatched' });
		if (match === 'another') this.events.count('unexpected_ack');
	}

	// Ending.

	/** An agent can close the session during its last turn, whose ack may still come. */
	private async endClosedSession(): Promise<void> {
		if (this.sessionIsClosed) return;
		this.sessionIsClosed = true;
		do {
			await pause(this.options.clock, SESSION_CLOSED_LINGER_MS, this.signal);
		} while (this.flight !== null && !this.isStopped());
		this.socket?.close('session_closed');
	}

	private end(ending: ChatEnded): void {
		this.ending = ending;
		this.warn(ending.message, ending.originalMessage ?? '');
		this.stop.abort(DONE);
		this.options.onEnded?.(ending);
	}

	private unavailable(): NotReady {
		return this.ending === null ? { kind: 'closed_by_us' } : { kind: 'ended', ending: this.ending };
	}

	private sessionClosed(): NotReady {
		const end: SocketEnd = { cause: 'session_closed', code: null, reason: '', openForMs: 0 };
		const attempt = { kind: 'socket', end, claimed: false } as const;
		return { kind: 'ended', ending: this.describe('session_closed', attempt) };
	}

	/** For reads after an `await`, which TypeScript would otherwise assume to have no effect. */
	private isStopped(): boolean {
		return this.signal.aborted;
	}

	private describe(why: EndingKind, attempt: AttemptEnd): ChatEnded {
		return describeEnding(why, attempt, this.redact(serviceReason(attempt)));
	}

	private logRetry({ originalMessage = '' }: ChatEnded): void {
		const { sessionId, log, clock } = this.options;
		const waitMs = Math.max(0, this.dueAt - clock.elapsed());
		log.info('Reconnecting to the chat session', { sessionId, waitMs, originalMessage });
	}

	private warn(message: string, originalMessage: string): void {
		this.options.log.warn(message, { sessionId: this.options.sessionId, originalMessage });
	}

	/** A text of the service without the API token and the session's WebSocket tokens. */
	private redact(text: string): string {
		return [...this.issued].reduce(withoutSecret, this.options.hideApiToken(text));
	}
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
class Socket {
	/** Called with each frame as received, text or binary. */
	onFrame: (frame: unknown) => void = () => {};

	/** Whether it has been open long enough to be accepted, and for the service to have replayed its recent events. */
	isSettled = false;

	private readonly openedDeferred: Deferred<void> = deferred();
	private readonly endedDeferred: Deferred<SocketEnd> = deferred();
	private readonly endedSignal = new AbortController();
	private readonly connected = new AbortController();
	private socket: WebSocketLike | null = null;
	private openedAt: number | null = null;
	private closeCause: CloseCause | null = null;

	constructor(
		url: string,
		readonly token: MintedToken,
		private readonly options: Pick<ConnectionOptions, 'openSocket' | 'clock'>,
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

	/** @returns whether the socket was open and accepted the text. If false, nothing was sent. */
	send(text: string): boolean {
		if (this.closeCause !== null || this.socket?.readyState !== OPEN) return false;
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
		this.isSettled = false;
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
			this.connected.abort(DONE);
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
		const openForMs = this.openedAt === null ? 0 : this.options.clock.elapsed() - this.openedAt;
		this.endedSignal.abort(DONE);
		this.openedDeferred.resolve();
		this.endedDeferred.resolve({ cause, code, reason, openForMs });
	}
}
