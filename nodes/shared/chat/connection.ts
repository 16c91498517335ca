import { whenAborted, backoffMs, deferred, pause, type Clock } from '../clock';
import type { WsToken } from '../api/types';
import { connectionAddress, type ConnectionAddress } from './address';
import { withoutSecrets } from '../api/secrets';
import {
	type AttemptEnd,
	type EndingKind,
	type PolicyLimits,
	type PolicyNeeds,
	ReconnectPolicy,
	type ReconnectWait,
} from './reconnectPolicy';
import { type ChatEnded, describeEnding, saidByService, saidInMinting } from './endings';
import { type AckResult, AckWaiter, type Readiness, AbortableMutex } from './ackWaiter';
import { FRESH_FOR_MS, SocketRotation } from './socketRotation';
import { type ChatEvent, isTooLargeFrame, parseFrame } from './frames';
import { EventDispatcher, type Log, type OnTooLarge } from './eventDispatcher';
import { type WebSocketLike, ManagedSocket } from './managedSocket';
import {
	RECONNECT_BACKOFF,
	RENEW_CONNECTION_EVERY_MS,
	SESSION_CLOSED_LINGER_MS,
	SLOW_POLL_MS,
} from './timings';
import { type OutgoingFrame, SentFrames } from './sentFrames';
import { type MintResult, TokenCache } from './token';

type UnusableAddress = Extract<ConnectionAddress, { kind: 'unusable' }>;

export interface ConnectionOptions {
	sessionId: string;
	/** Of the credential: decides whether plain `ws:` is acceptable. */
	baseUrl: string;
	/** What the service knows the client by. */
	clientId: string;
	/** Read anew for each decision. */
	needs: () => PolicyNeeds;
	/** See `mintToken` in `token.ts`. */
	mintToken: () => Promise<MintResult>;
	openSocket: (url: string) => WebSocketLike;
	clock: Clock;
	random: () => number;
	log: Log;
	/** The frames that earlier connections of the session sent, too. */
	sent?: SentFrames;
	/** Called when an attempt to hold the connection did not last and another one follows. */
	onSetback?: () => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
	/** A socket is replaced this often; another time than the usual is for those who cannot wait for it. */
	renewConnectionEveryMs?: number;
}

/**
 * One session's lasting connection: token, socket, events, reconnects, until the session is closed, the service rejects
 * for good, or `close()`. One loop (`run`) owns the life cycle; nothing here throws or rejects.
 */
export class ChatConnection {
	private readonly stop = new AbortController();
	private readonly tokens: TokenCache;
	private readonly policy: ReconnectPolicy;
	private readonly events: EventDispatcher;
	private readonly ackWaiter: AckWaiter;
	private readonly rotation: SocketRotation;
	private readonly frames = new AbortableMutex();
	private readonly sends = new AbortableMutex();
	private started = false;
	private begun = 0;
	private latest: AttemptEnd | null = null;
	private retryRequested = new AbortController();
	private wsToken: WsToken | null = null;
	private sessionIsClosed = false;
	private ending: ChatEnded | null = null;

	constructor(private readonly options: ConnectionOptions) {
		this.tokens = new TokenCache(options.mintToken, options.clock, options.random);
		this.policy = new ReconnectPolicy(options.needs);
		this.ackWaiter = new AckWaiter(options.clock, options.sent ?? new SentFrames());
		this.events = new EventDispatcher(options.sessionId, options.log);
		this.rotation = new SocketRotation({
			clock: options.clock,
			random: options.random,
			tokens: this.tokens,
			openAnother: (minted) => this.openAnother(minted),
			renewEveryMs: options.renewConnectionEveryMs ?? RENEW_CONNECTION_EVERY_MS,
			isBusy: () => this.ackWaiter.isWaiting,
			onTokenMissed: (error) => {
				this.warn('The token of a chat session was not renewed yet', saidInMinting(error));
			},
		});
	}

	/** Aborted when the connection has ended for good or was closed. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** Frames that could not be read, by kind, and events that came twice. */
	get counts(): Readonly<Record<string, number>> {
		return this.events.counts;
	}

	start(): this {
		if (!this.started) void this.run();
		this.started = true;
		return this;
	}

	/** Attempts to hold the connection that have begun so far. */
	get attempts(): number {
		return this.begun;
	}

	/** Somebody new came: what is not held is tried again now, and claimed if `takeOver` says so. */
	retryNow(): void {
		if (this.rotation.socket !== null) return;
		this.policy.renewClaim();
		this.retryRequested.abort();
	}

