import type { Deliveries, Job } from './deliveries';

/** Jobs that are claimed together, because n8n writes all claims of a node each time. If it's killed, as many are unknown. */
const JOBS_PER_BATCH = 50;

/** Of a batch. `failure`: why `toSend` can't be sent. The others were sent before, or may have been. */
type Claimed = { toSend: ReadonlySet<number>; failure: { error: unknown } | undefined };

/** Claims the jobs of a batch before the first of them is sent, and frees those that had no effect after the last one. */
export class Batches {
	private readonly claims = new Map<number, Promise<Claimed>>();
	/** How many jobs of a batch have ended. */
	private readonly ended = new Map<number, number>();

	/**
	 * @param count of all jobs, also of those that are left out
	 * @param sendable those that may be sent, by their index among all
	 * @param reserve reserves what they need besides, such as a call of a limit. They are sent next.
	 * @param size of a batch
	 */
	constructor(
		private readonly deliveries: Deliveries,
		private readonly count: number,
		private readonly sendable: ReadonlyMap<number, Job>,
		private readonly reserve: (indexes: number[]) => Promise<void>,
		private readonly size = JOBS_PER_BATCH,
	) {}

	/**
	 * Call this before a job is sent.
	 *
	 * @throws if what the job needs besides can't be reserved
	 */
	async claim(index: number): Promise<void> {
		const batch = this.batchOf(index);
		const claiming = this.claims.get(batch) ?? this.claimAll(batch);
		this.claims.set(batch, claiming);
		const { toSend, failure } = await claiming;
		if (failure !== undefined && toSend.has(index)) throw failure.error;
	}

	/** Finds those of the first batch that an earlier attempt may have sent. */
	async lookUp(): Promise<void> {
		await this.deliveries.claim([...this.jobsOf(0).keys()]);
	}

	private async claimAll(batch: number): Promise<Claimed> {
		const indexes = this.jobsOf(batch);
		const jobs = await this.deliveries.claim([...indexes.keys()]);
		const toSend = jobs.flatMap((job) => indexes.get(job) ?? []);
		const failure = await this.reserve(toSend).then(
			() => undefined,
			(error: unknown) => ({ error }),
		);
		return { toSend: new Set(toSend), failure };
	}

	/** Call this when a job has ended, also if it wasn't sent. */
	async end(index: number): Promise<void> {
		const batch = this.batchOf(index);
		const ended = (this.ended.get(batch) ?? 0) + 1;
		this.ended.set(batch, ended);
		const size = Math.min(this.size, this.count - batch);
		if (ended === size) await this.deliveries.free([...this.jobsOf(batch).keys()]);
	}

	/** The index of the first job of its batch. */
	private batchOf(index: number): number {
		return index - (index % this.size);
	}

	/** With their indexes. */
	private jobsOf(batch: number): ReadonlyMap<Job, number> {
		const jobs = new Map<Job, number>();
		for (let index = batch; index < batch + this.size; index++) {
			const job = this.sendable.get(index);
			if (job !== undefined) jobs.set(job, index);
		}
		return jobs;
	}
}
