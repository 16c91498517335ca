import { pause } from '../clock';
import { RecentCount } from '../recentCount';
import { clock } from './connect';

/** When the service goes down one thing fails after another. */
const FIRST_WAITS_MS = [15_000, 15_000, 60_000];

/** Something that goes on failing, and strangers who make things fail, are told less and less often. */
const LONGEST_WAIT_MS = 300_000;
const LATELY_MS = 600_000;

/** What is told to the workflow's owner is told together, so that many failures make no flood of failed executions. */
export class Gathered<T> {
	private gathered: T[] = [];

	private readonly told = new RecentCount(LATELY_MS);

	/** @param signal aborted when the trigger is closed: then all is told at once */
	constructor(
		private readonly signal: AbortSignal,
		private readonly tell: (all: T[]) => void,
	) {}

	add(...some: T[]): void {
		const isFirst = this.gathered.length === 0 && some.length > 0;
		this.gathered.push(...some);
		if (isFirst) void this.tellSoon();
	}

	private async tellSoon(): Promise<void> {
		const wait = FIRST_WAITS_MS[this.told.at(clock.elapsed())] ?? LONGEST_WAIT_MS;
		await pause(clock, wait, this.signal);
		this.told.add(clock.elapsed());
		this.tell(this.gathered.splice(0));
	}
}
