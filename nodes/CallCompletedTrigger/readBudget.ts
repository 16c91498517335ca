import pLimit from 'p-limit';
import { READS_AT_ONCE } from '../shared/api/limits';
import { isPlacedHere } from '../shared/calls/placedCalls';
import { callKey } from '../shared/calls/report';
import { type Deferred, deferred } from '../shared/clock';
import type { Turn } from '../shared/inTurn';
import { clock } from '../shared/n8n/connect';
import { RecentCount } from '../shared/recentCount';
import { RecentIds } from '../shared/recentIds';

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

type Waiting = Deferred<boolean>;

/**
 * What a trigger may spend on reading reported calls back. Calls that the service is known to know (this process has
 * placed or read them) are free. Each other one takes from a budget, and gives it back as soon as the service knows it:
 * so made-up calls cost little, however many are reported, and hold up no more than each other.
 */
export class ReadBudget {
	/** Puts each read in its turn. */
	readonly inTurn: Turn = pLimit(READS_AT_ONCE);

	private readonly known = new RecentIds<true>(MAX_KNOWN);

	/** When the service did not know a call, in epoch milliseconds. */
	private readonly unknown = new RecentIds<number>(MAX_UNKNOWN);

	/** When a call was read last, in epoch milliseconds. */
	private readonly readAt = new RecentIds<number>(MAX_UNKNOWN);

	/** Looks that found no call. */
	private readonly vain = new RecentCount(60_000);

	private left = MAX_UNKNOWN_AT_ONCE;

	private countedAt = clock.now();

	/** Oldest first. */
	private waiting: Waiting[] = [];

	private isServing = false;

	private isNewestNext = true;

	/** Whether a call that may be made up has to wait. */
	get isSpent(): boolean {
		this.count();
		return this.waiting.length > 0 || this.left < 1;
	}

	/** Whether calls have to wait because many others were made up or could not be read, and not for a burst of real ones. */
	get isFlooded(): boolean {
		return this.isSpent && this.vain.at(clock.now()) >= MAX_UNKNOWN_AT_ONCE / 2;
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
		return at !== undefined && clock.now() - at < UNKNOWN_FOR_MS;
	}

	/** Milliseconds until this call may be read. */
	untilNextRead(callId: string): number {
		const at = this.readAt.get(callKey(callId));
		return at === undefined ? 0 : Math.max(0, at + SAME_CALL_MS - clock.now());
	}

	/**
	 * Waits until a call that may be made up can be looked up.
	 *
	 * @returns false if the signal was aborted before
	 */
	async enter(signal: AbortSignal): Promise<boolean> {
		if (!this.isSpent) {
			this.left--;
			return true;
		}
		const waiting: Waiting = deferred();
		const leave = () => {
			this.waiting = this.waiting.filter((one) => one !== waiting);
			waiting.resolve(false);
		};
		this.waiting.push(waiting);
		signal.addEventListener('abort', leave, { once: true });
		void this.serve();
		return await waiting.promise.finally(() => signal.removeEventListener('abort', leave));
	}

	/** The service knows the call; what `enter` took is given back. */
	noteKnown(callId: string, hasEntered: boolean): void {
		this.known.set(callKey(callId), true);
		if (!hasEntered) return;
		this.count();
		this.left = Math.min(MAX_UNKNOWN_AT_ONCE, this.left + 1);
		this.admit();
	}

	/** The service does not know the call, or it could not be read; what `enter` took is gone. */
	noteVain(callId: string, isUnknown: boolean): void {
		this.vain.add(clock.now());
		if (isUnknown) this.unknown.set(callKey(callId), clock.now());
	}

	noteRead(callId: string): void {
		this.readAt.set(callKey(callId), clock.now());
	}

	private async serve(): Promise<void> {
		if (this.isServing) return;
		this.isServing = true;
		while (this.waiting.length > 0) {
			await clock.sleep(NEXT_UNKNOWN_MS);
			this.count();
			this.admit();
		}
		this.isServing = false;
	}

	private admit(): void {
		while (this.left >= 1) {
			// The oldest would keep new ones waiting for an hour, the newest would let the oldest wait for ever.
			const next = this.isNewestNext ? this.waiting.pop() : this.waiting.shift();
			if (next === undefined) return;
			this.isNewestNext = !this.isNewestNext;
			this.left--;
			next.resolve(true);
		}
	}

	private count(): void {
		const now = clock.now();
		const earned = Math.max(0, now - this.countedAt) / NEXT_UNKNOWN_MS;
		this.left = Math.min(MAX_UNKNOWN_AT_ONCE, this.left + earned);
		this.countedAt = now;
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
