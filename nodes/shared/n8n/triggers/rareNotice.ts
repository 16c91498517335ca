import { pause } from '../../clock';
import { clock } from '../http/accountClient';

/** Events from outsiders come in bursts. The first notice counts those within this time. */
const FIRST_AFTER_MS = 60_000;

const NEXT_AFTER_MS = 3_600_000;

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
		await pause(clock, Math.max(FIRST_AFTER_MS, this.nextAt - now), this.signal);
		this.nextAt = clock.elapsed() + NEXT_AFTER_MS;
		const { times } = this;
		this.times = 0;
		this.notify(times, first);
	}
}
