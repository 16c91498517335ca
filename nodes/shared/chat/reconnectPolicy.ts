import { ServiceRejection } from '../api/errors';
import { backoffMs } from '../clock';
import { CHAT_BACKOFF, HEALTHY_AFTER_MS, SLOW_POLL_MS } from './timings';
import type { MintFailure } from './token';

/** "Token missing, expired, invalid, or for another account": mint a new token, reconnect. */
export const TOKEN_REJECTED = 4401;

/** "Policy: token's session/stream mismatch, agent inactive, or claim conflict". */
export const POLICY = 1008;

/** "Non-text frame sent": a bug in these nodes. */
export const NON_TEXT_FRAME = 1003;

/**
 * Safe to reconnect with the same token: 1011 by the document, closes without a specific reason (1000, 1001, 1005, 1006),
 * and what the WebSocket registry defines as temporary (1012 restart, 1013 try again later, 1014 bad gateway) or as caused
 * by one message (1009 too big).
 */
export const TRANSIENT_CODES: ReadonlySet<number> = new Set([
	1000, 1001, 1005, 1006, 1009, 1011, 1012, 1013, 1014,
]);

/** Why these nodes closed a socket. */
export type CloseCause = 'renewed' | 'no_ack' | 'session_closed' | 'stopped';

export interface SocketEnd {
	/** `closed`: by the service or the network, with `code`. */
	cause: 'closed' | 'connect_timeout' | 'cannot_connect' | CloseCause;
	code: number | null;
	reason: string;
	/** 0 if it never opened. */
	openForMs: number;
}

/** How one attempt to connect to the session ended. `claimed`: with `claim=1`. */
export type AttemptEnd =
	| { kind: 'socket'; end: SocketEnd; claimed: boolean }
	| { kind: 'mint'; result: MintFailure }
	| { kind: 'url'; wsUrl: string };

export type EndingKind =
	| 'session_closed'
	| 'agent_inactive'
	| 'in_use_or_inactive'
	| 'token_rejected'
	| 'unreachable'
	| 'mint_rejected'
	| 'bad_url'
	| 'displaced'
	| 'client_bug';

export type Step =
	| { kind: 'retry'; why: EndingKind; afterMs: number; token: 'keep' | 'new' }
	/** Too many failures in a row. An action gives up. A trigger reports the session and tries again after a minute or more. */
	| { kind: 'lost'; why: EndingKind }
	/** Another attempt can't change it. */
	| { kind: 'end'; why: EndingKind };

export interface RetryLimits {
	/** Reconnects in a row. */
	attempts: number;
	/** Polls of about 20 seconds after a 1008. */
	slowPolls: number;
}

/** A trigger follows a session for days: about a minute, and 10 minutes for an inactive agent. */
export const TRIGGER_LIMITS: RetryLimits = { attempts: 6, slowPolls: 30 };

/** An execution waits for the result of an action, so it gives up soon. */
export const ACTION_LIMITS: RetryLimits = { attempts: 4, slowPolls: 0 };

/** Not final, because an API token that is rejected for all sessions may be accepted again later. */
const UNAUTHORIZED = 401;

/**
 * Decides what follows each end of a connection (Events › Chat WebSocket › Close codes).
 *
 * The document gives 1008 three meanings and no reason text. A new token rules out a token mismatch. With `claim=1`, only
 * an inactive agent is left, because a claim conflict is one "without `claim=1`". Without it, the ending names both. The
 * close reason is shown, but not evaluated.
 */
export class ReconnectPolicy {
	private attempts = 0;
	private rejections = 0;
	private undocumentedCloses = 0;

	constructor(
		private readonly limits: RetryLimits,
		private readonly random: () => number,
	) {}

	next(attempt: AttemptEnd): Step {
		if (attempt.kind === 'url') return { kind: 'end', why: 'bad_url' };
		if (attempt.kind === 'mint') return this.afterMint(attempt.result);
		const { end, claimed } = attempt;
		if (end.openForMs >= HEALTHY_AFTER_MS) this.reset();
		if (end.cause === 'session_closed') return { kind: 'end', why: 'session_closed' };
		// The next token is at hand.
		if (end.cause === 'renewed') return retry('unreachable', 0, 'keep');
		if (end.code === null || end.cause !== 'closed') return this.backOff('unreachable', 'keep');
		if (end.code === NON_TEXT_FRAME) return { kind: 'end', why: 'client_bug' };
		if (end.code === POLICY) return this.poll(claimed ? 'agent_inactive' : 'in_use_or_inactive');
		if (end.code === TOKEN_REJECTED) return this.backOff('token_rejected', 'new');
		if (TRANSIENT_CODES.has(end.code)) return this.backOff('unreachable', 'keep');
		// Another client may have taken over: one careful reconnect.
		this.undocumentedCloses += 1;
		return this.undocumentedCloses > 1 ? this.lost('displaced') : this.backOff('displaced', 'new');
	}

	private afterMint({ kind, error }: MintFailure): Step {
		if (kind === 'session_closed') return { kind: 'end', why: 'session_closed' };
		if (kind === 'unreachable') return this.backOff('unreachable', 'new');
		const mayChange = error instanceof ServiceRejection && error.status === UNAUTHORIZED;
		return mayChange ? this.lost('mint_rejected') : { kind: 'end', why: 'mint_rejected' };
	}

	private backOff(why: EndingKind, token: 'keep' | 'new'): Step {
		this.attempts += 1;
		if (this.attempts > this.limits.attempts) return this.lost(why);
		return retry(why, backoffMs(CHAT_BACKOFF, this.attempts, this.random), token);
	}

	private poll(why: EndingKind): Step {
		this.rejections += 1;
		if (this.rejections > 1 + this.limits.slowPolls) return this.lost(why);
		const isFirst = this.rejections === 1;
		return retry(why, isFirst ? backoffMs(CHAT_BACKOFF, 1, this.random) : SLOW_POLL_MS, 'new');
	}

	private lost(why: EndingKind): Step {
		this.reset();
		return { kind: 'lost', why };
	}

	private reset(): void {
		this.attempts = 0;
		this.rejections = 0;
		this.undocumentedCloses = 0;
	}
}

function retry(why: EndingKind, afterMs: number, token: 'keep' | 'new'): Step {
	return { kind: 'retry', why, afterMs, token };
}
