import once from 'lodash/once';
import uniq from 'lodash/uniq';
import type { DateTime } from 'luxon';
import { USER } from '../core/service/resolution';
import { type CallLimit, calledText, nextPeriod, periodAt } from '../core/calls/callsPerPerson';
import type { DeduplicationStore } from '../core/ledger/store';
import type { Notes } from '../core/ledger/notes';
import type { CallerRun } from '../host/caller/caller';
import { openNotes } from '../host/ledger/openLedger';
import { openStore, repeatOnStore, type StoreUse } from '../host/ledger/openStore';
import type { CheckedCall } from './fields/readCallForm';
import { NotPlaced } from './notPlaced';
import { dayAndTime, withOffset } from '../core/values/dates';

const STORE: StoreUse = {
	message: "n8n can't read or write the list of called numbers, so the call wasn't placed",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check n8n's database. Or set 'Limit Calls per Person' to 'No Limit' and leave out people who were called recently.",
};

/** A call with a limit, as planned last. */
type LimitedCall = {
	looseKey: string;
	limit: CallLimit;
	planned: DateTime;
	/** In which it counts, such as "2026-11-25". */
	period: string;
};

/** `text`: what n8n remembers of the call. Undefined if the limit is reached. */
type Reservation = { period: string; text: string | undefined };

/**
 * *Limit Calls per Person* in one node run. n8n remembers the first, second, ... call to a person in each period. They're
 * reserved before a call is placed, for all items at once, because n8n reads and writes the whole list each time.
 */
export class CallLimiter {
	/** Whether the same people can be called again in the same period. */
	allowsAnother = false;
	private readonly store: DeduplicationStore;
	/** By item. */
	private readonly calls = new Map<number, LimitedCall>();
	private readonly reservations = new Map<number, Reservation>();
	/** Reserved, but certainly not placed. */
	private readonly unused = new Set<string>();
	private readonly reserved = new Set<string>();
	private readonly notes: () => Promise<Notes | undefined>;

	constructor(private readonly run: CallerRun) {
		this.store = openStore(run, 'workflow', STORE);
		this.notes = once(async () => await openNotes(run));
	}

	/** When the call of an item is placed, as decided last. It counts in the period of the workflow's time zone. */
	plan(index: number, { looseKey, time: { limit } }: CheckedCall, at: DateTime): void {
		if (limit === undefined) return;
		const planned = at.setZone(this.run.context.getTimezone());
		const period = periodAt(planned, limit.period);
		this.calls.set(index, { looseKey, limit, planned, period });
	}

	/** Takes the limit of each item, also of one that isn't called in this attempt. */
	takeLimit(limit: CallLimit | undefined): void {
		this.allowsAnother ||= limit === undefined || limit.calls > 1;
	}

	/** Reserves all planned calls, once. */
	readonly reservePlanned = once(async () => await this.reserve([...this.calls.keys()]));

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
			const free = await this.freeOf(uniq(wanted.map(({ text }) => text)));
			// The first item with a number gets this call. Others try the next one.
			pending = wanted.filter(({ index, period, text }) => {
				if (!free.delete(text)) return true;
				this.reservations.set(index, { period, text });
				return false;
			});
		}
	}

	/** Reserves those that nobody has reserved, except an earlier attempt of this execution that n8n's end interrupted. */
	private async freeOf(texts: string[]): Promise<Set<string>> {
		const added = await this.store.add(texts);
		// Before the notes, which n8n may fail to write.
		this.keepReserved(added);
		const notes = await this.notes();
		const free = new Set(added);
		const takenOver =
			(await notes?.takeOverReservations(texts.filter((text) => !free.has(text)))) ?? [];
		this.keepReserved(takenOver);
		for (const text of takenOver) free.add(text);
		await notes?.addReservations([...free]);
		return free;
	}

	private keepReserved(texts: Iterable<string>): void {
		for (const text of texts) {
			this.reserved.add(text);
			this.unused.add(text);
		}
	}

	/**
	 * Counts the item's call, which is sent next. Without a limit, there's nothing to count.
	 *
	 * @returns false if it isn't reserved in the period for which it's planned
	 * @throws NotPlaced if the limit of that period is reached
	 */
	use(index: number): boolean {
		const call = this.calls.get(index);
		const reservation = this.reservations.get(index);
		if (call === undefined) return true;
		if (reservation?.period !== call.period) return false;
		if (reservation.text === undefined) throw overLimit(call);
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
		if (this.reserved.size === 0) return;
		const notes = await this.notes().catch(() => undefined);
		await notes?.removeReservations([...this.reserved]);
		if (this.unused.size === 0) return;
		const repeat = repeatOnStore(this.run);
		await repeat(async () => await this.store.remove([...this.unused])).catch(() => undefined);
	}
}

function overLimit({ limit: { calls, period }, planned }: LimitedCall): NotPlaced {
	const next = nextPeriod(planned, period);
	const time = `The next one is possible from ${dayAndTime(next)}.`;
	return new NotPlaced(
		`The call wasn't placed, because the limit of ${calls} ${calls === 1 ? 'call' : 'calls'} per ${period} to this number is reached`,
		{
			onScreen: `${time} To call earlier, change 'Limit Calls per Person', or forget the number with DND List > Forget.`,
			forModel: `${time} Do not call this number before that, also not in another format. You can call other people. Tell ${USER} when the next call is possible.`,
		},
		{ not_placed_reason: 'call_limit_reached', next_call_possible_at: withOffset(next) },
		true,
	);
}
