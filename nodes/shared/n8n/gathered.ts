import { pause } from '../clock';
import { clock } from './connect';

/** When the service goes down one thing fails after another. */
const GATHER_MS = 15_000;

/** What is told to the workflow's owner is told together, so that many failures make no flood of failed executions. */
export class Gathered<T> {
	private gathered: T[] = [];

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
		await pause(clock, GATHER_MS, this.signal);
		this.tell(this.gathered.splice(0));
	}
}