	/** The ending for someone of these limits after the latest attempt, though the connection goes on; null if there is none. */
	giveUpReason(limits: PolicyLimits): ChatEnded | null {
		const why = this.policy.giveUpReason(limits);
		return why === null || this.latest === null ? null : this.describe(why, this.latest);
	}

	/** Whether a socket is open right now. */
	get isHeld(): boolean {
		return this.rotation.socket !== null;
	}

	/** Resolves when the session's connection is held, or will never be, or the one who asks has left. */
	async ready(signal: AbortSignal = this.stop.signal): Promise<Readiness> {
		// Without a new signal, which Node.js would keep as long as the connection.
		if (this.rotation.socket !== null && !this.stop.signal.aborted && !signal.aborted)
			return { kind: 'open' };
		const over = AbortSignal.any([this.stop.signal, signal]);
		const hasEnded = whenAborted(over);
		while (!over.aborted) {
			if (this.rotation.socket !== null) return { kind: 'open' };
			await Promise.race([this.rotation.ready, hasEnded]);
		}
		return this.unavailable();
	}

	/** Returns a function that ends the subscription. */
	subscribe(listener: (event: ChatEvent) => void, onTooLarge?: OnTooLarge): () => void {
		return this.events.subscribe(listener, onTooLarge);
	}

	/**
	 * Waits until it is one's turn to send, and returns what ends it. A send may take several frames (`busy`, a lost ack),
	 * and another one in between would change the order of the conversation.
	 */
	async acquireSend(signal: AbortSignal = this.stop.signal): Promise<() => void> {
		return await this.sends.acquire(signal);
	}

	/**
	 * Sends one frame, as soon as the connection is held, and waits for its one ack. Whoever leaves before that (`signal`) is
	 * answered at once; the next frame still waits for the ack, because the ack may not show which frame it is about.
	 */
	async sendWithAck(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal = this.stop.signal,
	): Promise<AckResult> {
		const result = deferred<AckResult>();
		let sent = false;
		void whenAborted(signal).then(() => {
			if (sent) this.ackWaiter.giveUp(frame);
			result.resolve(
				sent ? { kind: 'lost', code: null } : { kind: 'not_sent', readiness: this.unavailable() },
			);
		});
		void this.frames.acquire(signal).then(async (done) => {
			const exchange = await this.sendNow(frame, timeoutMs, signal, () => {
				sent = true;
			});
			result.resolve(exchange);
			done();
		});
		return await result.promise;
	}

	/** Ends the connection; resolves when the socket is gone. No callback follows. */
	async close(): Promise<void> {
		this.stop.abort();
		this.rotation.close('stopped');
		await this.rotation.closed;
	}

	private async run(): Promise<void> {
		let waitMs = 0;
		while (await this.rest(waitMs)) {
			this.begun += 1;
			const attempt = await this.attempt();
			if (attempt.kind === 'stopped' || this.stop.signal.aborted) return;
			this.latest = attempt;
			const step = this.policy.next(attempt);
			if (step.kind === 'give_up') {
				this.giveUp(step.why, attempt);
				return;
			}
			if (step.token === 'new') this.tokens.discard();
			waitMs = this.waitMs(step.wait);
			this.logAttempt(attempt, waitMs);
			if (step.wait.kind !== 'none') this.options.onSetback?.();
		}
	}

	/** Waits before the next attempt, shorter for someone who came meanwhile; says whether there is to be one. */
	private async rest(ms: number): Promise<boolean> {
		// Who came during the attempt waits for an ordinary back-off at most.
		const most = this.retryRequested.signal.aborted ? Math.min(ms, RECONNECT_BACKOFF.firstMs) : ms;
		this.retryRequested = new AbortController();
		const { signal } = this.stop;
		await pause(this.options.clock, most, AbortSignal.any([signal, this.retryRequested.signal]));
		this.retryRequested = new AbortController();
		return !signal.aborted;
	}

