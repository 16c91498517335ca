import { withoutSecret } from '../api/secrets';
import {
	type Clock,
	deferred,
	type Deferred,
	DONE,
	pause,
	settledOrTimeout,
	whenAborted,
} from '../clock';
import { KeyedMutex } from '../keyedMutex';
import { type OutgoingFrame, UnconfirmedFrames } from './acks';
import { EventDispatcher, type Log, type OnEvent, type StopReason } from './eventDispatcher';
import { type Ack, parseFrame } from './frames';
import {
	type AttemptEnd,
	ChatEnded,
	describeEnding,
	mintFailureReason,
	ReconnectPolicy,
	type Retry,
	serviceReason,
} from './reconnectPolicy';
import { Socket, type WebSocketLike } from './socket';
import { socketUrl } from './socketUrl';
import { type MintedToken, type MintResult, TOKEN_RETRY_MS, withRenewal } from './token';

/**
 * A socket counts as connected after it has been open for this long, because a rejection (4401, 1008) arrives only after
 * it opens, and replayed events arrive first.
 */
export const SETTLE_MS = 500;

/** How long to accept events after `session_closed`. */
export const SESSION_CLOSED_LINGER_MS = 2_000;

/** Tokens to hide in texts of the service. All but the newest few have expired. */
const MAX_ISSUED = 10;

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
	/** Called when an attempt to connect failed or its socket has ended, and another attempt follows. */
	onFailed?: (ending: ChatEnded, retry: Retry) => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

export type Readiness =
	| { kind: 'open' }
	| { kind: 'ended'; ending: ChatEnded }
	| { kind: 'closed_by_us' };

/** Why a session isn't connected. */
export type NotReady = Exclude<Readiness, { kind: 'open' }>;

/** A signal is aborted with a `ChatEnded` if no connection is possible. */
function notReady({ reason }: AbortSignal): NotReady {
	const cause: unknown = reason;
	return cause instanceof ChatEnded ? { kind: 'ended', ending: cause } : { kind: 'closed_by_us' };
}

