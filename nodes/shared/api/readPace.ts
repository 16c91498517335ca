import { deferred, pause, type Clock, type Deferred } from '../clock';
import { onScreenOnly } from './resolution';
import { NotSent } from './errors';

/** Accepted reads after which one more may be in flight. */
const ACCEPTED_PER_STEP = 10;

/**
 * Slows down the reads of a client after a 429. Reads are then sent one at a time, after the wait that the service
 * asks for. While it accepts them, more are sent in parallel again. So parallel reads succeed whenever sequential
 * ones do. Once a read has run out of attempts, each of the others is tried once. Not p-limit, whose limit is fixed and
 * whose queue can't be left.
 */
export class ReadPace {
	private maxInFlight = Infinity;
	private inFlight = 0;
	private accepted = 0;
	/** In milliseconds of the clock's `elapsed()`. */
	private resumesAt = -Infinity;
	private hasGivenUp = false;
	private readonly waiting = new Set<Deferred<void>>();

	constructor(private readonly clock: Clock) {}

	/**
	 * @param signal aborted when the response is no longer needed
	 * @returns the result, and whether no other read was in flight
	 * @throws NotSent if the signal aborts before the read is sent
	 */
	async send<Result>(
		send: () => Promise<Result>,
		signal?: AbortSignal,
	): Promise<{ result: Result; wasAlone: boolean }> {
		// No await between the check and the increment, so that no other read takes the slot.
		while (this.inFlight >= this.maxInFlight) await this.waitForSlot(signal);
		const wasFirst = this.inFlight++ === 0;
		try {
			await this.waitUntilResumed(signal);
			const result = await send();
			return { result, wasAlone: wasFirst && this.inFlight === 1 };
		} finally {
			this.inFlight--;
			this.admit();
		}
	}

	/**
	 * Call this after a 429.
	 *
	 * @param waitMs before the next attempt. Undefined if there is none.
	 * @returns whether to try again
	 */
	slowDown(waitMs: number | undefined): boolean {
		this.maxInFlight = 1;
		this.accepted = 0;
		// One read that gives up is enough. Otherwise, thousands of reads would wait just as long.
		this.hasGivenUp ||= waitMs === undefined;
		const resumesAt = this.clock.elapsed() + (waitMs ?? 0);
		this.resumesAt = this.hasGivenUp ? -Infinity : Math.max(this.resumesAt, resumesAt);
		return !this.hasGivenUp;
	}

	/** Call this after an accepted read. */
	speedUp(): void {
		this.hasGivenUp = false;
		if (++this.accepted < ACCEPTED_PER_STEP) return;
		this.accepted = 0;
		this.maxInFlight++;
		this.admit();
	}

	private async waitForSlot(signal: AbortSignal | undefined): Promise<void> {
		if (isAborted(signal)) throw notSent();
		const slot: Deferred<void> = deferred();
		const giveUp = () => slot.resolve();
		this.waiting.add(slot);
		signal?.addEventListener('abort', giveUp, { once: true });
		await slot.promise;
		signal?.removeEventListener('abort', giveUp);
		this.waiting.delete(slot);
		if (!isAborted(signal)) return;
		// If this read was given a slot, pass it on.
		this.admit();
		throw notSent();
	}

	private admit(): void {
		const [first] = this.waiting;
		if (first === undefined || this.inFlight >= this.maxInFlight) return;
		this.waiting.delete(first);
		first.resolve();
	}

	private async waitUntilResumed(signal: AbortSignal | undefined): Promise<void> {
		const ms = this.resumesAt - this.clock.elapsed();
		if (ms <= 0) return;
		if (!(await pause(this.clock, ms, signal ?? new AbortController().signal))) throw notSent();
	}
}

function isAborted(signal: AbortSignal | undefined): boolean {
	return signal?.aborted === true;
}

function notSent(): NotSent {
	return new NotSent(
		"The request wasn't sent, because the service received too many requests and the execution ended before the next attempt",
		onScreenOnly('Run this node again later.'),
	);
}
