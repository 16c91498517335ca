import { type Clock, pause } from '../clock';
import { CHAT_BACKOFF } from './timings';

/** When the next attempt to connect is due. A new lease can request an early one. */
export class RetryTimer {
	private dueAt: number;

	private requested = new AbortController();

	/** Whether the latest wait ended before the attempt was due. */
	isEarly = false;

	constructor(private readonly clock: Clock) {
		this.dueAt = clock.elapsed();
	}

	/** Milliseconds until the attempt is due. */
	get leftMs(): number {
		return Math.max(this.dueAt - this.clock.elapsed(), 0);
	}

	schedule(ms: number): void {
		this.dueAt = this.clock.elapsed() + ms;
	}

	/** Ends the wait. During an attempt, the next wait is short. */
	request(): void {
		this.requested.abort();
	}

	/**
	 * Waits until an attempt is due or requested.
	 *
	 * @returns false if the signal aborted
	 */
	async wait(signal: AbortSignal): Promise<boolean> {
		const ms = this.dueAt - this.clock.elapsed();
		// A lease that began during the attempt waits for the first backoff at most.
		const waitMs = this.requested.signal.aborted ? Math.min(ms, CHAT_BACKOFF.firstMs) : ms;
		this.requested = new AbortController();
		await pause(this.clock, waitMs, AbortSignal.any([signal, this.requested.signal]));
		// Not by the time alone, because a timer may fire a little early.
		this.isEarly = (waitMs < ms || this.requested.signal.aborted) && this.leftMs > 0;
		this.requested = new AbortController();
		return !signal.aborted;
	}
}
