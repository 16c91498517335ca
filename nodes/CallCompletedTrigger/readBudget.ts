import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../shared/api/limits';
import { isPlacedHere } from '../shared/calls/placedCalls';
import { callKey } from '../shared/calls/report';
import { type Deferred, deferred } from '../shared/clock';
import type { Limiter } from '../shared/keyedMutex';
import { clock } from '../shared/n8n/http/accountClient';
import { RecentCount } from '../shared/recentCount';
import { BoundedMap } from '../shared/boundedMap';

/** Anyone can report made-up calls: so many are looked up at once, … */
export const MAX_UNKNOWN_AT_ONCE = 60;

/** … and then one in this time. */
export const NEXT_UNKNOWN_MS = 1_000;

/** A call that the service did not know is not looked up again for this time. */
const UNKNOWN_FOR_MS = 60_000;

/** A call that is reported over and over is read once in this time. */
const SAME_CALL_MS = 2_000;

const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 5_000;

type Waiting = { entered: Deferred<boolean>; signal: AbortSignal };

/**
 * What a trigger may spend on reading reported calls back. A call that this process has placed or read is free, because
 * the service surely knows it. Any other one takes from the budget, and gives it back as soon as the service knows it. So
 * made-up calls cost little, however many are reported.
 */
export class ReadBudget {
	/** Runs a few reads at a time, and the others in turn. */
	readonly limiter: Limiter = pLimit(READS_AT_ONCE);

	private readonly known = new BoundedMap<true>(MAX_KNOWN);

	/** When the service did not know a call, by the elapsed time. */
	private readonly unknown = new BoundedMap<number>(MAX_UNKNOWN);

	/** When a call was read last, by the elapsed time. */
	private readonly readAt = new BoundedMap<number>(MAX_UNKNOWN);

	/** Of calls that the service doesn't know, or that couldn't be read. */
	private readonly failedLookups = new RecentCount(60_000);

	private available = MAX_UNKNOWN_AT_ONCE;

	private refilledAt = clock.elapsed();

	/** Oldest first. */
	private waiting: Waiting[] = [];

	private isServing = false;

	private isNewestNext = true;

	/** Whether a call that may be made up has to wait. */
	get isSpent(): boolean {
		this.refill();
		return this.waiting.length > 0 || this.available < 1;
	}

	/** Whether calls wait because many others couldn't be found or read. A burst of real calls is no flood. */
	get isFlooded(): boolean {
		return this.isSpent && this.failedLookups.at(clock.elapsed()) >= MAX_UNKNOWN_AT_ONCE / 2;
	}

	/** Calls that wait to be looked up. */
	get waitingCount(): number {
		return this.waiting.length;
	}

	isKnown(callId: string): boolean {
		return isPlacedHere(callId) || this.known.has(callKey(callId));
	}

	/** Whether the service did not know it a moment ago. */
	isUnknown(callId: string): boolean {
		const at = this.unknown.get(callKey(callId));
		return at !== undefined && clock.elapsed() - at < UNKNOWN_FOR_MS;
	}

	/** Milliseconds until this call may be read. */
	untilNextRead(callId: string): number {
		const at = this.readAt.get(callKey(callId));
		return at === undefined ? 0 : Math.max(0, at + SAME_CALL_MS - clock.elapsed());
	}

	/**
	 * Waits until a call that may be made up can be looked up.
	 *
	 * @returns false if the signal was aborted before
	 */
	async enter(signal: AbortSignal): Promise<boolean> {
		if (!this.isSpent) {
			this.available--;
			return true;
		}
		const entered = deferred<boolean>();
		const leave = () => {
			// All that wait with the same signal leave with the first of them.
			this.waiting = this.waiting.filter((one) => one.signal !== signal);
			entered.resolve(false);
		};
		this.waiting.push({ entered, signal });
		signal.addEventListener('abort', leave, { once: true });
		void this.serve();
		return await entered.promise.finally(() => signal.removeEventListener('abort', leave));
	}

	/** The service knows the call: what `enter` took is given back. */
	noteKnown(callId: string, hasEntered: boolean): void {
		this.known.set(callKey(callId), true);
		if (!hasEntered) return;
		this.refill();
		this.available = Math.min(MAX_UNKNOWN_AT_ONCE, this.available + 1);
		this.admit();
	}

	/** The service doesn't know the call, or it couldn't be read: what `enter` took is not given back. */
	noteFailedLookup(callId: string, isUnknown: boolean): void {
		this.failedLookups.add(clock.elapsed());
		if (isUnknown) this.unknown.set(callKey(callId), clock.elapsed());
	}

	noteRead(callId: string): void {
		this.readAt.set(callKey(callId), clock.elapsed());
	}

	private async serve(): Promise<void> {
		if (this.isServing) return;
		this.isServing = true;
		while (this.waiting.length > 0) {
			await clock.sleep(NEXT_UNKNOWN_MS);
			this.refill();
			this.admit();
		}
		this.isServing = false;
	}

	private admit(): void {
		while (this.available >= 1) {
			// Oldest first would make a new call wait for an hour, newest first an old one forever.
			const next = this.isNewestNext ? this.waiting.pop() : this.waiting.shift();
			if (next === undefined) return;
			this.isNewestNext = !this.isNewestNext;
			this.available--;
			next.entered.resolve(true);
		}
	}

	private refill(): void {
		const now = clock.elapsed();
		const earned = Math.max(0, now - this.refilledAt) / NEXT_UNKNOWN_MS;
		this.available = Math.min(MAX_UNKNOWN_AT_ONCE, this.available + earned);
		this.refilledAt = now;
	}
}

/** By the trigger, whether it is active in this process or not. */
const budgets = new Map<string, ReadBudget>();

export function budgetOf(place: string): ReadBudget {
	const known = budgets.get(place);
	if (known !== undefined) return known;
	const budget = new ReadBudget();
	budgets.set(place, budget);
	return budget;
}
