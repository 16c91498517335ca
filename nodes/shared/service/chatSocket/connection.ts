import type { Clock } from '../core/http';
import type { WsToken } from '../types';
import { connectionAddress, redact } from './address';
import { backoffMs } from './backoff';
import type { AttemptEnd, EndingKind, Wait } from './closeCodes';
import { ReconnectPolicy } from './closeCodes';
import type { ChatEnded } from './endings';
import { describeEnding, saidByService, saidInMinting } from './endings';
import type { Exchange, Readiness } from './exchange';
import { Exchanger } from './exchange';
import { Inbox } from './inbox';
import { Line } from './line';
import type { Deferred } from './pause';
import { deferred, pause } from './pause';
import {
	MAX_RECONNECT_ATTEMPTS,
	MAX_SLOW_POLLS,
	RENEW_CONNECTION_EVERY_MS,
	SESSION_CLOSED_LINGER_MS,
	SETTLE_MS,
	SLOW_POLL_MS,
} from './timings';
import { TokenKeeper } from './token';
import type { ChatEvent, ChatSocket, Log, MintResult } from './types';

export interface ConnectionLimits {
	reconnectAttempts: number;
	/** 0 where somebody waits for the result and should be told soon. */
	slowPolls: number;
	/** `Infinity` to keep a socket for as long as it lasts. */
	renewConnectionEveryMs: number;
}

const DEFAULT_LIMITS: ConnectionLimits = {
	reconnectAttempts: MAX_RECONNECT_ATTEMPTS,
	slowPolls: MAX_SLOW_POLLS,
	renewConnectionEveryMs: RENEW_CONNECTION_EVERY_MS,
};

export interface ConnectionOptions {
	sessionId: string;
	/** Of the credential: decides whether plain `ws:` is acceptable. */
	baseUrl: string;
	/** The same for every connection of one node to one session. */
	clientId: string;
	/** The user's confirmation that another client may lose the session. */
	takeOver: boolean;
	/** See `mintToken` in `mint.ts`. */
	mintToken: () => Promise<MintResult>;
	openSocket: (url: string) => ChatSocket;
	clock: Clock;
	random: () => number;
	log: Log;
	/** Called once for each event, in order of arrival. */
	onEvent?: (event: ChatEvent) => void;
	/** Called at most once, and never after `close()`. */
	onEnded?: (ending: ChatEnded) => void;
	limits?: Partial<ConnectionLimits>;
}

/**
 * One session's lasting connection: token, socket, events, reconnects, until the session is closed, the service refuses
 * for good, or `close()`. One loop (`run`) owns the life cycle; nothing here throws or rejects.
 */
export class ChatConnection {
	private readonly stop = new AbortController();
	private readonly limits: ConnectionLimits;
	private readonly tokens: TokenKeeper;
	private readonly policy: ReconnectPolicy;
	private readonly inbox: Inbox;
	private readonly exchanger: Exchanger;
	private started = false;
	private line: Line | null = null;
	private wsToken: WsToken | null = null;
	private sessionIsClosed = false;
	private ending: ChatEnded | null = null;
	private held: Deferred<void> = deferred();
	private isHeld = false;

	constructor(private readonly options: ConnectionOptions) {
		this.limits = { ...DEFAULT_LIMITS, ...options.limits };
		this.tokens = new TokenKeeper(options.mintToken, options.clock, options.random);
		this.policy = new ReconnectPolicy(this.limits, options.takeOver);
		this.exchanger = new Exchanger(options.clock);
		this.inbox = new Inbox(options.sessionId, options.log, (ack) => this.exchanger.receive(ack));
		if (options.onEvent) this.inbox.subscribe(options.onEvent);
		this.inbox.subscribe((event) => {
			if (event.type === 'session_closed') void this.endClosedSession();
		});
	}

	/** Aborted when the connection has ended for good or was closed. */
	get signal(): AbortSignal {
		return this.stop.signal;
	}

	/** Frames that could not be read, by kind, and events that came twice. */
	get counts(): Readonly<Record<string, number>> {
		return this.inbox.counts;
	}

	start(): this {
		if (!this.started) void this.run();
		this.started = true;
		return this;
	}

	/** Resolves when the session's connection is held, or will never be. */
	async ready(): Promise<Readiness> {
		while (!this.stop.signal.aborted) {
			if (this.isHeld) return { kind: 'open' };
			await this.held.promise;
		}
		return this.ending === null ? { kind: 'closed_by_us' } : { kind: 'ended', ending: this.ending };
	}

	/** Returns a function that ends the subscription. */
	subscribe(listener: (event: ChatEvent) => void): () => void {
		return this.inbox.subscribe(listener);
	}

	/** Sends one frame, as soon as the connection is held, and waits for its one ack. */
	async exchange(text: string, timeoutMs: number): Promise<Exchange> {
		return await this.exchanger.oneAtATime(async () => await this.exchangeNow(text, timeoutMs));
	}

