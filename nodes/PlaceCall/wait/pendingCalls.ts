import { READS_AT_ONCE } from '../../shared/api/limits';
import pLimit from 'p-limit';
import { hasEnded, type CallState } from '../../shared/calls/callEnd';
import { whyNotRead } from '../../shared/notRead';
import { callKey } from '../../shared/calls/report';
import type { JsonObject } from '../../shared/json';

/**
 * How long the record of a reported call may lag behind its report. A record that shows no end even then is one of
 * a service that marks the end in another way: the report alone has to do.
 */
export const LONGEST_LAG_MS = 5 * 60_000;

/**
 * Whoever knows the address of a sleeping execution can have its calls read again and again: all of them once in this
 * time, …
 */
const NEXT_ROUND_MS = 2_000;

/** … and a reported one once in this time. */
const NEXT_POLL_MS = 1_000;

export type ReadRecord = (callId: string) => Promise<JsonObject>;

/** What is known of the calls that one sleeping execution waits for. */
export class PendingCalls {
	/** Calls that are over, with their records. */
	private readonly ended = new Map<string, JsonObject>();
	private readonly lastSeen = new Map<string, JsonObject>();
	/** Why the last look at a call gave nothing. */
	private readonly notRead = new Map<string, string>();
	/** When the service first said that a call is over, by the elapsed time. */
	private readonly reportedAt = new Map<string, number>();
	/** When a report last had its call looked at, by the elapsed time. */
	private readonly polledAt = new Map<string, number>();
	/** By the key of their IDs. */
	private readonly callIds: ReadonlyMap<string, string>;
	private round: Promise<void> | undefined;
	/** When all open calls were last read, by the elapsed time. */
	private completeAt = -Infinity;

	constructor(
		callIds: ReadonlySet<string>,
		private readonly finished: readonly string[],
		/** Milliseconds, by a clock that nobody sets. */
		private readonly now: () => number,
	) {
		this.callIds = new Map([...callIds].map((callId) => [callKey(callId), callId]));
	}

	/** Calls that are not known to be over. */
	get pending(): string[] {
		return [...this.callIds.values()].filter((callId) => !this.ended.has(callId));
	}

	/** Calls that were reported and whose records show no end yet. */
	get lagging(): string[] {
		return this.pending.filter((callId) => this.reportedAt.has(callId));
	}

	/** The record as last read, and whether its call is over. */
	known(callId: string): CallState {
		const record = this.ended.get(callId) ?? this.lastSeen.get(callId) ?? {};
		const readFailure = this.notRead.get(callId);
		return {
			record,
			hasEnded: this.ended.has(callId),
			...(this.reportedAt.has(callId) && { isReported: true }),
			...(readFailure !== undefined && { readFailure }),
		};
	}

	/** The service says that these calls are over. */
	noteReported(reported: readonly string[]): void {
		for (const callId of this.ours(reported)) {
			if (!this.reportedAt.has(callId)) this.reportedAt.set(callId, this.now());
		}
	}

	/** The wait ends, and this process can't look at the calls: what it knows of those still open is from before. */
	noteNotRead(error: unknown): void {
		for (const callId of this.pending) this.notRead.set(callId, whyNotRead(error, 'onScreen'));
	}

	/** Notes and reads the calls that the service says are over. */
	async report(reported: readonly string[], read: ReadRecord): Promise<void> {
		this.noteReported(reported);
		const ours = this.ours(reported);
		const now = this.now();
		const due = ours.filter((callId) => {
			const at = this.polledAt.get(callId) ?? -Infinity;
			return !this.ended.has(callId) && now - at >= NEXT_POLL_MS;
		});
		for (const callId of due) this.polledAt.set(callId, now);
		const looks = await this.pollCalls(due, read);
		for (const poll of looks) if (poll.status === 'rejected') throw poll.reason;
		// What was reported before this process knew of the calls is only found by looking.
		if (this.completeAt === -Infinity) await this.pollAll(read);
	}

	/** Reads every open call, unless that was done a moment ago; who comes while a round is under way waits for its end. */
	async pollAll(read: ReadRecord): Promise<void> {
		if (this.now() - this.completeAt < NEXT_ROUND_MS) return;
		this.round ??= this.startRound(read).finally(() => (this.round = undefined));
		await this.round;
	}

	/** Reads the reported calls again; one that cannot be read now is left for the next time. */
	async pollLagging(read: ReadRecord): Promise<void> {
		await this.pollCalls(this.lagging, read);
	}

	private ours(callIds: readonly string[]): string[] {
		return callIds.flatMap((callId) => this.callIds.get(callKey(callId)) ?? []);
	}

	private async startRound(read: ReadRecord): Promise<void> {
		const results = await this.pollCalls(this.pending, read);
		// A call that could not be read now stays open until the next round.
		if (results.every(({ status }) => status === 'fulfilled')) this.completeAt = this.now();
	}

	private async pollCalls(
		callIds: readonly string[],
		read: ReadRecord,
	): Promise<PromiseSettledResult<void>[]> {
		const limit = pLimit(READS_AT_ONCE);
		const reading = callIds.map((callId) => limit(async () => await this.look(callId, read)));
		return await Promise.allSettled(reading);
	}

	private async look(callId: string, read: ReadRecord): Promise<void> {
		const record = await read(callId).catch((error: unknown) => {
			// Looks may overlap: nothing need be read of a call that another one has seen end.
			if (!this.ended.has(callId)) this.notRead.set(callId, whyNotRead(error, 'onScreen'));
			throw error;
		});
		this.notRead.delete(callId);
		this.lastSeen.set(callId, record);
		const reportedAt = this.reportedAt.get(callId) ?? Infinity;
		if (hasEnded(record, this.finished) || this.now() - reportedAt >= LONGEST_LAG_MS) {
			this.ended.set(callId, record);
		}
	}
}
