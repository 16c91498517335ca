import { pause } from '../../clock';
import { RecentCount } from '../../recentCount';
import { clock } from '../http/accountClient';

/** When the service is down, several requests fail soon after one another. */
const FIRST_WAITS_MS = [15_000, 15_000, 60_000];

/** Lasting failures, and those caused by outsiders, are reported less and less often. */
const LONGEST_WAIT_MS = 300_000;
const RECENT_MS = 600_000;

/** Reports failures to the workflow's owner in batches, so that many failures don't create as many failed executions. */
export class Batcher<T> {
	private batch: T[] = [];

	private readonly deliveries = new RecentCount(RECENT_MS);

	/** @param signal aborted when the trigger closes. Delivers the batch immediately. */
	constructor(
		private readonly signal: AbortSignal,
		private readonly deliver: (all: T[]) => void,
	) {}

	add(...some: T[]): void {
		const isFirst = this.batch.length === 0 && some.length > 0;
		this.batch.push(...some);
		if (isFirst) void this.deliverLater();
	}

	private async deliverLater(): Promise<void> {
		const wait = FIRST_WAITS_MS[this.deliveries.at(clock.elapsed())] ?? LONGEST_WAIT_MS;
		await pause(clock, wait, this.signal);
		this.deliveries.add(clock.elapsed());
		this.deliver(this.batch.splice(0));
	}
}
