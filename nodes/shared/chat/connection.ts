import { isSameId } from '../api/envelope';
import { isRejection } from '../api/errors';
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
import { messageOf } from '../values';
import { EventDispatcher, type Log, type OnEvent } from './eventDispatcher';
import { type Ack, idText, type OutgoingFrame, OWN_PREFIX, parseFrame } from './frames';
import {
	type AttemptEnd,
	ChatEnded,
	describeEnding,
	ReconnectPolicy,
	type Retry,
	whatWasSaid,
} from './reconnectPolicy';
import { Socket, type WebSocketLike } from './socket';
import { type MintedToken, renewAfterMs, socketUrl, TOKEN_RETRY_MS, type WsToken } from './token';

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
	/** Repeating the request is safe, because customers don't notice it. */
	mintToken: () => Promise<WsToken>;
	/** Hides the API token of the account in a text. */
	hideApiToken: (text: string) => string;
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	random: () => number;
	log: Log;
	/** Called when an attempt to connect failed or its socket has ended, and another attempt follows. */
	onFailed?: (ending: ChatEnded, retry: Retry) => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
}

export type SendResult =
	| { kind: 'ack'; ack: Ack }
	/** Sent, but not confirmed. */
	| { kind: 'unknown' }
	/** `ending`: why no connection is possible. Null if the sender stopped. */
	| { kind: 'not_sent'; ending: ChatEnded | null };

const UNKNOWN: SendResult = { kind: 'unknown' };

