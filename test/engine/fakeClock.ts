import type { Clock } from '../../nodes/core/values/clock';

/** Lets all pending promises settle. */
export async function settle(): Promise<void> {
	await new Promise((resolve) => {
		setImmediate(resolve);
	});
}

/** A clock that only moves when a test advances it. */
export class FakeClock implements Clock {
	readonly requested: number[] = [];

	private sleepers: Array<{ dueAt: number; resolve: () => void }> = [];

	constructor(private time = 1_700_000_000_000) {}

	now(): number {
		return this.time;
	}

	elapsed(): number {
		return this.time;
	}

	get pending(): number {
		return this.sleepers.length;
	}

	async sleep(ms: number): Promise<void> {
		this.requested.push(ms);
		await new Promise<void>((resolve) => {
			this.sleepers.push({ dueAt: this.time + ms, resolve });
		});
	}

	async advance(ms: number): Promise<void> {
		const end = this.time + ms;
		await settle();
		for (;;) {
			const next = Math.min(...this.sleepers.map(({ dueAt }) => dueAt));
			if (next > end) break;
			this.time = Math.max(this.time, next);
			const due = this.sleepers.filter(({ dueAt }) => dueAt <= next);
			this.sleepers = this.sleepers.filter(({ dueAt }) => dueAt > next);
			for (const { resolve } of due) resolve();
			await settle();
		}
		this.time = end;
	}
}