export type AckResult =
	| { kind: 'ack'; ack: Ack }
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

	private token: MintedToken | null = null;
	/** The newest tokens, also of earlier sockets. */
	private issued: string[] = [];

	private socket: Socket | null = null;
	private becameReady: Deferred<void> = deferred();
	private sessionIsClosed = false;
	/** The frame that waits for its ack. */
	private flight: { frame: OutgoingFrame; result: Deferred<AckResult> } | null = null;

	/** Ends the pause before the next attempt. */
	private wake = new AbortController();
	private mayClaim = true;
	private failure: ChatEnded | null = null;

	constructor(private readonly options: ConnectionOptions) {
		this.policy = new ReconnectPolicy(options.random);
		this.events = new EventDispatcher(options.sessionId, options.log);
		this.unconfirmed = options.unconfirmed ?? new UnconfirmedFrames();
	}

	start(): this {
		void this.run();
		return this;
	}

	/** Ends the connection. Resolves when the socket has ended. No callback follows. */
	async close(): Promise<void> {
		const reason: StopReason = 'stopped';
		this.stop.abort(reason);
		this.socket?.close('stopped');
		await this.socket?.ended;
	}

	/** Aborted when the connection has ended for good, with a `ChatEnded`, or is closed, with a `StopReason`. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** Whether the session is connected now, and not closed. */
	get isConnected(): boolean {
		const { socket } = this;
		return socket?.isSettled === true && !socket.signal.aborted && !this.sessionIsClosed;
	}

	/** Why the latest attempt failed, while the connection retries. Null if the session is connected or it's the first attempt. */
	get lastFailure(): ChatEnded | null {
		return this.failure;
	}

	/** See `EventDispatcher`. */
	subscribe(listener: OnEvent): () => void {
		return this.events.subscribe(listener);
	}

	/** For a new user: if the session isn't connected, tries again now, with `claim=1` if a user allows it. */
	retryNow(): void {
		if (this.isConnected) return;
		this.mayClaim = true;
		this.policy.restart();
		this.wake.abort(DONE);
	}

	/**
	 * Resolves when the session is connected, or when the signal is aborted.
	 *
	 * @param signal that of a user, aborted no later than that of the connection and with the same reason
	 */
	async ready(signal: AbortSignal = this.signal): Promise<Readiness> {
		while (!signal.aborted) {
			if (this.isConnected) return { kind: 'open' };
			await Promise.race([this.becameReady.promise, whenAborted(signal)]);
		}
		return notReady(signal);
	}

	// Connecting, one attempt after another.

	private async run(): Promise<void> {
		const { sessionId, clock, log, onFailed } = this.options;
		while (!this.signal.aborted) {
			const attempt = await this.attempt();
			if (attempt === null || this.isStopped()) return;
			if (attempt.kind === 'socket' && attempt.end.cause === 'renewed') {
				// The next token is at hand.
				this.policy.wasHealthy();
				continue;
			}
			const step = this.policy.next(attempt);
			const ending = describeEnding(step.why, attempt, this.redact(serviceReason(attempt)));
			if (step.kind === 'end') {
				this.end(ending);
				return;
			}
			if (step.token === 'new') this.token = null;
			this.wake = new AbortController();
			const woken = AbortSignal.any([this.signal, this.wake.signal]);
			this.failure = ending;
			const { originalMessage = '' } = ending;
			const details = { sessionId, waitMs: step.afterMs, originalMessage };
			log.info('Reconnecting to the chat session', details);
			onFailed?.(ending, step);
			await pause(clock, step.afterMs, woken);
		}
	}

	/** Connects once: from the token to the end of the socket. Null if the connection was closed before. */
	private async attempt(): Promise<AttemptEnd | null> {
		const { baseUrl, clientId, openSocket, clock, mayDisconnectOther } = this.options;
		if (this.token === null || clock.elapsed() >= this.token.renewAt) {
			const result = await this.mint();
			if (result.kind !== 'token') return { kind: 'mint', result };
		}
		const { token } = this;
		if (token === null || this.isStopped()) return null;
		const claim = this.mayClaim && mayDisconnectOther();
		const url = socketUrl({ token, baseUrl, clientId, claim });
		if (url === null) return { kind: 'url', wsUrl: token.ws_url };
		const socket = new Socket(url, { openSocket, clock });
		socket.onFrame = (frame) => this.receive(frame, socket);
		this.socket = socket;
		void this.settle(socket).then(async () => await this.renew(socket, token));
		const end = await socket.ended;
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause }, claimed: claim };
	}

	private async mint(): Promise<MintResult> {
		const { clock, mintToken, random } = this.options;
		const requestedAt = clock.elapsed();
		const requestedOn = clock.now();
		const result = await mintToken();
		if (result.kind === 'token') {
			this.token = withRenewal(result.token, requestedAt, requestedOn, random());
			this.issued = [...this.issued, result.token.token].slice(-MAX_ISSUED);
		}
		return result;
	}

	/** Marks a socket as connected, unless it ends at once. */
	private async settle(socket: Socket): Promise<void> {
		await socket.opened;
		if (!(await pause(this.options.clock, SETTLE_MS, socket.signal))) return;
		socket.isSettled = true;
		// From now on it reconnects without a claim, so that two clients don't displace each other forever.
		this.mayClaim = false;
		this.failure = null;
		this.becameReady.resolve();
		this.becameReady = deferred();
	}

	/** Replaces a socket before its token expires, when no frame waits for its ack. */
	private async renew(socket: Socket, { renewAt }: MintedToken): Promise<void> {
		const { sessionId, clock, log } = this.options;
		let waitMs = renewAt - clock.elapsed();
		while (await pause(clock, waitMs, socket.signal)) {
			const minted = await this.mint();
			if (minted.kind === 'session_closed') {
				await this.endClosedSession();
			} else if (minted.kind === 'token') {
				const release = await this.mutex.acquire('frame', socket.signal);
				socket.close('renewed');
				release();
			} else {
				const originalMessage = mintFailureReason(minted.error);
				const details = { sessionId, originalMessage };
				log.warn("The token of a chat session couldn't be renewed yet", details);
				waitMs = TOKEN_RETRY_MS;
			}
		}
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
		const release = await this.mutex.acquire('frame', signal);
		for (;;) {
			const readiness = await this.ready(signal);
			if (readiness.kind !== 'open') {
				release();
				return { kind: 'not_sent', readiness };
			}
			const { socket } = this;
			const result = deferred<AckResult>();
			// Set before sending, because a socket may respond synchronously.
			this.flight = { frame, result };
			if (socket?.send(frame.text) === true) {
				const acked = this.untilAck(socket, frame, result, timeoutMs).finally(release);
				const aborted = whenAborted(signal).then((): AckResult => ({ kind: 'aborted' }));
				return await Promise.race([acked, aborted]);
			}
			this.flight = null;
			await socket?.ended;
		}
	}

	/** If no ack comes, the socket is closed, so that no ack on it is about an earlier frame. */
	private async untilAck(
		socket: Socket,
		frame: OutgoingFrame,
		{ promise, resolve }: Deferred<AckResult>,
		timeoutMs: number,
	): Promise<AckResult> {
		const { clock } = this.options;
		const confirm = this.unconfirmed.add(frame, clock.elapsed());
		void socket.ended.then(() => resolve({ kind: 'lost' }));
		await settledOrTimeout(clock, timeoutMs, promise);
		// Without effect if there's a result.
		resolve({ kind: 'no_ack' });
		const result = await promise;
		this.flight = null;
		if (result.kind === 'ack') {
			confirm();
			return result;
		}
		if (result.kind === 'no_ack') socket.close('no_ack');
		return this.sessionIsClosed ? { kind: 'session_closed' } : result;
	}

	// Receiving.

	private receive(frame: unknown, socket: Socket): void {
		if (this.signal.aborted) return;
		const received = parseFrame(typeof frame === 'string' ? this.redact(frame) : frame);
		if (received.kind === 'ignored') {
			this.events.ignore(received.why);
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
		if (match === 'own') flight?.result.resolve({ kind: 'ack', ack });
		if (match === 'unclear') flight?.result.resolve({ kind: 'unmatched' });
		if (match === 'another') this.events.ignore('unexpected_ack');
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
		const { sessionId, log, onEnded } = this.options;
		log.warn(ending.message, { sessionId, originalMessage: ending.originalMessage ?? '' });
		this.stop.abort(ending);
		onEnded?.(ending);
	}

	/** For reads after an `await`, which TypeScript would otherwise assume to have no effect. */
	private isStopped(): boolean {
		return this.signal.aborted;
	}

	/** A text of the service without the API token and the session's WebSocket tokens. */
	private redact(text: string): string {
		return [...this.issued].reduce(withoutSecret, this.options.hideApiToken(text));
	}
}
