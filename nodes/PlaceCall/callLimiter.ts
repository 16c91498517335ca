import uniq from 'lodash/uniq';
import { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { explained, ExplainedError, NotSent, OutcomeUnknown } from '../shared/api/errors';
import { USER } from '../shared/api/resolution';
import { type CallLimit, calledText, nextPeriod, periodAt } from '../shared/calls/callsPerPerson';
import { pause } from '../shared/clock';
import type { DeduplicationStore } from '../shared/deduplicationStore';
import { clock } from '../shared/n8n/http/accountClient';
import {
	openRememberedNumbers,
	repeatOnStore,
	type StoreUse,
} from '../shared/n8n/once/rememberedTexts';
import { cancelSignal, requireRunning } from '../shared/n8n/run/cancel';
import { NotPlaced, OVER_LIMIT } from './notPlaced';
import { dayAndTime, withOffset } from '../shared/dates';

const STORE: StoreUse = {
	message: "n8n can't read or write the list of called numbers, so the call wasn't placed",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check n8n's database. Or remove 'Limit Calls per Person' and leave out people who were called recently.",
};

/** A call with a limit. */
type LimitedCall = {
	/** Equal for equal numbers. */
	number: string;
	limit: CallLimit;
	/** When it's placed, as planned now. In epoch milliseconds. */
	planned: () => number;
	/** In which the period begins. */
	zone: string;
};

/** `text`: what n8n remembers of the call. Undefined if the limit is reached. */
type Reservation = { period: string; text: string | undefined };

/**
 * *Limit Calls per Person* in one node run. n8n remembers the first, second, ... call to a person in each period. They're
 * reserved before a call is placed, for all items at once, because n8n reads and writes the whole list each time.
 */
export class CallLimiter {
	private readonly store: DeduplicationStore;
	/** By item. */
	private readonly calls = new Map<number, LimitedCall>();
	private readonly reservations = new Map<number, Reservation>();
	/** Reserved, but certainly not placed. */
	private readonly unused = new Set<string>();

	constructor(private readonly context: IExecuteFunctions) {
		this.store = openRememberedNumbers(context, STORE);
	}

	/** The call of an item. It isn't reserved yet. */
	add(index: number, call: LimitedCall): void {
		this.calls.set(index, call);
	}

	/**
	 * Reserves the calls of these items.
	 *
	 * @throws NotSent if the list of called numbers can't be read and written
	 */
	async reserve(indexes: readonly number[]): Promise<void> {
		let pending = indexes.flatMap((index) => {
			const call = this.calls.get(index);
			const period = call && this.periodIfClear(call);
			return call === undefined || period === undefined ? [] : [{ index, call, period }];
		});
		for (const { index, period } of pending) {
			this.reservations.set(index, { period, text: undefined });
		}
		for (let nth = 0; ; nth++) {
			const wanted = pending
				.filter(({ call }) => nth < call.limit.calls)
				.map((one) => ({ ...one, text: calledText(one.period, nth, one.call.number) }));
			if (wanted.length === 0) return;
			const free = new Set(await this.store.add(uniq(wanted.map(({ text }) => text))));
			// The first item with a number gets this call. Others try the next one.
			pending = wanted.filter(({ index, period, text }) => {
				if (!free.delete(text)) return true;
				this.reservations.set(index, { period, text });
				this.unused.add(text);
				return false;
			});
		}
	}

	/**
	 * Places the call of an item if the limit allows it.
	 *
	 * @throws NotPlaced if it isn't placed because of the limit
	 */
	async place<T>(index: number, place: () => Promise<T>): Promise<T> {
		const call = this.calls.get(index);
		if (call === undefined) return await place();
		// As a tool, or if another period has begun since, it isn't reserved with the others.
		if (this.reservations.get(index)?.period !== this.periodOf(call)) await this.reserve([index]);
		const text = this.reservations.get(index)?.text;
		if (text === undefined) {
			throw overLimit(call.limit, DateTime.fromMillis(call.planned(), { zone: call.zone }));
		}
		// Reserving can take as long as the database does.
		requireRunning(this.context);
		this.unused.delete(text);
		return await place().catch((error: unknown) => {
			const hadNoEffect = error instanceof ExplainedError && !(error instanceof OutcomeUnknown);
			if (hadNoEffect) this.unused.add(text);
			throw error;
		});
	}

	/** Forgets the reserved calls that were certainly not placed. If n8n can't, they count. */
	async releaseUnused(): Promise<void> {
		if (this.unused.size === 0) return;
		const signal = cancelSignal(this.context);
		await repeatOnStore(
			async () => await this.store.remove([...this.unused]),
			async (ms) => await pause(clock, ms, signal),
		).catch(() => undefined);
	}

	/**
	 * Before a request is sent again, because the calling hours or the day may have ended since.
	 *
	 * @param planned when the call would be placed, in epoch milliseconds
	 * @throws NotSent if that is in another period than the one it's reserved for
	 */
	requireSamePeriod(index: number, planned: number): void {
		const call = this.calls.get(index);
		if (call === undefined) return;
		if (this.periodOf(call, planned) === this.reservations.get(index)?.period) return;
		throw new NotSent(
			"The call wasn't placed, because it would count for another day, week, or month than when it was first sent",
			{ onScreen: 'Run this item in a new execution.', forModel: 'Ask for the call again.' },
			{ isTransient: false, origin: 'n8n' },
		);
	}

	private periodOf({ limit, planned, zone }: LimitedCall, at = planned()): string {
		return periodAt(DateTime.fromMillis(at, { zone }), limit.period);
	}

	/** Undefined for a call that can't be placed now, which fails on its own. */
	private periodIfClear(call: LimitedCall): string | undefined {
		try {
			return this.periodOf(call);
		} catch (error) {
			explained(error);
			return undefined;
		}
	}
}

function overLimit({ calls, period }: CallLimit, planned: DateTime): NotPlaced {
	const next = nextPeriod(planned, period);
	const time = `The next one is possible from ${dayAndTime(next)}.`;
	return new NotPlaced(
		`The call wasn't placed, because the limit of ${calls} ${calls === 1 ? 'call' : 'calls'} per ${period} to this number is reached`,
		{
			onScreen: `${time} To call earlier, change 'Limit Calls per Person', or forget the number with DND List > Forget.`,
			forModel: `${time} Do not call this number before that, also not in another format. You can call other people. Tell ${USER} when the next call is possible.`,
		},
		{ not_placed_reason: OVER_LIMIT, next_call_possible_at: withOffset(next) },
		true,
	);
}
