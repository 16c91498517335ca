import pLimit from 'p-limit';
import { showsTheEnd } from './completion';
import type { JsonObject } from '../types';

/** Reads at once, so that 200 open calls neither take long nor press the service. */
const READS_AT_ONCE = 10;

export type ReadCall = (callId: string) => Promise<JsonObject>;

/** What is known of the calls that one sleeping execution waits for. */
export class OpenCalls {
	/** Calls that are over, with their records. */
	private readonly ended = new Map<string, JsonObject>();
	private readonly lastSeen = new Map<string, JsonObject>();
	private readonly reported = new Set<string>();
	private round: Promise<void> | undefined;
	private isComplete = false;

	constructor(
		private readonly callIds: ReadonlySet<string>,
		private readonly finished: readonly string[],
	) {}

	/** Calls that are not known to be over. */
	get open(): string[] {
		return [...this.callIds].filter((callId) => !this.ended.has(callId));
	}

	/** The record as last read, and whether its call is over. */
	known(callId: string): { record: JsonObject; isOver: boolean } {
		const record = this.ended.get(callId) ?? this.lastSeen.get(callId) ?? {};
		return { record, isOver: this.ended.has(callId) };
	}

	/** The service says that this call is over. */
	async report(callId: string, read: ReadCall): Promise<void> {
		this.reported.add(callId);
		if (this.callIds.has(callId) && !this.ended.has(callId)) await this.look(callId, read);
		// What was reported before this process knew of the calls is only found by looking.
		if (!this.isComplete) await this.lookAtAll(read);
	}

	/** Reads every open call; who comes while a round is under way waits for its end. */
	async lookAtAll(read: ReadCall): Promise<void> {
		this.round ??= this.startRound(read).finally(() => (this.round = undefined));
		await this.round;
	}

	private async startRound(read: ReadCall): Promise<void> {
		const limit = pLimit(READS_AT_ONCE);
		const reading = this.open.map((callId) => limit(async () => await this.look(callId, read)));
		const results = await Promise.allSettled(reading);
		// A call that could not be read now stays open until the next round.
		this.isComplete ||= results.every(({ status }) => status === 'fulfilled');
	}

	private async look(callId: string, read: ReadCall): Promise<void> {
		const record = await read(callId);
		this.lastSeen.set(callId, record);
		if (this.reported.has(callId) || showsTheEnd(record, this.finished)) {
			this.ended.set(callId, record);
		}
	}
}
