import { performance } from 'node:perf_hooks';
import { setTimeout as realSleep } from 'node:timers/promises';
import sortBy from 'lodash/sortBy';
import type { Clock } from '../../nodes/core/values/clock';

const TICK_MS = 1;

/** A limit of the nodes is a series of sleeps of at most this length, so a limit of seconds takes several ticks. */
const MAX_STEP_MS = 1_000;

/**
 * A clock that runs up to `times` faster than the real time, and stops while this process reads from a socket or
 * file. So a response that is on its way arrives before its limit passes, however slow the machine is. The service must
 * run in the same process.
 */
export class FastClock implements Clock {
	private elapsedMs = performance.now();

	private readonly sleepers = new Set<{ due: number; wake: () => void }>();

	private isTicking = false;

	/** @param times can be changed at any time. With 0, the clock stops. */
	constructor(public times: number) {}

	/** The real time, because the service sends dates. */
	now(): number {
		return Date.now();
	}

	elapsed(): number {
		return this.elapsedMs;
	}

	async sleep(ms: number): Promise<void> {
		await new Promise<void>((wake) => {
			this.sleepers.add({ due: this.elapsedMs + ms, wake });
			if (!this.isTicking) void this.tick();
		});
	}

	/** Lets this time pass at once. */
	pass(ms: number): void {
		this.elapsedMs += ms;
		for (const sleeper of sortBy([...this.sleepers], 'due')) {
			if (sleeper.due > this.elapsedMs) return;
			this.sleepers.delete(sleeper);
			sleeper.wake();
		}
	}

	private async tick(): Promise<void> {
		this.isTicking = true;
		while (this.sleepers.size > 0) {
			const { events } = performance.nodeTiming.uvMetricsInfo;
			await realSleep(TICK_MS, undefined, { ref: false });
			if (performance.nodeTiming.uvMetricsInfo.events === events)
				this.pass(Math.min(TICK_MS * this.times, MAX_STEP_MS));
		}
		this.isTicking = false;
	}
}
