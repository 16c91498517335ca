import { whenAborted, backoffMs, pause, type Clock } from '../clock';
import type { WsToken } from '../api/types';
import { socketUrl } from './socketUrl';
import { withoutSecret } from '../api/secrets';
import {
	type AttemptEnd,
	type EndingKind,
	type PolicyLimits,
	type PolicyNeeds,
	ReconnectPolicy,
	type ReconnectWait,
} from './reconnectPolicy';
import { type ChatEnded, describeEnding, serviceReason, mintFailureReason } from './endings';
import { type AckResult, AckWaiter, type NotReady, type Readiness } from './ackWaiter';
import { MIN_TOKEN_LIFE_MS, SocketRotation } from './socketRotation';
import { FrameSender } from './frameSender';
import { isTooLargeFrame, parseFrame } from './frames';
import {
	EventDispatcher,
	type Log,
	type OnEvent,
	type OnTooLarge,
	type StopReason,
} from './eventDispatcher';
import { type WebSocketLike, ManagedSocket } from './managedSocket';
import { RetryTimer } from './retryTimer';
import { CHAT_BACKOFF, ROTATE_EVERY_MS, SESSION_CLOSED_LINGER_MS, SLOW_POLL_MS } from './timings';
import { type OutgoingFrame, SentFrames } from './sentFrames';
import { type MintResult, TokenCache } from './token';

export interface ConnectionOptions {
	sessionId: string;
	/** From the credential. Decides whether unencrypted `ws:` is acceptable. */
	baseUrl: string;
	/** The `client_id` of the WebSocket. */
	clientId: string;
	/** Called for each decision. */
	needs: () => PolicyNeeds;
	/** See `mintToken` in `token.ts`. */
	mintToken: () => Promise<MintResult>;
	/** Hides the API token of the account in a text of the service. */
	hideApiToken: (text: string) => string;
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	random: () => number;
	log: Log;
	/** Shared with earlier connections of the session. */
	sent?: SentFrames;
	/** Called when an attempt to connect failed and another one follows. */
	onAttemptFailed?: () => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
	/** Time between rotations. Default: `ROTATE_EVERY_MS`. */
	rotateEveryMs?: number;
}

/**
 * Keeps one session connected: token, socket, events, and reconnects, until the session is closed, the service rejects
 * the connection for good, or `close()`. One loop (`run`) owns the life cycle. No method throws or rejects.
 */
export class ChatConnection {
	private readonly stop = new AbortController();
	private readonly tokens: TokenCache;
	private readonly policy: ReconnectPolicy;
	private readonly events: EventDispatcher;
	private readonly ackWaiter: AckWaiter;
	private readonly rotation: SocketRotation;
	private readonly sender: FrameSender;
	private started = false;
	private attemptCount = 0;
	private lastAttempt: AttemptEnd | null = null;
	private readonly retryTimer: RetryTimer;
	private sessionIsClosed = false;
	/** Turns in progress. */
	private readonly kept = new Set<symbol>();
	private ending: ChatEnded | null = null;

	constructor(private readonly options: ConnectionOptions) {
		this.tokens = new TokenCache(options.mintToken, options.clock, options.random);
		this.policy = new ReconnectPolicy(options.needs);
		this.retryTimer = new RetryTimer(options.clock);
		this.ackWaiter = new AckWaiter(options.clock, options.sent ?? new SentFrames());
		this.events = new EventDispatcher(options.sessionId, options.log);
		this.rotation = new SocketRotation({
			clock: options.clock,
			random: options.random,
			tokens: this.tokens,
			openAnother: (token) => this.openAnother(token),
			rotateEveryMs: options.rotateEveryMs ?? ROTATE_EVERY_MS,
			isBusy: () => this.ackWaiter.isWaiting,
			onSessionClosed: () => void this.endClosedSession(),
			onMintFailed: (error) => {
				this.warn("The token of a chat session couldn't be renewed yet", mintFailureReason(error));
			},
			onRotationFailed: (failure, waitMs) => {
				this.logAttempt(
					"The connection to a chat session couldn't be renewed yet",
					failure,
					waitMs,
				);
			},
		});
		this.sender = new FrameSender({
			clock: options.clock,
			rotation: this.rotation,
			ackWaiter: this.ackWaiter,
			ready: async (signal) => await this.ready(signal),
			unavailable: () => this.unavailable(),
			sessionClosed: () => this.sessionClosed(),
			describe: (why, attempt) => this.describe(why, attempt),
		});
	}

