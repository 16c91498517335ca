import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../shared/api/limits';
import { isPlacedHere } from '../shared/calls/placedCalls';
import { callKey } from '../shared/calls/report';
import { type Deferred, deferred } from '../shared/clock';
import type { Limiter } from '../shared/keyedMutex';
import { clock } from '../shared/n8n/http/accountClient';
import { RecentCount } from '../shared/recentCount';
import { BoundedMap } from '../shared/boundedMap';

/** Unknown calls to read immediately, because anyone can report calls that don't exist. */
export const MAX_UNKNOWN_AT_ONCE = 60;

/** After them, one unknown call is read per interval. */
export const NEXT_UNKNOWN_MS = 1_000;

/** A call that the service didn't find isn't read again for this time. */
const UNKNOWN_FOR_MS = 60_000;

/** A call that is reported repeatedly is read once in this time. */
const SAME_CALL_MS = 2_000;

const MAX_KNOWN = 20_000;
const MAX_UNKNOWN = 5_000;

type Waiting = { entered: Deferred<boolean>; signal: AbortSignal };

/**
 * Limits how often a trigger reads unknown calls. A call that this process has placed or read is free, because it
 * exists. Any other call takes from the budget, and returns it when the service finds the call. So forged requests
 * cause few requests to the service.
 */
export class ReadBudget {
	/** Limits the reads at the same time. */
	readonly limiter: Limiter = pLimit(READS_AT_ONCE);

	private readonly known = new BoundedMap<true>(MAX_KNOWN);

	/** Elapsed time at which the service didn't find a call. */
	private readonly unknown = new BoundedMap<number>(MAX_UNKNOWN);

	/** Elapsed time at which a call was last read. */
	private readonly readAt = new BoundedMap<number>(MAX_UNKNOWN);

	/** Reads of calls that the service didn't find, or that failed. */
	private readonly failedLookups = new RecentCount(60_000);

	private available = MAX_UNKNOWN_AT_ONCE;

	private refilledAt = clock.elapsed();

	/** Oldest first. */
	private waiting: Waiting[] = [];

	private isServing = false;

	private isNewestNext = true;

	/** Whether an unknown call has to wait. */
	get isSpent(): boolean {
		this.refill();
		return this.waiting.length > 0 || this.available < 1;
	}

	/** Whether calls wait because many others couldn't be found or read. A burst of real calls isn't a flood. */
	get isFlooded(): boolean {
		return this.isSpent && this.failedLookups.at(clock.elapsed()) >= MAX_UNKNOWN_AT_ONCE / 2;
	}

	/** Calls that wait to be read. */
	get waitingCount(): number {
		return this.waiting.length;
	}

	isKnown(callId: string): boolean {
		return isPlacedHere(callId) || this.known.has(callKey(callId));
	}

	/** Whether the service didn't find the call recently. */
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
	 * Waits until an unknown call may be read.
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
			// All calls with the same signal leave with the first one.
			this.waiting = this.waiting.filter((one) => one.signal !== signal);
			entered.resolve(false);
		};
		this.waiting.push({ entered, signal });
		signal.addEventListener('abort', leave, { once: true });
		void this.serve();
		return await entered.promise.finally(() => signal.removeEventListener('abort', leave));
	}

	/** The service found the call, so the budget of `enter` is returned. */
	noteKnown(callId: string, hasEntered: boolean): void {
		this.known.set(callKey(callId), true);
		if (!hasEntered) return;
		this.refill();
		this.available = Math.min(MAX_UNKNOWN_AT_ONCE, this.available + 1);
		this.admit();
	}

	/** The service didn't find the call, or reading failed, so the budget of `enter` isn't returned. */
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
			// Alternate: oldest first would delay a new call for an hour, newest first an old one forever.
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

/** By trigger, active in this process or not. */
const budgets = new Map<string, ReadBudget>();

export function budgetOf(triggerKey: string): ReadBudget {
	const known = budgets.get(triggerKey);
	if (known !== undefined) return known;
	const budget = new ReadBudget();
	budgets.set(triggerKey, budget);
	return budget;
}
