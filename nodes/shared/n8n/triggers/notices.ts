import { pause } from '../../clock';
import { RecentCount } from '../../recentCount';
import { clock } from '../http/accountClient';

/** When the service is down, several requests fail soon after one another. */
const REPORT_DELAYS_MS = [15_000, 15_000, 60_000];

/** Lasting failures, and those caused by outsiders, are reported less and less often. */
const MAX_REPORT_DELAY_MS = 300_000;
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
		const recent = this.deliveries.at(clock.elapsed());
		const delay = REPORT_DELAYS_MS[recent] ?? MAX_REPORT_DELAY_MS;
		await pause(clock, delay, this.signal);
		this.deliveries.add(clock.elapsed());
		this.deliver(this.batch.splice(0));
	}
}

/** Events from outsiders come in bursts. The first notice counts those within this time. */
const FIRST_NOTICE_AFTER_MS = 60_000;

const NEXT_NOTICE_AFTER_MS = 3_600_000;

/**
 * Notifies the workflow's owner of an event that outsiders can cause any number of times: after a minute, then at most
 * once an hour, with the number of events.
 */
export class RareNotice<T> {
	private times = 0;

	private nextAt = 0;

	/** @param signal aborted when the trigger closes. Notifies the owner immediately. */
	constructor(
		private readonly signal: AbortSignal,
		private readonly notify: (times: number, first: T) => void,
	) {}

	add(event: T): void {
		this.times++;
		if (this.times === 1) void this.notifyLater(event);
	}

	private async notifyLater(first: T): Promise<void> {
		const now = clock.elapsed();
		await pause(clock, Math.max(FIRST_NOTICE_AFTER_MS, this.nextAt - now), this.signal);
		this.nextAt = clock.elapsed() + NEXT_NOTICE_AFTER_MS;
		const { times } = this;
		this.times = 0;
		this.notify(times, first);
	}
}