	/** Aborted when the connection has ended for good or is closed. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** See `EventLink`. */
	get stopReason(): StopReason | null {
		return this.signal.aborted && this.ending === null ? 'stopped' : null;
	}

	/** Ignored frames and duplicate events, by kind. */
	get counts(): Readonly<Record<string, number>> {
		return this.events.counts;
	}

	start(): this {
		if (!this.started) void this.run();
		this.started = true;
		return this;
	}

	/** Attempts to connect that have begun. */
	get attempts(): number {
		return this.attemptCount;
	}

	/** For a new lease: if the session isn't connected, tries again now, with `claim=1` if `disconnectOther` allows it. */
	retryNow(): void {
		if (this.isConnected) return;
		this.policy.allowClaim();
		this.retryTimer.request();
	}

	/** The ending for a lease with these limits after the latest attempt, while the connection retries. Null if none. */
	giveUpReason(limits: PolicyLimits): ChatEnded | null {
		const why = this.policy.giveUpReason(limits);
		return why === null || this.lastAttempt === null ? null : this.describe(why, this.lastAttempt);
	}

	/** Whether the session is connected now. */
	get isConnected(): boolean {
		return this.rotation.isConnected;
	}

	/** Resolves when the session is connected, when it never will be, or when `signal` is aborted. */
	async ready(signal: AbortSignal = this.stop.signal): Promise<Readiness> {
		// Avoids a new signal, which Node.js would keep for as long as the connection exists.
		if (this.isConnected && !this.stop.signal.aborted && !signal.aborted) return { kind: 'open' };
		const stopped = AbortSignal.any([this.stop.signal, signal]);
		const hasEnded = whenAborted(stopped);
		while (!stopped.aborted) {
			if (this.isConnected) return { kind: 'open' };
			await Promise.race([this.rotation.ready, hasEnded]);
		}
		return this.unavailable();
	}

	/** @returns a function that unsubscribes */
	subscribe(listener: OnEvent, onTooLarge?: OnTooLarge): () => void {
		return this.events.subscribe(listener, onTooLarge);
	}

	/** See `EventLink`. */
	keepOpen(): () => void {
		const turn = Symbol('turn');
		this.kept.add(turn);
		return () => this.kept.delete(turn);
	}

	/**
	 * Waits until no other send is in progress. A send may take several frames (`busy`, a missing ack), and another send in
	 * between would change the order of the conversation.
	 *
	 * @returns `release`
	 */
	async acquireSend(signal: AbortSignal = this.stop.signal): Promise<() => void> {
		return await this.sender.acquireSend(signal);
	}

	/**
	 * Sends one frame as soon as the session is connected, and waits for its ack. If `signal` is aborted, it returns
	 * immediately, but the next frame still waits for the ack, because the ack may not show which frame it is about.
	 */
	async sendWithAck(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal = this.stop.signal,
	): Promise<AckResult> {
		return await this.sender.sendWithAck(frame, timeoutMs, signal);
	}

	/** Ends the connection. Resolves when the socket has ended. No callback follows. */
	async close(): Promise<void> {
		this.stop.abort();
		this.rotation.close('stopped');
		await this.rotation.closed;
	}

	private async run(): Promise<void> {
		while (await this.retryTimer.wait(this.stop.signal)) {
			const { isEarly } = this.retryTimer;
			this.attemptCount += 1;
			const attempt = await this.attempt();
			if (attempt.kind === 'stopped' || this.stop.signal.aborted) return;
			this.lastAttempt = attempt;
			const step = this.policy.next(attempt, isEarly);
			if (step.kind === 'give_up') {
				this.giveUp(step.why, attempt);
				return;
			}
			if (step.token === 'new') this.tokens.discard();
			if (step.wait.kind !== 'rest') this.retryTimer.schedule(this.waitMs(step.wait));
			const isRotated = attempt.kind === 'socket' && attempt.end.cause === 'rotated';
			const { leftMs } = this.retryTimer;
			if (!isRotated) this.logAttempt('Reconnecting to the chat session', attempt, leftMs);
			if (step.wait.kind !== 'none') this.options.onAttemptFailed?.();
		}
	}