	/** Holds the connection once: from the token to the end of the socket and its successors. */
	private async attempt(): Promise<AttemptEnd | { kind: 'stopped' }> {
		const minted = await this.tokens.current(FRESH_FOR_MS);
		if (minted.kind !== 'token') return { kind: 'mint', result: minted };
		// Closed while the token was on its way: open nothing.
		if (this.stop.signal.aborted) return { kind: 'stopped' };
		const { claim } = this.policy;
		const line = this.open(minted.token, claim);
		if (!(line instanceof ManagedSocket)) return { kind: 'address', why: line.why };
		const end = await this.rotation.run(line);
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause }, claimed: claim };
	}

	private open(token: WsToken, claim: boolean): ManagedSocket | UnusableAddress {
		this.wsToken = token;
		const { baseUrl, clientId, openSocket, clock } = this.options;
		const address = connectionAddress({ token, baseUrl, clientId, claim });
		if (address.kind === 'unusable') return address;
		const { life: tokenLife } = this.tokens;
		const line: ManagedSocket = new ManagedSocket(address.url, {
			openSocket,
			clock,
			onFrame: (frame) => this.receive(frame, token, line),
			tokenLife,
		});
		return line;
	}

	/** Sorts what arrives on a socket: an ack goes to the frame that waits for it, an event to each who listens. */
	private receive(frame: unknown, { token }: WsToken, line: ManagedSocket): void {
		if (this.stop.signal.aborted) return;
		const shown =
			typeof frame === 'string' && !isTooLargeFrame(frame) ? withoutSecrets(frame, [token]) : frame;
		const received = parseFrame(shown);
		if (received.kind === 'ignored') {
			this.events.ignore(received.why, frame);
		} else if (received.kind === 'ack') {
			if (!this.ackWaiter.receive(received.ack, line)) this.events.count('unexpected_ack');
		} else {
			this.ackWaiter.noteEvent(received.event);
			this.events.deliver(received.event);
			if (received.event.type === 'session_closed') void this.endClosedSession();
		}
	}

	/** A socket in place of one that is held, which needs no claim. */
	private openAnother(minted: MintResult): ManagedSocket | null {
		if (minted.kind !== 'token' || this.stop.signal.aborted) return null;
		const line = this.open(minted.token, false);
		return line instanceof ManagedSocket ? line : null;
	}

	private async endClosedSession(): Promise<void> {
		this.sessionIsClosed = true;
		await pause(this.options.clock, SESSION_CLOSED_LINGER_MS, this.stop.signal);
		this.rotation.close('session_closed');
	}

	private async sendNow(
		frame: OutgoingFrame,
		timeoutMs: number,
		signal: AbortSignal,
		onSent: () => void,
	): Promise<AckResult> {
		const isAborted = () => signal.aborted;
		let waitUntil: number | null = null;
		for (;;) {
			const readiness = await this.ready(signal);
			if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
			if (isAborted()) return { kind: 'not_sent', readiness: this.unavailable() };
			waitUntil ??= this.options.clock.elapsed() + timeoutMs;
			const line = await this.rotation.socketFor(timeoutMs, waitUntil);
			// Looking for a socket can take long: whoever left in between was told that nothing was sent.
			if (line === null || isAborted()) continue;
			if (!(line instanceof ManagedSocket)) {
				const ending = this.describe('token_missed', { kind: 'mint', result: line });
				return { kind: 'not_sent', readiness: { kind: 'ended', ending } };
			}
			// Nothing is sent on a socket that is being replaced.
			if (line !== this.rotation.socket) continue;
			const answer = this.ackWaiter.write(line, frame, timeoutMs);
			if (answer !== null) {
				onSent();
				return await answer;
			}
			// The socket is going down: its end comes next, then another socket or the ending.
			await line.ended;
		}
	}

	private giveUp(why: EndingKind, attempt: AttemptEnd): void {
		this.ending = this.describe(why, attempt);
		this.warn(this.ending.message, this.ending.originalMessage ?? '');
		this.stop.abort();
		try {
			this.options.onEnded?.(this.ending);
		} catch (cause) {
			this.warn('The end of a chat session connection could not be handed on', String(cause));
		}
	}

	private describe(why: EndingKind, attempt: AttemptEnd): ChatEnded {
		const originalMessage = this.redact(saidByService(attempt));
		return describeEnding(why, attempt, originalMessage, this.wsToken?.ws_url ?? '');
	}

	private unavailable(): Exclude<Readiness, { kind: 'open' }> {
		return this.ending === null ? { kind: 'closed_by_us' } : { kind: 'ended', ending: this.ending };
	}

	private waitMs(wait: ReconnectWait): number {
		if (wait.kind === 'none') return 0;
		if (wait.kind === 'slow_poll') return SLOW_POLL_MS;
		return backoffMs(RECONNECT_BACKOFF, wait.attempt, this.options.random);
	}

	private logAttempt(attempt: AttemptEnd, waitMs: number): void {
		if (attempt.kind === 'socket' && attempt.end.cause === 'renewed') return;
		this.options.log.info('Connecting to the chat session again', {
			sessionId: this.options.sessionId,
			waitMs,
			originalMessage: this.redact(saidByService(attempt)),
		});
	}

	private warn(message: string, originalMessage: string): void {
		this.options.log.warn(message, { sessionId: this.options.sessionId, originalMessage });
	}

	private redact(text: string): string {
		return withoutSecrets(text, this.wsToken === null ? [] : [this.wsToken.token]);
	}
}
