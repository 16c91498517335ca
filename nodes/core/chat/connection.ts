import { isSameId } from '../service/envelope';
import { isRejection } from '../service/errors';
import { withoutSecret } from '../service/secrets';
import { BoundedMap } from '../values/boundedMap';
import {
	backoffMs,
	type Clock,
	deferred,
	type Deferred,
	DONE,
	pause,
	settledOrTimeout,
	whenAborted,
} from '../values/clock';
import { KeyedMutex } from '../values/keyedMutex';
import { messageOf } from '../values/values';
import { ConnectionUser, type UserOptions } from './connectionUser';
import {
	type Ack,
	type ChatEvent,
	type ClientFrame,
	idText,
	type OutgoingFrame,
	outgoingFrame,
	OWN_PREFIX,
	parseFrame,
} from './frames';
import {
	type AttemptEnd,
	CHAT_BACKOFF,
	ChatEnded,
	describeEnding,
	ReconnectPolicy,
	whatWasSaid,
} from './reconnectPolicy';
import { Socket, type WebSocketLike } from './socket';
import { type MintedToken, renewAfterMs, socketUrl, TOKEN_RETRY_MS } from './token';

/**
 * A socket counts as connected after it has been open for this long, because a rejection (4401, 1008) arrives only after
 * it opens, and replayed events arrive first.
 */
const SETTLE_MS = 500;

/** How long to accept events after `session_closed`. */
export const SESSION_CLOSED_LINGER_MS = 2_000;

/**
 * How long the connection stays open after its last action, so that the next item or execution can reuse it. Shorter than
 * the first reconnect, so that an action in another process gets through on its first retry.
 */
const UNUSED_LINGER_MS = 500;

/** Tokens to hide in texts of the service. All but the newest few have expired. */
const MAX_ISSUED = 10;

/** Events to remember, because the service may replay them. */
const MAX_REMEMBERED = 5_000;

/** The ack of a turn that completes inline arrives only after the agent's reply. */
export const ACK_TIMEOUT_MS = 120_000;

/** After `busy`, a message may be sent again. */
const MAX_BUSY_RETRIES = 5;

/** Resends of a frame without an ack. Only frames with an idempotency key are sent again. */
const MAX_RESENDS = 2;

interface Log {
	debug(message: string, details?: Record<string, unknown>): void;
	info(message: string, details?: Record<string, unknown>): void;
	warn(message: string, details?: Record<string, unknown>): void;
}

/** What is the same for all users of a connection. */
export interface ConnectionOptions {
	sessionId: string;
	/** From the credential. Decides whether unencrypted `ws:` is acceptable. */
	baseUrl: string;
	/** Hides the API token of the account in a text. */
	hideApiToken: (text: string) => string;
	log: Log;
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	random: () => number;
	/** The `client_id` of the WebSocket. */
	clientId: string;
	/** Resolves when the previous connection to the session has closed. */
	admitted: Promise<unknown>;
	/** Nobody may join anymore. `closed` resolves when the socket, if there is one, has ended. */
	onClosing: (closed?: Promise<unknown>) => void;
}

/** What became of a frame. */
export type SendOutcome =
	/** `isRepeat`: an earlier attempt got no ack, so only an accepting ack settles the outcome. */
	| { kind: 'ack'; ack: Ack; isRepeat: boolean }
	/** Sent, but not confirmed. `hasKey`: it has an idempotency key, so sending again is safe. */
	| { kind: 'unknown'; hasKey: boolean }
	/** `ending`: why no connection is possible. Null if the sender stopped. */
	| { kind: 'not_sent'; ending: ChatEnded | null };

/**
 * Keeps one session connected for its users: token, socket, acks, events, and reconnects, until the session is closed, the
 * service rejects the connection for good, or the last user has left. One loop (`run`) owns the life cycle. No method throws
 * or rejects.
 *
 * The protocol has no ping, so a connection that broke without notice is found only by replacing it. This happens before
 * the token expires: the next token is minted first, then the socket is closed and opened again at once, with the same
 * `client_id`. The document doesn't allow a second socket beside the first. The service replays what happens in between.
 */
