/** Counts what happened within the latest span of time. Its user stops at a maximum, so that it stays small. */
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

	/** Milliseconds until the oldest of them no longer counts. */
	untilFewer(now: number): number {
		const [oldest = now - this.spanMs] = this.times;
		return Math.max(0, oldest + this.spanMs - now);
	}
}
