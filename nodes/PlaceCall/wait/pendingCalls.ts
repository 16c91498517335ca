import { READS_AT_ONCE } from '../../shared/api/limits';
import pLimit from 'p-limit';
import { hasEnded, type CallState } from '../../shared/calls/callEnd';
import { whyNotRead } from '../../shared/notRead';
import { callKey } from '../../shared/calls/report';
import type { JsonObject } from '../../shared/json';

/**
 * How long the record of a call may lag behind its completion webhook. If it shows no end even then, the service marks
 * the end in an undocumented way, and the call counts as completed.
 */
export const MAX_LAG_MS = 5 * 60_000;

/** Minimum interval of reading all calls, because anyone who knows the resume URL can request it. */
const NEXT_ROUND_MS = 2_000;

/** Minimum interval of reading a call because of its completion webhook. */
const NEXT_POLL_MS = 1_000;

export type ReadRecord = (callId: string) => Promise<JsonObject>;

/** The state of the calls that a waiting execution waits for. */
export class PendingCalls {
	/** Records of completed calls. */
	private readonly ended = new Map<string, JsonObject>();
	private readonly lastSeen = new Map<string, JsonObject>();
	/** The reason why the last read of a call failed. */
	private readonly notRead = new Map<string, string>();
	/** Elapsed time of the first completion webhook of a call. */
	private readonly reportedAt = new Map<string, number>();
	/** Elapsed time at which a call was last read because of its completion webhook. */
	private readonly polledAt = new Map<string, number>();
	/** By normalized call ID. */
	private readonly callIds: ReadonlyMap<string, string>;
	private round: Promise<void> | undefined;
	/** Elapsed time at which all pending calls were last read. */
	private completeAt = -Infinity;

	constructor(
		callIds: ReadonlySet<string>,
		private readonly finished: readonly string[],
		/** Milliseconds of a monotonic clock. */
		private readonly now: () => number,
	) {
		this.callIds = new Map([...callIds].map((callId) => [callKey(callId), callId]));
	}

	/** Calls that aren't known to be completed. */
	get pending(): string[] {
		return [...this.callIds.values()].filter((callId) => !this.ended.has(callId));
	}

	/** Calls whose completion webhook has arrived, and whose records show no end yet. */
	get lagging(): string[] {
		return this.pending.filter((callId) => this.reportedAt.has(callId));
	}

	/** The last record, and whether the call is completed. */
	known(callId: string): CallState {
		const record = this.ended.get(callId) ?? this.lastSeen.get(callId) ?? {};
		const readFailure = this.notRead.get(callId);
		return {
			record,
			hasEnded: this.ended.has(callId),
			...(readFailure !== undefined && { readFailure }),
		};
	}

	/** The completion webhook of these calls has arrived. */
	noteReported(reported: readonly string[]): void {
		for (const callId of this.ours(reported)) {
			if (!this.reportedAt.has(callId)) this.reportedAt.set(callId, this.now());
		}
	}

	/** The wait ends, and the pending calls can't be read, so their state may be outdated. */
	noteNotRead(error: unknown): void {
		for (const callId of this.pending) this.notRead.set(callId, whyNotRead(error, 'onScreen'));
	}

	/** Reads the calls whose completion webhook has arrived. */
	async handleCompleted(reported: readonly string[], read: ReadRecord): Promise<void> {
		this.noteReported(reported);
		const ours = this.ours(reported);
		const now = this.now();
		const due = ours.filter((callId) => {
			const at = this.polledAt.get(callId) ?? -Infinity;
			return !this.ended.has(callId) && now - at >= NEXT_POLL_MS;
		});
		for (const callId of due) this.polledAt.set(callId, now);
		const polls = await this.pollCalls(due, read);
		for (const poll of polls) if (poll.status === 'rejected') throw poll.reason;
		// Webhooks may have arrived before this process knew the calls, so read all once.
		if (this.completeAt === -Infinity) await this.pollAll(read);
	}

	/** Reads every pending call, unless they were just read. Concurrent callers share a round. */
	async pollAll(read: ReadRecord): Promise<void> {
		if (this.now() - this.completeAt < NEXT_ROUND_MS) return;
		this.round ??= this.startRound(read).finally(() => (this.round = undefined));
		await this.round;
	}

	/** Reads the lagging calls again. Failed reads are repeated the next time. */
	async pollLagging(read: ReadRecord): Promise<void> {
		await this.pollCalls(this.lagging, read);
	}

	private ours(callIds: readonly string[]): string[] {
		return callIds.flatMap((callId) => this.callIds.get(callKey(callId)) ?? []);
	}

	private async startRound(read: ReadRecord): Promise<void> {
		const results = await this.pollCalls(this.pending, read);
		// A call that can't be read stays pending until the next round.
		if (results.every(({ status }) => status === 'fulfilled')) this.completeAt = this.now();
	}

	private async pollCalls(
		callIds: readonly string[],
		read: ReadRecord,
	): Promise<PromiseSettledResult<void>[]> {
		const limit = pLimit(READS_AT_ONCE);
		const polls = callIds.map((callId) => limit(async () => await this.poll(callId, read)));
		return await Promise.allSettled(polls);
	}

	private async poll(callId: string, read: ReadRecord): Promise<void> {
		const record = await read(callId).catch((error: unknown) => {
			// Reads may overlap, and another one may have seen the end of the call.
			if (!this.ended.has(callId)) this.notRead.set(callId, whyNotRead(error, 'onScreen'));
			throw error;
		});
		this.notRead.delete(callId);
		this.lastSeen.set(callId, record);
		const reportedAt = this.reportedAt.get(callId) ?? Infinity;
		if (hasEnded(record, this.finished) || this.now() - reportedAt >= MAX_LAG_MS) {
			this.ended.set(callId, record);
		}
	}
}