export class ChatConnection {
	/** Also actions that left a moment ago. */
	private readonly users = new Set<ConnectionUser>();
	private readonly stop = new AbortController();
	private readonly policy: ReconnectPolicy;

	private token: MintedToken | null = null;
	/** The newest tokens, also of earlier sockets. */
	private issued: string[] = [];
	private socket: Socket | null = null;
	private clientId: string;
	private becameReady: Deferred<void> = deferred();
	private sessionIsClosed = false;
	/** Ends the pause before the next attempt. */
	private wake = new AbortController();
	private mayClaim = true;

	/** `send` for all frames of a message, `frame` until the ack of one. */
	private readonly mutex = new KeyedMutex();
	/** The frame that waits for its ack. */
	private flight: { frame: OutgoingFrame; ack: Deferred<Ack | null> } | null = null;
	/** The IDs of sent frames that got no ack. */
	private readonly unconfirmed = new Set<string>();

	/** The number of events so far, replays included. */
	private eventCount = 0;
	/** The number that each of the latest events had when it arrived last, by its ID. */
	private readonly arrivals = new BoundedMap<number>(MAX_REMEMBERED);

	constructor(private readonly options: ConnectionOptions) {
		this.clientId = options.clientId;
		this.policy = new ReconnectPolicy(options.random);
		void this.run();
	}

	// Users.

	/**
	 * Adds a user. If the session isn't connected, tries again now, with `claim=1` if a user allows it.
	 *
	 * @param clientId for a trigger. An action may have opened the connection before the trigger was published.
	 */
	join(options: UserOptions, clientId: string): ConnectionUser {
		const isAction = options.usedBy === 'action';
		const missed = isAction ? this.takeMissed() : [];
		const user = new ConnectionUser(this, options, { missed, joinedAt: this.eventCount });
		this.users.add(user);
		this.retryNow();
		if (!isAction) this.changeClientId(clientId);
		return user;
	}

	/** Called by a user that leaves. The last one closes the connection. */
	leave(user: ConnectionUser): void {
		if (user.options.usedBy === 'action') {
			void this.linger(user);
			return;
		}
		// A trigger that is published again gets the events in between by the replay of a new socket. So actions that left
		// must not keep this one open.
		if (this.remaining.length === 0) this.takeMissed(user);
		this.remove(user);
	}

	/** Until it's removed, the user collects events for the next action. */
	private async linger(user: ConnectionUser): Promise<void> {
		this.takeMissed(user);
		await pause(this.options.clock, UNUSED_LINGER_MS, this.signal);
		this.remove(user);
	}

	/** @returns what arrived since an action left */
	private takeMissed(except?: ConnectionUser): ConnectionUser['missed'] {
		const left = [...this.users].filter((user) => user.hasLeft && user !== except);
		for (const user of left) this.users.delete(user);
		return left.flatMap(({ missed }) => missed);
	}

	/** The users that haven't left. */
	private get remaining(): ConnectionUser[] {
		return [...this.users].filter(({ hasLeft }) => !hasLeft);
	}

	private remove(user: ConnectionUser): void {
		if (!this.users.delete(user) || this.users.size > 0 || this.signal.aborted) return;
		this.stop.abort(DONE);
		this.socket?.close('stopped');
		this.options.onClosing(this.socket?.ended);
	}

	/**
	 * The user whose credential the connection uses: a trigger outlives an execution. The requests of an action that left may
	 * be canceled.
	 */
	private leading(): ConnectionUser | undefined {
		const { remaining } = this;
		const trigger = remaining.find(({ options }) => options.usedBy === 'trigger');
		return trigger ?? remaining.at(-1) ?? [...this.users].at(-1);
	}

