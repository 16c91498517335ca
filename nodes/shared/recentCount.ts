/** Counts events in the most recent time span. Its user must limit the number of events. */
export class RecentCount {
	/** Milliseconds by the caller's clock, oldest first. */
	private times: number[] = [];

	constructor(private readonly spanMs: number) {}

	add(now: number): void {
		this.times.push(now);
	}

	at(now: number): number {
		this.times = this.times.filter((time) => time > now - this.spanMs);
		return this.times.length;
	}

	/** Milliseconds until the oldest event no longer counts. */
	untilFewer(now: number): number {
		const [oldest = now - this.spanMs] = this.times;
		return Math.max(0, oldest + this.spanMs - now);
	}
}