/** Why no connection is possible, for the signal of a connection or its user. Null if the user stopped. */
export function endingOf(signal: AbortSignal): ChatEnded | null {
	const reason: unknown = signal.reason;
	return reason instanceof ChatEnded ? reason : null;
}

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
	/** The IDs of sent frames that got no ack. */
	private readonly unconfirmed = new Set<string>();

	private token: MintedToken | null = null;
	/** The newest tokens, also of earlier sockets. */
	private issued: string[] = [];

	private socket: Socket | null = null;
	private clientId: string;
	private becameReady: Deferred<void> = deferred();
	private sessionIsClosed = false;
	/** The frame that waits for its ack. */
	private flight: { frame: OutgoingFrame; result: Deferred<SendResult> } | null = null;

	/** Ends the pause before the next attempt. */
	private wake = new AbortController();
	private mayClaim = true;

	constructor(private readonly options: ConnectionOptions) {
		this.clientId = options.clientId;
		this.policy = new ReconnectPolicy(options.random);
		this.events = new EventDispatcher(options.sessionId, options.log);
	}

	start(): this {
		void this.run();
		return this;
	}

	/** Ends the connection. Resolves when the socket has ended. No callback follows. */
	async close(): Promise<void> {
		this.stop.abort(DONE);
		this.socket?.close('stopped');
		await this.socket?.ended;
	}

	/** Aborted when the connection has ended for good, with a `ChatEnded`, or is closed. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** Whether the session is connected now, and not closed. */
	get isConnected(): boolean {
		const { socket } = this;
		return socket?.isSettled === true && !socket.signal.aborted && !this.sessionIsClosed;
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

	/** Changes the `client_id`, for which the session connects again. */
	changeClientId(clientId: string): void {
		if (this.clientId === clientId) return;
		this.clientId = clientId;
		if (this.socket !== null) void this.replace(this.socket);
	}

	/**
	 * Resolves when the session is connected, or with false when the signal is aborted.
	 *
	 * @param signal of the user, aborted no later than that of the connection and with the same reason
	 */
	async ready(signal: AbortSignal): Promise<boolean> {
		while (!signal.aborted) {
			if (this.isConnected) return true;
			await Promise.race([this.becameReady.promise, whenAborted(signal)]);
		}
		return false;
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
			const ending = describeEnding(step.why, attempt, (text) => this.redact(text));
			if (step.kind === 'end') {
				this.end(ending);
				return;
			}
			if (step.token === 'new') this.token = null;
			this.wake = new AbortController();
			const woken = AbortSignal.any([this.signal, this.wake.signal]);
			const { originalMessage = '' } = ending;
			const details = { sessionId, waitMs: step.afterMs, originalMessage };
			log.info('Reconnecting to the chat session', details);
			onFailed?.(ending, step);
			await pause(clock, step.afterMs, woken);
		}
	}

	/** Connects once: from the token to the end of the socket. Null if the connection was closed before. */
	private async attempt(): Promise<AttemptEnd | null> {
		const { baseUrl, openSocket, clock, mayDisconnectOther } = this.options;
		let socket: Socket;
		try {
			const isDue = this.token === null || clock.elapsed() >= this.token.renewAt;
			const token = isDue ? await this.mint() : this.token;
			if (token === null || this.isStopped()) return null;
			const claim = this.mayClaim && mayDisconnectOther();
			const { clientId } = this;
			const url = socketUrl({ token, baseUrl, clientId, claim });
			socket = new Socket(url, { openSocket, clock });
			socket.onFrame = (frame) => this.receive(frame, socket);
			this.socket = socket;
			void this.settle(socket).then(async () => await this.renew(socket, token));
		} catch (error) {
			return { kind: 'token', error };
		}
		const end = await socket.ended;
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause } };
	}

	/** @throws what `mintToken` throws */
	private async mint(): Promise<MintedToken> {
		const { clock, mintToken, random } = this.options;
		const requestedAt = clock.elapsed();
		const issued = await mintToken();
		const token = { ...issued, renewAt: requestedAt + renewAfterMs(random()) };
		this.token = token;
		this.issued = [...this.issued, token.token].slice(-MAX_ISSUED);
		return token;
	}

	/** Marks a socket as connected, unless it ends at once. */
	private async settle(socket: Socket): Promise<void> {
		await socket.opened;
		if (!(await pause(this.options.clock, SETTLE_MS, socket.signal))) return;
		socket.isSettled = true;
		// From now on it reconnects without a claim, so that two clients don't displace each other forever.
		this.mayClaim = false;
		this.becameReady.resolve();
		this.becameReady = deferred();
	}

	/** Replaces a socket before its token expires. */
	private async renew(socket: Socket, { renewAt }: MintedToken): Promise<void> {
		const { sessionId, clock, log } = this.options;
		let waitMs = renewAt - clock.elapsed();
		while (await pause(clock, waitMs, socket.signal)) {
			try {
				await this.mint();
				// No ack of an earlier socket arrives that late.
				this.unconfirmed.clear();
				await this.replace(socket);
			} catch (error) {
				waitMs = TOKEN_RETRY_MS;
				if (isRejection(error, 'session_closed')) {
					await this.endClosedSession(socket);
				} else {
					const { originalMessage = messageOf(error) } = whatWasSaid({ kind: 'token', error });
					const details = { sessionId, originalMessage };
					log.warn("The token of a chat session couldn't be renewed yet", details);
				}
			}
		}
	}

	/** Closes a socket when no frame waits for its ack. The next one follows at once. */
	private async replace(socket: Socket): Promise<void> {
		const release = await this.mutex.acquire('frame', socket.signal);
		socket.close('renewed');
		release();
	}

	// Sending: one frame in flight.

	/**
	 * Waits until no other send is in progress. A send may take several frames (`busy`, a missing ack), and another send in
	 * between would change the order of the conversation.
	 *
	 * @returns `release`, which must be called
	 */
	async acquireSend(signal: AbortSignal): Promise<() => void> {
		return await this.mutex.acquire('send', signal);
	}

	/**
	 * Sends one frame as soon as the session is connected, and waits for its ack. If `signal` is aborted, it returns
	 * immediately, but the next frame still waits for the ack. Call it after `acquireSend`.
	 */
	async sendWithAck(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
	): Promise<SendResult> {
		const release = await this.mutex.acquire('frame', signal);
		while (await this.ready(signal)) {
			const { socket } = this;
			const result = deferred<SendResult>();
			// Set before sending, because a socket may respond synchronously.
			this.flight = { frame, result };
			if (socket?.send(frame.text) === true) {
				const acked = this.untilAck(socket, frame, result, timeoutMs).finally(release);
				return await Promise.race([acked, whenAborted(signal).then(() => UNKNOWN)]);
			}
			this.flight = null;
			await socket?.ended;
		}
		release();
		return { kind: 'not_sent', ending: endingOf(signal) };
	}

	/** If no ack comes, the socket is closed, so that no ack on it is about an earlier frame. */
	private async untilAck(
		socket: Socket,
		frame: OutgoingFrame,
		{ promise, resolve }: Deferred<SendResult>,
		timeoutMs: number,
	): Promise<SendResult> {
		const { clock } = this.options;
		void socket.ended.then(() => resolve(UNKNOWN));
		await settledOrTimeout(clock, timeoutMs, promise);
		// Without effect if there's a result.
		resolve(UNKNOWN);
		const result = await promise;
		this.flight = null;
		if (result.kind === 'ack') {
			this.unconfirmed.delete(frame.messageId);
		} else {
			this.unconfirmed.add(frame.messageId);
			socket.close('no_ack');
		}
		return result;
	}

	// Receiving.

	private receive(frame: unknown, socket: Socket): void {
		if (this.signal.aborted) return;
		const received = parseFrame(typeof frame === 'string' ? this.redact(frame) : frame);
		if (received === null) {
			this.ignored("a frame that can't be read");
		} else if (!isSameId(received.sessionId, this.options.sessionId)) {
			this.ignored('a frame of another session');
		} else if (received.kind === 'ack') {
			this.receiveAck(received.ack);
		} else {
			this.events.deliver(received.event, !socket.isSettled);
			if (received.event.type === 'session_closed') void this.endClosedSession(socket);
		}
	}

	private receiveAck(ack: Ack): void {
		const { flight } = this;
		if (flight === null || !this.isAckOf(flight.frame, ack)) {
			this.ignored('an ack that nobody waits for');
		} else {
			flight.result.resolve({ kind: 'ack', ack });
		}
	}

	/**
	 * The document shows `message_id` only on the acks of some states, and doesn't say that a late ack can't arrive on the
	 * next socket. So an ack that doesn't name its frame counts only if no other frame waits for one.
	 */
	private isAckOf({ messageId }: OutgoingFrame, { payload }: Ack): boolean {
		const id = idText(payload.message_id);
		if (id === messageId) return true;
		const isOfAnother = id?.startsWith(OWN_PREFIX) === true;
		return !isOfAnother && [...this.unconfirmed].every((earlier) => earlier === messageId);
	}

	private ignored(what: string): void {
		const { sessionId, log } = this.options;
		log.debug(`The chat session ignored ${what}`, { sessionId });
	}

	// Ending.

	/** An agent can close the session during its last turn, whose ack may still come. */
	private async endClosedSession(socket: Socket): Promise<void> {
		if (this.sessionIsClosed) return;
		this.sessionIsClosed = true;
		do {
			await pause(this.options.clock, SESSION_CLOSED_LINGER_MS, this.signal);
		} while (this.flight !== null && !this.isStopped());
		socket.close('session_closed');
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
