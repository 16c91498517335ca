import { READS_AT_ONCE } from '../../shared/api/limits';
import pLimit from 'p-limit';
import { isOver, type KnownCall } from '../../shared/calls/completion';
import { whyNotRead } from '../../shared/calls/readBack';
import type { JsonObject } from '../../shared/json';

/**
 * How long the record of a reported call may lag behind its report. A record that shows no end even then is one of
 * a service that marks the end in another way: the report alone has to do.
 */
export const LONGEST_LAG_MS = 5 * 60_000;

export type ReadRecord = (callId: string) => Promise<JsonObject>;

/** What is known of the calls that one sleeping execution waits for. */
export class OpenCalls {
	/** Calls that are over, with their records. */
	private readonly ended = new Map<string, JsonObject>();
	private readonly lastSeen = new Map<string, JsonObject>();
	/** Why the last look at a call gave nothing. */
	private readonly notRead = new Map<string, string>();
	/** When the service first said that a call is over, in epoch milliseconds. */
	private readonly reportedAt = new Map<string, number>();
	private round: Promise<void> | undefined;
	private isComplete = false;

	constructor(
		private readonly callIds: ReadonlySet<string>,
		private readonly finished: readonly string[],
		private readonly now: () => number,
	) {}

	/** Calls that are not known to be over. */
	get open(): string[] {
		return [...this.callIds].filter((callId) => !this.ended.has(callId));
	}

	/** Calls that were reported and whose records show no end yet. */
	get lagging(): string[] {
		return this.open.filter((callId) => this.reportedAt.has(callId));
	}

	/** The record as last read, and whether its call is over. */
	known(callId: string): KnownCall {
		const record = this.ended.get(callId) ?? this.lastSeen.get(callId) ?? {};
		const refused = this.notRead.get(callId);
		return {
			record,
			isOver: this.ended.has(callId),
			...(this.reportedAt.has(callId) && { isReported: true }),
			...(refused !== undefined && { refused }),
		};
	}

	/** The service says that this call is over. */
	async report(callId: string, read: ReadRecord): Promise<void> {
		if (this.callIds.has(callId) && !this.reportedAt.has(callId)) {
			this.reportedAt.set(callId, this.now());
		}
		if (this.callIds.has(callId) && !this.ended.has(callId)) await this.look(callId, read);
		// What was reported before this process knew of the calls is only found by looking.
		if (!this.isComplete) await this.lookAtAll(read);
	}

	/** Reads every open call; who comes while a round is under way waits for its end. */
	async lookAtAll(read: ReadRecord): Promise<void> {
		this.round ??= this.startRound(read).finally(() => (this.round = undefined));
		await this.round;
	}

	/** Reads the reported calls again; one that cannot be read now is left for the next time. */
	async lookAtLagging(read: ReadRecord): Promise<void> {
		await this.lookAt(this.lagging, read);
	}

	private async startRound(read: ReadRecord): Promise<void> {
		const results = await this.lookAt(this.open, read);
		// A call that could not be read now stays open until the next round.
		this.isComplete ||= results.every(({ status }) => status === 'fulfilled');
	}

	private async lookAt(
		callIds: readonly string[],
		read: ReadRecord,
	): Promise<PromiseSettledResult<void>[]> {
		const limit = pLimit(READS_AT_ONCE);
		const reading = callIds.map((callId) => limit(async () => await this.look(callId, read)));
		return await Promise.allSettled(reading);
	}

	private async look(callId: string, read: ReadRecord): Promise<void> {
		const record = await read(callId).catch((error: unknown) => {
			this.notRead.set(callId, whyNotRead(error));
			throw error;
		});
		this.notRead.delete(callId);
		this.lastSeen.set(callId, record);
		const reportedAt = this.reportedAt.get(callId) ?? Infinity;
		if (isOver(record, this.finished) || this.now() - reportedAt >= LONGEST_LAG_MS) {
			this.ended.set(callId, record);
		}
	}
}
