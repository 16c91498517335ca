import clamp from 'lodash/clamp';
import type { Clock } from '../../clock';
import { KeyedMutex } from '../../keyedMutex';

/** Adds texts to a stored set and returns the new ones. A simultaneous write by another process may undo it. */
export type RecordKeys = (texts: string[]) => Promise<string[]>;

/** Enough for simultaneous writes, and for a database that is unavailable for some seconds. */
const MAX_READS = 10;

export type CheckTimes = {
	/** Before an execution reads the set again. */
	pauseMs: number;
	/** Between two writes of a process, on average. */
	minIntervalMs: number;
	/** If writes are slow. */
	maxIntervalMs: number;
};

/** The interval is this many times as long as a write, so that processes seldom write at the same time. */
const INTERVAL_PER_WRITE = 10;

/** The weight of the latest write in the average. */
const LATEST_WRITE = 0.1;

/** An execution that checks whether it's the first with its key. */
type Claim = {
	key: string;
	/** The key with the execution's own mark. */
	mark: string;
	/** Undefined while it isn't known. */
	isFirst: boolean | undefined;
};

/**
 * Finds the first execution with a key, in all processes. n8n gives nodes no lock, and reads and writes the set as a
 * whole, so the later of two simultaneous writes undoes the other. Therefore each execution reads the set again after a
 * pause. If it has the key with the execution's own mark, the execution is the first. If it has only the key, it isn't. If
 * it has neither, the execution adds both again. This works if writes take less time than the pause. If they become slow,
 * processes write less often, so that the next read is later.
 *
 * The pause can't be avoided: a process can read the set before another one adds the key, and write it after that one has
 * read it again. Processes that share only one value, which they can't compare and write in one step, can't exclude each
 * other in another way.
 *
 * Executions of this process that are due at almost the same time share a read and write, so that many don't wait for
 * each other, and that simultaneous writes of processes are rare. An execution must not take part during its pause, because
 * that would add its mark to another one's key.
 */
export class FirstExecutions {
	/** By key: the executions that are checking. */
	private readonly checks = new Map<string, Promise<unknown>>();
	private readonly mutex = new KeyedMutex();
	private due: Claim[] = [];
	private next: Promise<void> | undefined;
	/** When the latest read and write began. */
	private recordedAt = -Infinity;
	/** How long reads and writes take on average. */
	private writeMs = 0;

	constructor(
		private readonly clock: Pick<Clock, 'elapsed' | 'sleep'>,
		private readonly random: () => number = Math.random,
	) {}

	/** Whether no execution of this process is checking. */
	get isIdle(): boolean {
		return this.checks.size === 0;
	}

	/**
	 * Whether this execution is the first with the key.
	 *
	 * @param claimant identifies the execution
	 * @throws Error if n8n can't record the key
	 */
	async isFirst(
		key: string,
		claimant: string,
		record: RecordKeys,
		times: CheckTimes,
	): Promise<boolean> {
		for (;;) {
			const earlier = this.checks.get(key);
			if (earlier === undefined) break;
			// One of this process has the key, unless n8n couldn't record it.
			const [{ status }] = await Promise.allSettled([earlier]);
			if (status === 'fulfilled') return false;
		}
		const claim: Claim = { key, mark: `${key} ${claimant}`, isFirst: undefined };
		const check = this.check(claim, record, times).finally(() => this.checks.delete(key));
		this.checks.set(key, check);
		return await check;
	}

	private async check(claim: Claim, record: RecordKeys, times: CheckTimes): Promise<boolean> {
		let lastFailure: unknown = 'other executions keep overwriting the record';
		for (let attempt = 0; attempt < MAX_READS; attempt++) {
			if (attempt > 0) await this.clock.sleep(times.pauseMs);
			try {
				await this.compare(claim, record, times);
				if (claim.isFirst !== undefined) return claim.isFirst;
			} catch (error) {
				lastFailure = error;
			}
		}
		throw new Error(`n8n couldn't record the event of this execution: ${String(lastFailure)}`);
	}

	/** Joins the next read and write, which begins after the one in progress, and some time after its beginning. */
	private async compare(claim: Claim, record: RecordKeys, times: CheckTimes): Promise<void> {
		this.due.push(claim);
		this.next ??= this.mutex.runExclusive('record', async () => {
			const early = this.recordedAt + this.intervalMs(times) - this.clock.elapsed();
			if (early > 0) await this.clock.sleep(early);
			this.recordedAt = this.clock.elapsed();
			const claims = this.due;
			this.due = [];
			this.next = undefined;
			const added = new Set(await record(claims.flatMap(({ key, mark }) => [key, mark])));
			this.writeMs += (this.clock.elapsed() - this.recordedAt - this.writeMs) * LATEST_WRITE;
			for (const one of claims) if (!added.has(one.key)) one.isFirst = !added.has(one.mark);
		});
		await this.next;
	}

	/** Random, because processes with equal intervals would overwrite each other again and again. */
	private intervalMs({ minIntervalMs, maxIntervalMs }: CheckTimes): number {
		const average = clamp(this.writeMs * INTERVAL_PER_WRITE, minIntervalMs, maxIntervalMs);
		return average * (0.5 + this.random());
	}
}
