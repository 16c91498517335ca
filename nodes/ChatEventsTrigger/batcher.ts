import { pause } from '../shared/clock';
import { clock } from '../shared/n8n/http/accountClient';

/** When the service is down, several requests fail soon after one another. */
const REPORT_DELAYS_MS = [15_000, 15_000, 60_000];

/** Lasting failures, and those caused by outsiders, are reported less and less often. */
const MAX_REPORT_DELAY_MS = 300_000;
const RECENT_MS = 600_000;

/** Reports failures to the workflow's owner in batches, so that many failures don't create as many failed executions. */
export class Batcher<T> {
	private batch: T[] = [];

	/** When batches were delivered recently, by `clock.elapsed()`. */
	private delivered: number[] = [];

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
		const now = clock.elapsed();
		this.delivered = this.delivered.filter((time) => time > now - RECENT_MS);
		const delay = REPORT_DELAYS_MS[this.delivered.length] ?? MAX_REPORT_DELAY_MS;
		await pause(clock, delay, this.signal);
		this.delivered.push(clock.elapsed());
		this.deliver(this.batch.splice(0));
	}
}
