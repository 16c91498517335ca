import type { ConnectionAddress } from './address';
import type { SocketEnd } from './managedSocket';
import { HEALTHY_AFTER_MS, SETTLE_MS } from './timings';
import type { MintResult } from './token';

/** "Token missing, expired, invalid, or for another account": mint a new token, reconnect. */
export const TOKEN_REJECTED = 4401;

/** "Policy: token's session/stream mismatch, agent inactive, or claim conflict". */
export const POLICY = 1008;

/** "Non-text frame sent": a defect of ours. */
export const NON_TEXT_FRAME = 1003;

/**
 * Safe to reconnect with the same token: 1011 by the document; a close without a reason of its own (1000, 1001,
 * 1005, 1006); and what the WebSocket registry defines as passing (1012 restart, 1013 try later, 1014 bad gateway).
 */
export const PASSING_CODES: ReadonlySet<number> = new Set([
	1000, 1001, 1005, 1006, 1011, 1012, 1013, 1014,
]);

/** How one attempt to hold the session's connection ended. */
export type AttemptEnd =
	| { kind: 'socket'; end: SocketEnd; claimed: boolean }
	| { kind: 'mint'; result: Exclude<MintResult, { kind: 'token' }> }
	| { kind: 'address'; why: Extract<ConnectionAddress, { kind: 'unusable' }>['why'] };

export type EndingKind =
	| 'session_closed'
	| 'agent_inactive'
	| 'held_or_inactive'
	| 'token_rejected'
	| 'unreachable'
	| 'mint_rejected'
	| 'token_missed'
	| 'bad_address'
	| 'lost_place'
	| 'defect';

export type Step =
	| { kind: 'reconnect'; token: 'keep' | 'new'; wait: ReconnectWait }
	| { kind: 'give_up'; why: EndingKind };

export type ReconnectWait =
	| { kind: 'none' }
	| { kind: 'backoff'; attempt: number }
	| { kind: 'slow_poll' };

export interface PolicyLimits {
	/** Reconnects in a row before giving up. */
	reconnectAttempts: number;
	/** Polls of about 20 s after a 1008 before giving up; 0 where somebody waits and should be told soon. */
	slowPolls: number;
}

/** What those who use the connection want of it; they come and go. */
export interface PolicyNeeds extends PolicyLimits {
	/** The user's confirmation that another client may lose the session. */
	takeOver: boolean;
}

/**
 * What to do after each end of a connection.
 *
 * About 1008, for which the document has one code and three meanings and no reason text:
 * - Never again with the same token: each attempt after it mints one. That also rules out a token mismatch.
 * - The first attempt follows after an ordinary back-off, the next ones about every 20 s, a bounded number of times.
 * - With Take Over on (the user's confirmation) they carry `claim=1`. A claim conflict is defined as one "without
 *   `claim=1`", so a rejection in spite of it means that the agent is inactive.
 * - With Take Over off `claim=1` is never sent. Conflict and inactive agent cannot be told apart, so the ending names both.
 * - The close reason is shown, never matched.
 *
 * Outside of that, `claim=1` is sent only until the connection has once been held. One that lost its place comes back
 * without it, so that two clients with Take Over on do not throw each other out without end.
 */
export class ReconnectPolicy {
	private attempts = 0;
	private rejections = 0;
	private unexplained = 0;
	private claimDue = true;
	private latest: EndingKind | null = null;

	/** @param needs read anew for each decision */
	constructor(private readonly needs: () => PolicyNeeds) {}

	/** Whether the next connection is to carry `claim=1`. */
	get claim(): boolean {
		return this.claimDue && this.needs().takeOver;
	}

	/** Somebody who may take over came to a connection that is not held. */
	renewClaim(): void {
		this.claimDue = true;
	}

	/** Why someone of these limits would give up after the latest attempt, though the connection goes on; null if not. */
	giveUpReason(limits: PolicyLimits): EndingKind | null {
		const past = this.attempts > limits.reconnectAttempts || this.rejections > 1 + limits.slowPolls;
		return past ? this.latest : null;
	}

	next(attempt: AttemptEnd): Step {
		if (attempt.kind === 'address') return { kind: 'give_up', why: 'bad_address' };
		if (attempt.kind === 'mint') return this.afterMint(attempt.result.kind);
		const { end, claimed } = attempt;
		this.latest = null;
		const heldFor = end.openForMs ?? 0;
		if (heldFor >= SETTLE_MS) this.claimDue = false;
		if (heldFor >= HEALTHY_AFTER_MS) this.startAnew();
		if (end.cause === 'session_closed') return { kind: 'give_up', why: 'session_closed' };
		if (end.cause === 'renewed') return reconnect({ kind: 'none' }, 'keep');
		return end.cause === 'closed' && end.code !== null
			? this.afterClose(end.code, claimed)
			: this.retry('keep', 'unreachable');
	}

	private startAnew(): void {
		this.attempts = 0;
		this.rejections = 0;
		this.unexplained = 0;
	}

	private afterMint(kind: 'session_closed' | 'rejected' | 'unreachable'): Step {
		if (kind === 'session_closed') return { kind: 'give_up', why: 'session_closed' };
		if (kind === 'rejected') return { kind: 'give_up', why: 'mint_rejected' };
		return this.retry('new', 'unreachable');
	}

	private afterClose(code: number, claimed: boolean): Step {
		if (code === NON_TEXT_FRAME) return { kind: 'give_up', why: 'defect' };
		if (code === POLICY) return this.afterRejection(claimed);
		if (code === TOKEN_REJECTED) return this.retry('new', 'token_rejected');
		if (PASSING_CODES.has(code)) return this.retry('keep', 'unreachable');
		this.unexplained += 1;
		if (this.unexplained > 1) return { kind: 'give_up', why: 'lost_place' };
		return this.retry('new', 'lost_place');
	}

	private afterRejection(claimed: boolean): Step {
		this.rejections += 1;
		const why = claimed ? 'agent_inactive' : 'held_or_inactive';
		this.latest = why;
		if (this.rejections > 1 + this.needs().slowPolls) return { kind: 'give_up', why };
		this.claimDue = true;
		return reconnect(
			this.rejections === 1 ? { kind: 'backoff', attempt: 1 } : { kind: 'slow_poll' },
			'new',
		);
	}

	private retry(token: 'keep' | 'new', otherwise: EndingKind): Step {
		this.attempts += 1;
		this.latest = otherwise;
		if (this.attempts > this.needs().reconnectAttempts) return { kind: 'give_up', why: otherwise };
		return reconnect({ kind: 'backoff', attempt: this.attempts }, token);
	}
}

function reconnect(wait: ReconnectWait, token: 'keep' | 'new'): Step {
	return { kind: 'reconnect', wait, token };
}