	/** Ends the connection; resolves when the socket is gone. No callback follows. */
	async close(): Promise<void> {
		this.inbox.shut();
		this.line?.shut('stopped');
		this.wrapUp();
		await this.line?.ended;
	}

	private async run(): Promise<void> {
		let waitMs = 0;
		while (await pause(this.options.clock, waitMs, this.stop.signal)) {
			const attempt = await this.attempt();
			if (attempt.kind === 'stopped' || this.stop.signal.aborted) return;
			const step = this.policy.next(attempt);
			if (step.kind === 'give_up') {
				this.giveUp(step.why, attempt);
				return;
			}
			if (step.token === 'new') this.tokens.discard();
			waitMs = this.waitMs(step.wait);
			this.logAttempt(attempt, waitMs);
		}
	}

	/** Holds the connection once: from the token to the end of the socket. */
	private async attempt(): Promise<AttemptEnd | { kind: 'stopped' }> {
		const minted = await this.tokens.current();
		if (minted.kind !== 'token') return { kind: 'mint', result: minted };
		this.wsToken = minted.token;
		const claim = this.policy.claim;
		const { baseUrl, clientId, openSocket, clock } = this.options;
		const address = connectionAddress({ token: minted.token, baseUrl, clientId, claim });
		if (address.kind === 'unusable') return { kind: 'address', why: address.why };
		// Closed while the token was on its way: open nothing.
		if (this.stop.signal.aborted) return { kind: 'stopped' };

		const onData = (data: unknown) => this.inbox.receive(data);
		const line = new Line(address.url, { openSocket, clock, onData });
		this.line = line;
		void this.keep(line);
		const end = await line.ended;
		this.isHeld = false;
		const cause = this.sessionIsClosed ? 'session_closed' : end.cause;
		return { kind: 'socket', end: { ...end, cause }, claimed: claim };
	}

	/** Looks after an open socket: reports it as held, renews the token, replaces the socket now and then. */
	private async keep(line: Line): Promise<void> {
		const { clock } = this.options;
		await line.opened;
		if (!(await pause(clock, SETTLE_MS, line.signal))) return;
		this.isHeld = true;
		this.held.resolve();
		this.held = deferred();
		const replaceAt = (line.openSince ?? clock.now()) + this.limits.renewConnectionEveryMs;
		for (;;) {
			const due = Math.min(this.tokens.renewAt, replaceAt) - clock.now();
			// A socket that is due but waits for an ack is looked at again in a second.
			if (!(await pause(clock, Math.max(due, 1_000), line.signal))) return;
			if (clock.now() >= this.tokens.renewAt) await this.renewToken(line);
			if (clock.now() >= replaceAt && !this.exchanger.isWaiting) line.shut('renewed');
		}
	}

	private async renewToken(line: Line): Promise<void> {
		const minted = await this.tokens.renew();
		if (minted.kind === 'session_closed') line.shut('session_closed');
		else if (minted.kind !== 'token') {
			this.warn('The token of a chat session was not renewed yet', saidInMinting(minted.error));
		}
	}

	private async endClosedSession(): Promise<void> {
		this.sessionIsClosed = true;
		const { line } = this;
		if (line === null) return;
		await pause(this.options.clock, SESSION_CLOSED_LINGER_MS, line.signal);
		line.shut('session_closed');
	}

	private async exchangeNow(text: string, timeoutMs: number): Promise<Exchange> {
		for (;;) {
			const readiness = await this.ready();
			if (readiness.kind !== 'open') return { kind: 'not_sent', readiness };
			const { line } = this;
			const answer = line === null ? null : this.exchanger.write(line, text, timeoutMs);
			if (answer !== null) return await answer;
			// The socket is going down: its end comes next, then another socket or the ending.
			await line?.ended;
		}
	}

	private giveUp(why: EndingKind, attempt: AttemptEnd): void {
		const said = this.redact(saidByService(attempt));
		this.ending = describeEnding(why, attempt, said, this.wsToken?.ws_url ?? '');
		this.warn(this.ending.message, said);
		this.wrapUp();
		try {
			this.options.onEnded?.(this.ending);
		} catch (cause) {
			this.warn('The end of a chat session connection could not be handed on', String(cause));
		}
	}

	private wrapUp(): void {
		this.isHeld = false;
		this.stop.abort();
		this.held.resolve();
	}

	private waitMs(wait: Wait): number {
		if (wait.kind === 'none') return 0;
		return wait.kind === 'slow_poll' ? SLOW_POLL_MS : backoffMs(wait.attempt, this.options.random);
	}

	private logAttempt(attempt: AttemptEnd, waitMs: number): void {
		if (attempt.kind === 'socket' && attempt.end.cause === 'renewed') return;
		this.options.log.info('Connecting to the chat session again', {
			sessionId: this.options.sessionId,
			waitMs,
			said: this.redact(saidByService(attempt)),
		});
	}

	private warn(message: string, said: string): void {
		this.options.log.warn(message, { sessionId: this.options.sessionId, said });
	}

	private redact(text: string): string {
		return redact(text, this.wsToken?.token ?? '');
	}
}