	/** Aborted when the connection has ended for good, with a `ChatEnded`, or is closed. */
	private get signal(): AbortSignal {
		return this.stop.signal;
	}

	// Connecting, one attempt after another.

	/** Whether the session is connected now, and not closed. */
	get isConnected(): boolean {
		const { socket } = this;
		return socket?.isSettled === true && !socket.signal.aborted && !this.sessionIsClosed;
	}

	/** Resolves when the session is connected, or with false when the signal of the user is aborted. */
	async ready(signal: AbortSignal): Promise<boolean> {
		while (!signal.aborted) {
			if (this.isConnected) return true;
			await Promise.race([this.becameReady.promise, whenAborted(signal)]);
		}
		return false;
	}

	retryNow(): void {
		if (this.isConnected) return;
		this.mayClaim = true;
		this.policy.restart();
		this.wake.abort(DONE);
	}

	private changeClientId(clientId: string): void {
		if (this.clientId === clientId) return;
		this.clientId = clientId;
		if (this.socket !== null) void this.replace(this.socket);
	}

	private async run(): Promise<void> {
		const { sessionId, clock, log } = this.options;
		await this.options.admitted;
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
			for (const user of [...this.users]) user.failed(ending, step, clock.elapsed());
			await pause(clock, step.afterMs, woken);
		}
	}

	/** Connects once: from the token to the end of the socket. Null if the connection was closed before. */
	private async attempt(): Promise<AttemptEnd | null> {
		const { baseUrl, openSocket, clock } = this.options;
		let socket: Socket;
		try {
			const isDue = this.token === null || clock.elapsed() >= this.token.renewAt;
			const token = isDue ? await this.mint() : this.token;
			if (token === null || this.isStopped()) return null;
			const claim = this.mayClaim && [...this.users].some((user) => user.mayDisconnectOther);
			const url = socketUrl({ token, baseUrl, clientId: this.clientId, claim });
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

	/**
	 * @returns null if the connection is closed
	 * @throws what the request throws
	 */
	private async mint(): Promise<MintedToken | null> {
		const { clock, random } = this.options;
		const user = this.leading();
		if (user === undefined) return null;
		const requestedAt = clock.elapsed();
		// Repeating the request is safe, because customers don't notice it.
		const issued = await user.options.mintToken();
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

	// Sending, one message after another, and one frame in flight.

	/**
	 * Sends a frame as soon as the session is connected, and waits for its ack. Sends it again only if that is safe: after
	 * `busy`, and after a missing ack if it has an idempotency key. Another message in between would change the order of the
	 * conversation, so it waits.
	 *
	 * @param signal of the user
	 * @param ackTimeoutMs maximum wait for the ack of one attempt
	 */
	async send(
		frame: ClientFrame,
		signal: AbortSignal,
		ackTimeoutMs = ACK_TIMEOUT_MS,
	): Promise<SendOutcome> {
		const { clock, random } = this.options;
		const outgoing = outgoingFrame(frame);
		const hasKey = frame.idempotency_key !== undefined;
		let busy = 0;
		let unconfirmed = 0;
		const release = await this.mutex.acquire('send', signal);
		try {
			for (;;) {
				const ack = await this.tryToSend(outgoing, signal, ackTimeoutMs);
				if (ack === 'not_sent' && unconfirmed === 0) {
					return { kind: 'not_sent', ending: endingOf(signal) };
				}
				if (ack === 'not_sent') return { kind: 'unknown', hasKey };
				if (ack === null) {
					if (!hasKey || unconfirmed >= MAX_RESENDS) return { kind: 'unknown', hasKey };
					unconfirmed += 1;
				} else {
					if (ack.state !== 'busy' || busy >= MAX_BUSY_RETRIES) {
						return { kind: 'ack', ack, isRepeat: unconfirmed > 0 };
					}
					busy += 1;
					await pause(clock, backoffMs(CHAT_BACKOFF, busy, random), signal);
				}
			}
		} finally {
			release();
		}
	}

	/**
	 * If the signal is aborted, it returns immediately, but the next frame still waits for the ack.
	 *
	 * @returns null if it was sent and not confirmed
	 */
	private async tryToSend(
		frame: OutgoingFrame,
		signal: AbortSignal,
		timeoutMs: number,
	): Promise<Ack | null | 'not_sent'> {
		const release = await this.mutex.acquire('frame', signal);
		while (await this.ready(signal)) {
			const { socket } = this;
			const ack = deferred<Ack | null>();
			// Set before sending, because a socket may respond synchronously.
			this.flight = { frame, ack };
			if (socket?.send(frame.text) === true) {
				const acked = this.untilAck(socket, frame, ack, timeoutMs).finally(release);
				return await Promise.race([acked, whenAborted(signal).then(() => null)]);
			}
			this.flight = null;
			await socket?.ended;
		}
		release();
		return 'not_sent';
	}

	/** If no ack comes, the socket is closed, so that no ack on it is about an earlier frame. */
	private async untilAck(
		socket: Socket,
		{ messageId }: OutgoingFrame,
		{ promise, resolve }: Deferred<Ack | null>,
		timeoutMs: number,
	): Promise<Ack | null> {
		void socket.ended.then(() => resolve(null));
		await settledOrTimeout(this.options.clock, timeoutMs, promise);
		// Without effect if there's an ack.
		resolve(null);
		const ack = await promise;
		this.flight = null;
		if (ack === null) {
			this.unconfirmed.add(messageId);
			socket.close('no_ack');
		} else {
			this.unconfirmed.delete(messageId);
		}
		return ack;
	}

	// Receiving.

	private receive(frame: unknown, socket: Socket): void {
		const received = parseFrame(typeof frame === 'string' ? this.redact(frame) : frame);
		if (received === null) {
			this.ignored("a frame that can't be read");
		} else if (!isSameId(received.sessionId, this.options.sessionId)) {
			this.ignored('a frame of another session');
		} else if (received.kind === 'ack') {
			this.receiveAck(received.ack);
		} else {
			this.receiveEvent(received.event, !socket.isSettled);
			if (received.event.type === 'session_closed') void this.endClosedSession(socket);
		}
	}

	private receiveAck(ack: Ack): void {
		const { flight } = this;
		if (flight === null || !this.isAckOf(flight.frame, ack)) {
			this.ignored('an ack that nobody waits for');
		} else {
			flight.ack.resolve(ack);
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

	/**
	 * Each user gets an event once, whichever socket it came on. A user also gets replayed events that arrived before it
	 * joined, because a trigger that is published again missed them.
	 */
	private receiveEvent(event: ChatEvent, mayBeReplay: boolean): void {
		const { sessionId, log } = this.options;
		const { eventId } = event;
		const lastArrival = eventId === null ? undefined : this.arrivals.get(eventId);
		this.eventCount += 1;
		if (eventId !== null) this.arrivals.set(eventId, this.eventCount);
		const replay = lastArrival !== undefined ? 'certain' : mayBeReplay ? 'possible' : 'no';
		for (const user of [...this.users]) {
			if (lastArrival !== undefined && lastArrival > user.joinedAt) continue;
			try {
				user.receive(event, replay);
			} catch (cause) {
				log.warn("A chat event couldn't be delivered", { sessionId, eventId, cause });
			}
		}
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
		const { sessionId, log, onClosing } = this.options;
		log.warn(ending.message, { sessionId, originalMessage: ending.originalMessage ?? '' });
		this.stop.abort(ending);
		onClosing();
		for (const user of [...this.users]) user.end(ending);
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

/** Why no connection is possible, by the signal of a user. Null if the user stopped. */
export function endingOf(signal: AbortSignal): ChatEnded | null {
	const reason: unknown = signal.reason;
	return reason instanceof ChatEnded ? reason : null;
}
