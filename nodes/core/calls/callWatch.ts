import { readEach } from '../service/limits';
import { backoffMs, type Backoff, type Clock } from '../values/clock';
import type { JsonObject } from '../values/json';
import { errorText } from '../service/errors';
import { hasEnded, type CallState, type StatusKeys } from './callEnd';

const READ_BACKOFF: Backoff = { firstMs: 5_000, maxMs: 60_000, factor: 1.5 };

type WatchOptions = {
	read: (callId: string) => Promise<JsonObject>;
	/** Statuses that count as finished. */
	finished: StatusKeys;
};

/** The calls that an execution waits for: which have ended, and when to read the others again. */
export class CallWatch {
	private readonly calls = new Map<string, CallState>();

	constructor(
		private readonly callIds: readonly string[],
		private readonly options: WatchOptions,
	) {}

	/** Calls that aren't known to have ended. */
	get pending(): string[] {
		return this.callIds.filter((callId) => !this.state(callId).hasEnded);
	}

	/** A call as last read. */
	state(callId: string): CallState {
		return this.calls.get(callId) ?? { record: {}, hasEnded: false };
	}

	/** Reads these calls, several at a time. A call that can't be read has the reason in its state. */
	async read(callIds: readonly string[]): Promise<void> {
		await readEach(callIds, async (callId) => await this.readOne(callId));
	}

	/**
	 * Reads the pending calls in rounds, at growing intervals, until all have ended or the time limit is reached.
	 *
	 * @param until in milliseconds of the clock's `elapsed()`
	 */
	async readUntilAllEnded(clock: Clock, until: number): Promise<void> {
		for (let round = 1; ; round++) {
			const remaining = until - clock.elapsed();
			if (this.pending.length === 0 || remaining <= 0) return;
			await clock.sleep(Math.min(backoffMs(READ_BACKOFF, round), remaining));
			await this.read(this.pending);
		}
	}

	/** Ends the wait for the pending calls, for this reason. */
	giveUp(reason: string): void {
		for (const callId of this.pending) {
			this.calls.set(callId, { ...this.state(callId), readFailure: reason });
		}
	}

	private async readOne(callId: string): Promise<void> {
		const { read, finished } = this.options;
		try {
			const record = await read(callId);
			this.calls.set(callId, { record, hasEnded: hasEnded(record, finished) });
		} catch (error) {
			// The call was placed, so a failed read must not stop the node.
			const { record } = this.state(callId);
			this.calls.set(callId, { record, hasEnded: false, readFailure: errorText(error) });
		}
	}
}
