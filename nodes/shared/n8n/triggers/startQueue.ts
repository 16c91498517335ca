import pLimit from 'p-limit';
import { settledOrTimeout } from '../../clock';
import { clock } from '../http/accountClient';

/** n8n stores an execution within this time, unless it's busy. */
const STORED_AFTER_MS = 250;

/** After a failed attempt. Then others may start, because n8n may be unable to store only one of them. */
const FAILING_MS = 10_000;

/** While n8n is busy, timers fire later than this. */
const MAX_TIMER_DELAY_MS = 50;

/** How many times n8n gets {@link STORED_AFTER_MS} while it's busy. */
const MAX_ROUNDS = 4;

/**
 * The executions of one trigger that wait to be started. n8n says when an execution ends, but not when it's stored. A
 * workflow can take minutes, so the next execution doesn't wait for that. It waits only while n8n is busy or can't store
 * executions.
 */
export class StartQueue {
	private readonly limit: ReturnType<typeof pLimit>;

	/** Elapsed time of the latest failed attempt, which may fail long after others have started. */
	private failedAt = -Infinity;

	/** @param max the executions that start at the same time. Hundreds of them would block n8n's database. */
	constructor(max: number) {
		this.limit = pLimit(max);
	}

	/** The executions that haven't started yet. */
	get waiting(): number {
		return this.limit.pendingCount;
	}

	/**
	 * Starts an execution after those that wait already.
	 *
	 * @param start returns when the execution ends, or nothing if there is none to start anymore. Calls `onFailure` after
	 * each attempt that failed.
	 * @returns when the next execution may start
	 */
	async add(start: (onFailure: () => void) => Promise<unknown> | undefined): Promise<void> {
		await this.limit(async () => {
			const ended = start(() => (this.failedAt = clock.elapsed()));
			if (ended !== undefined) await this.untilStored(ended);
		});
	}

	/** Waits until everything that waits now has started. */
	async allStarted(): Promise<void> {
		await this.limit(async () => {});
	}

	private async untilStored(ended: Promise<unknown>): Promise<void> {
		const end = ended.then(() => true);
		for (let round = 0; round < MAX_ROUNDS; round++) {
			const due = clock.elapsed() + STORED_AFTER_MS;
			const timer = clock.sleep(STORED_AFTER_MS).then(() => false);
			if (await Promise.race([end, timer])) return;
			if (clock.elapsed() - this.failedAt < FAILING_MS) {
				await settledOrTimeout(clock, FAILING_MS, ended);
				return;
			}
			if (clock.elapsed() - due <= MAX_TIMER_DELAY_MS) return;
		}
	}
}
