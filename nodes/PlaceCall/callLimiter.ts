import uniq from 'lodash/uniq';
import type { DateTime } from 'luxon';
import { type CallLimit, calledText, periodAt } from '../core/calls/callsPerPerson';
import type { TextList } from '../core/claims/textList';
import type { CallerRun } from '../host/caller/caller';
import type { Limiter } from '../core/values/keyedMutex';
import { openTextList, repeatOnList, type StoreUse } from '../host/claims/openTextList';
import { NotPlaced } from './notPlaced';
import { dayAndTime, withOffset } from '../core/values/dates';

const STORE: StoreUse = {
	message: "n8n can't read or write the list of called numbers, so the call wasn't placed",
	description:
		"In n8n, save the workflow and try again. If that doesn't help, ask your n8n administrator to check n8n's database. Or set 'Limit Calls per Person' to 'No Limit' and leave out people who were called recently.",
};

/** *Limit Calls per Person* in one run of the node. */
export function openCallLimiter(run: CallerRun): CallLimiter {
	const list = openTextList(run, 'workflow', STORE);
	return new CallLimiter(list, run.context.getTimezone(), repeatOnList(run));
}

/** A call with a limit, as planned last. */
type LimitedCall = {
	looseKey: string;
	limit: CallLimit;
	planned: DateTime;
	/** In which it counts. */
	period: string;
};

/** `text`: what n8n remembers of the call. Undefined if the limit is reached. */
type Reservation = { period: string; text: string | undefined };

/**
 * The first, second, ... call to a person in each period is claimed before it's placed,
 * for all items of a batch at once, because n8n reads and writes the whole list each time.
 */
export class CallLimiter {
	/** By item. */
	private readonly calls = new Map<number, LimitedCall>();
	private readonly reservations = new Map<number, Reservation>();
	/** Reserved, but certainly not placed. */
	private readonly unused = new Set<string>();

	/**
	 * @param list of the workflow
	 * @param zone in which the periods count
	 * @param repeat repeats an access to the list that fails
	 */
	constructor(
		private readonly list: TextList,
		private readonly zone: string,
		private readonly repeat: Limiter,
	) {}

	/** When the call of an item is placed, as decided last. It counts in the period of the workflow's time zone. */
	plan(index: number, looseKey: string, limit: CallLimit | undefined, at: DateTime): void {
		if (limit === undefined) return;
		const planned = at.setZone(this.zone);
		const period = periodAt(planned, limit.period);
		this.calls.set(index, { looseKey, limit, planned, period });
	}

	/**
	 * Reserves the calls of these items in the periods for which they're planned.
	 *
	 * @throws NotSent if the list of called numbers can't be read and written
	 */
	async reserve(indexes: readonly number[]): Promise<void> {
		let pending = indexes.flatMap((index) => {
			const call = this.calls.get(index);
			return call === undefined ? [] : [{ index, ...call }];
		});
		for (const { index, period } of pending) {
			this.giveBack(index);
			this.reservations.set(index, { period, text: undefined });
		}
		// One after another: with all at once, other executions would find none free until some are released.
		for (let nth = 0; ; nth++) {
			const wanted = pending
				.filter(({ limit }) => nth < limit.calls)
				.map((call) => ({ ...call, text: calledText(call.period, nth, call.looseKey) }));
			if (wanted.length === 0) return;
			const free = new Set(await this.list.add(uniq(wanted.map(({ text }) => text))));
			for (const text of free) this.unused.add(text);
			// The first item with a number gets this call. Others try the next one.
			pending = wanted.filter(({ index, period, text }) => {
				if (!free.delete(text)) return true;
				this.reservations.set(index, { period, text });
				return false;
			});
		}
	}

	/**
	 * Counts the item's call, which is sent next. Without a limit, there's nothing to count.
	 *
	 * @param zone of the person, for the message
	 * @returns false if it isn't reserved in the period for which it's planned
	 * @throws NotPlaced if the limit of that period is reached
	 */
	use(index: number, zone: string): boolean {
		const call = this.calls.get(index);
		const reservation = this.reservations.get(index);
		if (call === undefined) return true;
		if (reservation?.period !== call.period) return false;
		if (reservation.text === undefined) throw overLimit(call, zone);
		this.unused.delete(reservation.text);
		return true;
	}

	/** The item's call was certainly not placed. */
	giveBack(index: number): void {
		const text = this.reservations.get(index)?.text;
		if (text !== undefined) this.unused.add(text);
	}

	/** Forgets the reserved calls that were certainly not placed. Never throws: if n8n can't, they count. */
	async releaseUnused(): Promise<void> {
		if (this.unused.size === 0) return;
		await this.repeat(async () => await this.list.remove([...this.unused])).catch(() => undefined);
	}
}

function overLimit({ limit: { calls, period }, planned }: LimitedCall, zone: string): NotPlaced {
	// Some days have no midnight, so the next period doesn't begin a day after the start of this one.
	const next = planned
		.plus({ [period]: 1 })
		.startOf(period)
		.setZone(zone);
	const time = `The next one is possible from ${dayAndTime(next)}.`;
	return new NotPlaced(
		`The call wasn't placed, because the limit of ${calls} ${calls === 1 ? 'call' : 'calls'} per ${period} to this number is reached`,
		`${time} Do not call this number before that, also not in another format. You can call other people. In n8n, DND List > Forget allows it earlier.`,
		{ not_placed_reason: 'call_limit_reached', next_call_possible_at: withOffset(next) },
		true,
	);
}
