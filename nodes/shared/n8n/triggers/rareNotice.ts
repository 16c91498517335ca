import { pause } from '../../clock';
import { clock } from '../http/accountClient';

/** What outsiders cause comes in bursts: the first notice counts what came within this time. */
const FIRST_AFTER_MS = 60_000;

const NEXT_AFTER_MS = 3_600_000;

/**
 * Tells the workflow's owner about something that outsiders can cause as often as they like: within a minute, then at
 * most once an hour, with the number of times.
 */
export class RareNotice<T> {
	private times = 0;

	private nextAt = 0;

	/** @param signal aborted when the trigger is closed: the owner is then told immediately */
	constructor(
		private readonly signal: AbortSignal,
		private readonly tell: (times: number, first: T) => void,
	) {}

	add(what: T): void {
		this.times++;
		if (this.times === 1) void this.tellLater(what);
	}

	private async tellLater(first: T): Promise<void> {
		const now = clock.elapsed();
		await pause(clock, Math.max(FIRST_AFTER_MS, this.nextAt - now), this.signal);
		this.nextAt = clock.elapsed() + NEXT_AFTER_MS;
		const { times } = this;
		this.times = 0;
		this.tell(times, first);
	}
}
