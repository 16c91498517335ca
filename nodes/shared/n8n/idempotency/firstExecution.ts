import type { Clock } from '../../clock';
import { KeyedMutex } from '../../keyedMutex';

/** Adds texts to a stored set and returns the new ones. A simultaneous write by another process may undo it. */
export type RecordKeys = (texts: string[]) => Promise<string[]>;

/** Enough for simultaneous writes, and for a database that is unavailable for some seconds. */
const MAX_READS = 10;

/** An execution that checks whether it's the first with its key. */
type Claim = {
	key: string;
	/** The key with the execution's own mark. */
	mark: string;
	pauseMs: number;
	/** Elapsed time at which the key was last added. */
	addedAt: number | undefined;
	/** Undefined while it isn't known. */
	isFirst: boolean | undefined;
};

/**
 * Finds the first execution with a key, in all processes. n8n gives nodes no lock, and reads and writes the set as a
 * whole, so the later of two simultaneous writes undoes the other. Therefore each execution reads the set again after a
 * pause. If it has the key with the execution's own mark, the execution is the first. If it has only the key, it isn't. If
 * it has neither, the execution adds both again. This works if writes take much less time than the pause.
 *
 * The pause can't be avoided: a process can read the set before another one adds the key, and write it after that one has
 * read it again. Without a pause that outlasts this, processes that share only one value can't exclude each other (Burns
 * and Lynch, 1993).
 *
 * Executions that check at the same time in this process share a read and write, so that many don't wait for each other.
 * Each write adds the texts of all of them again, which restores at once what another process has undone.
 */
export class FirstExecutions {
	private readonly claims = new Map<string, { claim: Claim; settled: Promise<unknown> }>();
	private readonly mutex = new KeyedMutex();
	private next: Promise<void> | undefined;

	constructor(private readonly clock: Pick<Clock, 'elapsed' | 'sleep'>) {}

	/** Whether no execution in this process is checking. */
	get isIdle(): boolean {
		return this.claims.size === 0;
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
		pauseMs: number,
	): Promise<boolean> {
		for (;;) {
			const earlier = this.claims.get(key);
			if (earlier === undefined) break;
			// One of this process has the key, unless n8n couldn't record it.
			const [{ status }] = await Promise.allSettled([earlier.settled]);
			if (status === 'fulfilled') return false;
		}
		const mark = `${key} ${claimant}`;
		const claim: Claim = { key, mark, pauseMs, addedAt: undefined, isFirst: undefined };
		const settled = this.settle(claim, record).finally(() => this.claims.delete(key));
		this.claims.set(key, { claim, settled });
		return await settled;
	}

	private async settle(claim: Claim, record: RecordKeys): Promise<boolean> {
		let lastFailure: unknown = 'other executions keep overwriting the record';
		for (let attempt = 0; attempt < MAX_READS; attempt++) {
			await this.pauseAfterAdding(claim);
			if (claim.isFirst !== undefined) return claim.isFirst;
			try {
				await this.compare(record);
			} catch (error) {
				lastFailure = error;
			}
			if (claim.isFirst !== undefined) return claim.isFirst;
		}
		throw new Error(`n8n couldn't record the event of this execution: ${String(lastFailure)}`);
	}

	/** Another execution of this process may add the key again in between, which starts the pause again. */
	private async pauseAfterAdding(claim: Claim): Promise<void> {
		while (claim.addedAt !== undefined && claim.isFirst === undefined) {
			const left = claim.addedAt + claim.pauseMs - this.clock.elapsed();
			if (left <= 0) return;
			await this.clock.sleep(left);
		}
	}

	/** Joins the next read and write, which begins after the one in progress. */
	private async compare(record: RecordKeys): Promise<void> {
		this.next ??= this.mutex.runExclusive('record', async () => {
			this.next = undefined;
			await this.compareAll(record);
		});
		await this.next;
	}

	private async compareAll(record: RecordKeys): Promise<void> {
		const claims = [...this.claims.values()]
			.map(({ claim }) => claim)
			.filter(({ isFirst }) => isFirst === undefined);
		const startedAt = this.clock.elapsed();
		try {
			const added = new Set(await record(claims.flatMap(({ key, mark }) => [key, mark])));
			for (const claim of claims) this.evaluate(claim, added, startedAt);
		} catch (error) {
			// n8n may have added them.
			for (const claim of claims) claim.addedAt = this.clock.elapsed();
			throw error;
		}
	}

	private evaluate(claim: Claim, added: ReadonlySet<string>, startedAt: number): void {
		const { key, mark, addedAt, pauseMs } = claim;
		if (added.has(key)) claim.addedAt = this.clock.elapsed();
		else if (added.has(mark)) claim.isFirst = false;
		// Without a time, n8n runs the first execution again.
		else if (addedAt === undefined || startedAt - addedAt >= pauseMs) claim.isFirst = true;
	}
}
