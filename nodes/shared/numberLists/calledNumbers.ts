import difference from 'lodash/difference';
import range from 'lodash/range';
import { removeAll, type DeduplicationStore } from '../deduplicationStore';

/** At most this many calls in any period of this length. */
export type CallLimit = { calls: number; periodMs: number };

/** The number was called too often. Both times are in epoch milliseconds. */
export type LimitReached = { latestCall: number; nextPossible: number };

/** A call that is recorded before it's placed. */
export type RecordedCall = {
	/** Removes the record, if the call certainly wasn't placed. */
	release: () => Promise<void>;
	/** Changes its time, in epoch milliseconds. Does nothing if the number was forgotten since. */
	moveTo: (at: number) => Promise<void>;
};

const SECOND_MS = 1_000;
/** 2026-01-01 in UTC, in epoch seconds. */
const EPOCH_S = 1_767_225_600;
/** Until 2060. */
const DIGITS = 6;
const BASE = 32;
const LATEST_S = EPOCH_S + BASE ** DIGITS - 1;

/** Texts that the store has for one call. */
export const TEXTS_PER_CALL = DIGITS + 1;

/** An empty slot. */
const NEVER = -Infinity;

/**
 * The times of the calls to each number, over all executions. The store can only look up a text by adding it. So a time
 * is stored as one text for each of its digits. To read it, all possible digits are added, and then removed again.
 *
 * A number has slots 1, 2, and so on, each for one call. If n8n is killed while it reads a slot, the slot has several
 * digits in one position. Its call then counts from the time at which this is found, also if it was scheduled for later.
 */
export class CalledNumbers {
	constructor(private readonly store: DeduplicationStore) {}

	/**
	 * Records a call before it's placed. Only one caller at a time may use the store.
	 *
	 * @param key equal for equal numbers
	 * @param at when the call is placed, in epoch milliseconds: now, or later for a scheduled call
	 */
	async record(
		key: string,
		at: number,
		now: number,
		limit: CallLimit,
	): Promise<RecordedCall | LimitReached> {
		const used = await this.addSlot(key);
		if (used < limit.calls) return await this.write(key, used, at);
		const times = await this.read(key, used, now);
		const isRecent = (time: number) => time > now - limit.periodMs;
		const recent = times.filter(isRecent);
		if (!fits(recent, at, limit)) {
			await this.keepOnly(key, times, [slotText(key, used)]);
			return reached(recent, at, limit);
		}
		const old = times.findIndex((time) => !isRecent(time));
		if (old < 0) {
			await this.keepOnly(key, times);
			return await this.write(key, used, at);
		}
		await this.keepOnly(key, times.with(old, at), [slotText(key, used)]);
		return this.recorded(key, old, at);
	}

	/** @returns whether a call to the number was recorded */
	async forget(key: string): Promise<boolean> {
		const used = await this.addSlot(key);
		const times = await this.read(key, used, 0);
		const slots = range(used + 1).map((slot) => slotText(key, slot));
		const empty = times.map(() => NEVER);
		// The slots last: until then, the number has slots without a call.
		await this.keepOnly(key, empty, slots);
		return times.some((time) => time !== NEVER);
	}

	/** Adds the first slot that the number doesn't have. @returns how many it had */
	private async addSlot(key: string): Promise<number> {
		for (let slot = 0; ; slot++) {
			const added = await this.store.add([slotText(key, slot)]);
			if (added.length > 0) return slot;
		}
	}

	/** The times in all slots, in epoch milliseconds. All possible digits stay in the store until `keepOnly`. */
	private async read(key: string, slots: number, now: number): Promise<number[]> {
		const texts = range(slots).flatMap((slot) => allDigits(key, slot));
		const added = new Set(texts.length === 0 ? [] : await this.store.add(texts));
		return range(slots).map((slot) => {
			const digits = range(DIGITS).map((position) =>
				range(BASE).filter((digit) => !added.has(digitText(key, slot, position, digit))),
			);
			if (digits.every(({ length }) => length === 0)) return NEVER;
			return digits.every(({ length }) => length === 1) ? timeOf(digits.flat()) : storedTime(now);
		});
	}

	/** Removes all digits, except those of the times in each slot, and then other texts. */
	private async keepOnly(
		key: string,
		times: readonly number[],
		others: readonly string[] = [],
	): Promise<void> {
		const removed = times.flatMap((time, slot) =>
			difference(allDigits(key, slot), time === NEVER ? [] : digitTexts(key, slot, time)),
		);
		await removeAll(this.store, [...removed, ...others]);
	}

	private async write(key: string, slot: number, at: number): Promise<RecordedCall> {
		await this.store.add(digitTexts(key, slot, at));
		return this.recorded(key, slot, at);
	}

	/** The slot stays when its call is released, because a later one may be in use. */
	private recorded(key: string, slot: number, at: number): RecordedCall {
		const texts = digitTexts(key, slot, at);
		const slots = [slotText(key, slot)];
		let isForgotten = false;
		return {
			release: async () => await removeAll(this.store, texts),
			moveTo: async (other) => {
				isForgotten ||= (await this.store.add(slots)).length > 0;
				if (isForgotten) {
					await removeAll(this.store, slots);
					return;
				}
				const others = digitTexts(key, slot, other);
				await this.store.add(difference(others, texts));
				await removeAll(this.store, difference(texts, others));
			},
		};
	}
}

/** Whether no period with another call at this time has more calls than allowed. Stored times are rounded up. */
function fits(times: readonly number[], at: number, { calls, periodMs }: CallLimit): boolean {
	return [at, storedTime(at)].every((time) => {
		const sorted = [...times, time].sort((one, other) => one - other);
		const own = sorted.indexOf(time);
		// Other periods can have more calls if the limit was lowered.
		return range(own - calls, own + 1).every(
			(first) => (sorted[first + calls] ?? Infinity) - (sorted[first] ?? -Infinity) >= periodMs,
		);
	});
}

function reached(times: readonly number[], at: number, limit: CallLimit): LimitReached {
	const latestCall = Math.max(...times);
	const ends = times.map((time) => time + limit.periodMs).filter((end) => end > at);
	const possible = ends.filter((end) => fits(times, end, limit));
	return { latestCall, nextPossible: Math.min(...possible, latestCall + limit.periodMs) };
}

function slotText(key: string, slot: number): string {
	return `call ${slot} to ${key}`;
}

function digitText(key: string, slot: number, position: number, digit: number): string {
	return `${slotText(key, slot)} ${position} ${digit}`;
}

function allDigits(key: string, slot: number): string[] {
	return range(DIGITS).flatMap((position) =>
		range(BASE).map((digit) => digitText(key, slot, position, digit)),
	);
}

function digitTexts(key: string, slot: number, at: number): string[] {
	const seconds = storedTime(at) / SECOND_MS - EPOCH_S;
	return range(DIGITS).map((position) =>
		digitText(key, slot, position, Math.floor(seconds / BASE ** position) % BASE),
	);
}

function timeOf(digits: readonly number[]): number {
	const seconds = digits.reduce((sum, digit, position) => sum + digit * BASE ** position, 0);
	return (EPOCH_S + seconds) * SECOND_MS;
}

/** The time as it's stored: rounded up to a second. */
function storedTime(at: number): number {
	const seconds = Math.ceil(at / SECOND_MS);
	return Math.min(Math.max(seconds, EPOCH_S), LATEST_S) * SECOND_MS;
}
