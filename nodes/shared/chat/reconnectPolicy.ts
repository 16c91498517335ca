import type { SocketEnd } from './managedSocket';
import { HEALTHY_AFTER_MS, SETTLE_MS } from './timings';
import type { MintResult } from './token';

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

/** How one attempt to connect to the session ended. */
export type AttemptEnd =
	| { kind: 'socket'; end: SocketEnd; claimed: boolean }
	| { kind: 'mint'; result: Exclude<MintResult, { kind: 'token' }> }
	| { kind: 'url'; wsUrl: string };

export type EndingKind =
	| 'session_closed'
	| 'agent_inactive'
	| 'in_use_or_inactive'
	| 'token_rejected'
	| 'unreachable'
	| 'mint_rejected'
	| 'token_unavailable'
	| 'renewal_failed'
	| 'bad_url'
	| 'displaced'
	| 'client_bug';

export type Step =
	| { kind: 'reconnect'; token: 'keep' | 'new'; wait: ReconnectWait }
	| { kind: 'give_up'; why: EndingKind };

export type ReconnectWait =
	| { kind: 'none' }
	| { kind: 'backoff'; attempt: number }
	| { kind: 'slow_poll' }
	/** Until the attempt that was due when an early one was made. */
	| { kind: 'rest' };

export interface PolicyLimits {
	/** Reconnects in a row before giving up. */
	reconnectAttempts: number;
	/** Polls of about 20 seconds after a 1008 before giving up. 0 if someone waits for the result. */
	slowPolls: number;
}

/** What the current leases of the connection need. */
export interface PolicyNeeds extends PolicyLimits {
	/** The user confirmed that another client may lose the session. */
	disconnectOther: boolean;
}

/**
 * Decides what to do after each end of a connection (Events › Chat WebSocket › Close codes).
 *
 * The document gives code 1008 three meanings and no reason text:
 * - Each attempt after a 1008 mints a new token. This also rules out a token mismatch.
 * - The first attempt waits for the normal backoff, and the next ones for about 20 seconds, up to a limit.
 * - With Disconnect Other Connection on, they send `claim=1`. The document defines a claim conflict as one "without `claim=1`", so if the
 *   service still rejects the connection, the agent is inactive.
 * - With Disconnect Other Connection off, `claim=1` is never sent. A conflict and an inactive agent look the same, so the ending names both.
 * - The close reason is shown, but not evaluated.
 *
 * Otherwise, `claim=1` is sent only until the first successful connection. A displaced client reconnects without it, so
 * that two clients with Disconnect Other Connection on don't displace each other forever.
 */
export class ReconnectPolicy {
	private attempts = 0;
	private rejections = 0;
	private undocumentedCloses = 0;
	private mayClaim = true;
	/** Whether the latest attempt was made before it was due. */
	private isEarly = false;
	private lastFailure: EndingKind | null = null;

	/** @param needs called for each decision */
	constructor(private readonly needs: () => PolicyNeeds) {}

	/** Whether the next connection sends `claim=1`. */
	get claim(): boolean {
		return this.mayClaim && this.needs().disconnectOther;
	}

	/** A new lease may take over, and the session isn't connected. */
	allowClaim(): void {
		this.mayClaim = true;
	}

	/** Why a lease with these limits gives up after the latest attempt, while the connection retries. Null if it doesn't. */
	giveUpReason(limits: PolicyLimits): EndingKind | null {
		const isExceeded =
			this.attempts > limits.reconnectAttempts || this.rejections > 1 + limits.slowPolls;
		return isExceeded ? this.lastFailure : null;
	}

	/**
	 * @param isEarly a new lease made the attempt before it was due. If it fails, it doesn't count: otherwise, many leases
	 * would use up the attempts of the trigger.
	 */
	next(attempt: AttemptEnd, isEarly = false): Step {
		if (attempt.kind === 'url') return { kind: 'give_up', why: 'bad_url' };
		this.isEarly = isEarly;
		if (attempt.kind === 'mint') return this.afterMint(attempt.result.kind);
		const { end, claimed } = attempt;
		this.lastFailure = null;
		const openForMs = end.openForMs ?? 0;
		if (openForMs >= SETTLE_MS) {
			this.isEarly = false;
			this.mayClaim = false;
		}
		if (openForMs >= HEALTHY_AFTER_MS) this.resetCounts();
		if (end.cause === 'session_closed') return { kind: 'give_up', why: 'session_closed' };
		if (end.cause === 'rotated') return reconnect({ kind: 'none' }, 'keep');
		return end.cause === 'closed' && end.code !== null
			? this.afterClose(end.code, claimed)
			: this.retry('keep', 'unreachable');
	}

	private resetCounts(): void {
		this.attempts = 0;
		this.rejections = 0;
		this.undocumentedCloses = 0;
	}

	private afterMint(kind: 'session_closed' | 'rejected' | 'unreachable'): Step {
		if (kind === 'session_closed') return { kind: 'give_up', why: 'session_closed' };
		if (kind === 'rejected') return { kind: 'give_up', why: 'mint_rejected' };
		return this.retry('new', 'unreachable');
	}

	private afterClose(code: number, claimed: boolean): Step {
		if (code === NON_TEXT_FRAME) return { kind: 'give_up', why: 'client_bug' };
		if (code === POLICY) return this.afterRejection(claimed);
		if (code === TOKEN_REJECTED) return this.retry('new', 'token_rejected');
		if (TRANSIENT_CODES.has(code)) return this.retry('keep', 'unreachable');
		this.undocumentedCloses += 1;
		if (this.undocumentedCloses > 1) return { kind: 'give_up', why: 'displaced' };
		return this.retry('new', 'displaced');
	}

	private afterRejection(claimed: boolean): Step {
		const why = claimed ? 'agent_inactive' : 'in_use_or_inactive';
		this.lastFailure = why;
		if (this.isEarly) {
			this.mayClaim = true;
			return reconnect({ kind: 'rest' }, 'new');
		}
		this.rejections += 1;
		if (this.rejections > 1 + this.needs().slowPolls) return { kind: 'give_up', why };
		this.mayClaim = true;
		return reconnect(
			this.rejections === 1 ? { kind: 'backoff', attempt: 1 } : { kind: 'slow_poll' },
			'new',
		);
	}

	private retry(token: 'keep' | 'new', why: EndingKind): Step {
		this.lastFailure = why;
		if (this.isEarly) return reconnect({ kind: 'rest' }, token);
		this.attempts += 1;
		if (this.attempts > this.needs().reconnectAttempts) return { kind: 'give_up', why };
		return reconnect({ kind: 'backoff', attempt: this.attempts }, token);
	}
}

function reconnect(wait: ReconnectWait, token: 'keep' | 'new'): Step {
	return { kind: 'reconnect', wait, token };
}