	/** Connects once: from the token to the end of the socket and its successors. */
	private async attempt(): Promise<AttemptEnd | { kind: 'stopped' }> {
		const minted = await this.tokens.current(MIN_TOKEN_LIFE_MS);
		if (minted.kind !== 'token') return { kind: 'mint', result: minted };
		// Closed while the token was requested.
		if (this.stop.signal.aborted) return { kind: 'stopped' };
		const { claim } = this.policy;
		const socket = this.open(minted.token, claim);
		if (!(socket instanceof ManagedSocket)) return socket;
		const end = await this.rotation.run(socket);
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause }, claimed: claim };
	}

	private open(token: WsToken, claim: boolean): ManagedSocket | AttemptEnd {
		const { baseUrl, clientId, openSocket, clock } = this.options;
		const url = socketUrl({ token, baseUrl, clientId, claim });
		if (url.kind === 'unusable') return { kind: 'url', wsUrl: token.ws_url };
		const { life: tokenLife } = this.tokens;
		const socket: ManagedSocket = new ManagedSocket(url.url, {
			openSocket,
			clock,
			onFrame: (frame) => this.receive(frame, socket),
			tokenLife,
		});
		return socket;
	}

	private receive(frame: unknown, socket: ManagedSocket): void {
		if (this.stop.signal.aborted) return;
		const redacted =
			typeof frame === 'string' && !isTooLargeFrame(frame) ? this.redact(frame) : frame;
		const received = parseFrame(redacted);
		if (received.kind === 'ignored') {
			this.events.ignore(received.why, frame);
		} else if (received.kind === 'ack') {
			if (!this.ackWaiter.receive(received.ack, socket)) this.events.count('unexpected_ack');
		} else {
			this.ackWaiter.noteEvent(received.event);
			this.events.deliver(received.event, !socket.isSettled);
			if (received.event.type === 'session_closed') void this.endClosedSession();
		}
	}

	/** Without a claim, because the session is connected already. */
	private openAnother(token: WsToken): ManagedSocket | AttemptEnd | null {
		return this.stop.signal.aborted ? null : this.open(token, false);
	}

	private async endClosedSession(): Promise<void> {
		if (this.sessionIsClosed) return;
		this.sessionIsClosed = true;
		const { clock } = this.options;
		do {
			await pause(clock, SESSION_CLOSED_LINGER_MS, this.stop.signal);
		} while (this.kept.size > 0 && !this.stop.signal.aborted);
		this.rotation.close('session_closed');
	}

	private giveUp(why: EndingKind, attempt: AttemptEnd): void {
		this.ending = this.describe(why, attempt);
		this.warn(this.ending.message, this.ending.originalMessage ?? '');
		this.stop.abort();
		try {
			this.options.onEnded?.(this.ending);
		} catch (cause) {
			this.warn("The end of a chat session connection couldn't be reported", String(cause));
		}
	}

	private describe(why: EndingKind, attempt: AttemptEnd): ChatEnded {
		return describeEnding(why, attempt, this.redact(serviceReason(attempt)));
	}

	private sessionClosed(): NotReady | null {
		if (!this.sessionIsClosed) return null;
		const end = { cause: 'session_closed', code: null, reason: '', openForMs: null } as const;
		const attempt = { kind: 'socket', end, claimed: false } as const;
		return { kind: 'ended', ending: this.describe('session_closed', attempt) };
	}

	private unavailable(): NotReady {
		return this.ending === null ? { kind: 'closed_by_us' } : { kind: 'ended', ending: this.ending };
	}

	private waitMs(wait: Exclude<ReconnectWait, { kind: 'rest' }>): number {
		if (wait.kind === 'none') return 0;
		if (wait.kind === 'slow_poll') return SLOW_POLL_MS;
		return backoffMs(CHAT_BACKOFF, wait.attempt, this.options.random);
	}

	private logAttempt(message: string, attempt: AttemptEnd, waitMs: number): void {
		this.options.log.info(message, {
			sessionId: this.options.sessionId,
			waitMs,
			originalMessage: this.redact(serviceReason(attempt)),
		});
	}

	private warn(message: string, originalMessage: string): void {
		this.options.log.warn(message, { sessionId: this.options.sessionId, originalMessage });
	}

	/** A text of the service without the API token and the session's WebSocket tokens. */
	private redact(text: string): string {
		return this.tokens.issued.reduce(withoutSecret, this.options.hideApiToken(text));
	}
}
