/** How often a person is called: once in an execution, and at most n times in a period. And how many calls an agent run places. */
import uniq from 'lodash/uniq';
import type { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import {
	type CallLimit,
	calledText,
	MAX_CALLS,
	periodAt,
	PERIODS,
} from '../core/calls/callsPerPerson';
import type { TextList } from '../core/claims/claims';
import { NotSent, OutcomeUnknown } from '../core/service/errors';
import { dayAndTime, withOffset } from '../core/values/dates';
import { hashOf } from '../core/values/hash';
import type { Limiter } from '../core/values/keyedMutex';
import { type CallerRun, USER } from '../host/caller/caller';
import { agentRunOf } from '../host/caller/rows';
import { openClaims } from '../host/claims/openClaims';
import { openTextList, repeatOnList, type StoreUse } from '../host/claims/openTextList';
import type { Fields } from '../host/forms/fields';
import { runNumberOf } from '../host/nodeRun';
import type { OperationRun } from '../host/run/operations';
import type { OncePerPerson } from '../host/run/preparedRequest';
import { NotPlaced } from './notPlaced';

const NO_LIMIT = 'none';

const limitPer: INodeProperties = {
	displayName: 'Limit Calls per Person',
	name: 'callLimit',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'No Limit', value: NO_LIMIT },
		{ name: 'Per Day', value: 'day' },
		{ name: 'Per Week', value: 'week' },
		{ name: 'Per Month', value: 'month' },
	],
	default: NO_LIMIT,
	description:
		'How often this workflow may call the same number, over all its executions. Periods begin at midnight in its time zone, weeks on Monday.',
};

const maximumCalls: INodeProperties = {
	displayName: 'Maximum Calls',
	name: 'maximumCalls',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MAX_CALLS, numberPrecision: 0 },
	default: 1,
	description: `How many calls to place to the same number in each period, from 1 to ${MAX_CALLS}. A scheduled call counts when it's due.`,
	displayOptions: { hide: { [limitPer.name]: [NO_LIMIT] } },
};

export const callLimit = [limitPer, maximumCalls];

/** @throws InvalidInput if the number of calls is invalid */
export function readCallLimit(form: Fields): CallLimit | undefined {
	const chosen = form.choice(limitPer.name, NO_LIMIT);
	const period = PERIODS.find((one) => one === chosen);
	if (period === undefined) return undefined;
	return { calls: form.wholeNumber(maximumCalls.name) ?? 1, period };
}

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

/** The first, second, ... call to a person in each period is claimed right before it's placed. */
export class CallLimiter {
	/** By item. */
	private readonly calls = new Map<number, LimitedCall>();
	/** What n8n remembers of the call of an item. Without a text, the limit of the period is reached. */
	private readonly claimed = new Map<number, { period: string; text?: string }>();

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
	 * Claims the calls of these items in the periods for which they're planned, all at once, because n8n reads and writes the
	 * whole list each time.
	 *
	 * @throws NotSent if the list of called numbers can't be read and written
	 */
	async claim(indexes: readonly number[]): Promise<void> {
		const limited = indexes.filter((index) => this.calls.has(index));
		await this.free(limited);
		let pending = limited.flatMap((index) => {
			const call = this.calls.get(index);
			return call === undefined ? [] : [{ index, ...call }];
		});
		for (const { index, period } of pending) this.claimed.set(index, { period });
		// One after another: with all at once, other executions would find none free until some are freed.
		for (let nth = 0; ; nth++) {
			const wanted = pending
				.filter(({ limit }) => nth < limit.calls)
				.map((call) => ({ ...call, text: calledText(call.period, nth, call.looseKey) }));
			if (wanted.length === 0) return;
			const free = new Set(await this.list.add(uniq(wanted.map(({ text }) => text))));
			// The first item with a number gets this call. Others try the next one.
			pending = wanted.filter(({ index, period, text }) => {
				if (!free.delete(text)) return true;
				this.claimed.set(index, { period, text });
				return false;
			});
		}
	}

	/**
	 * Call this right before a call is placed.
	 *
	 * @param zone of the person, for the message
	 * @returns whether it's claimed in the period for which it's planned, or has no limit
	 * @throws NotPlaced if the limit of that period is reached
	 */
	isClaimed(index: number, zone: string): boolean {
		const call = this.calls.get(index);
		if (call === undefined) return true;
		const claimed = this.claimed.get(index);
		if (claimed?.period !== call.period) return false;
		if (claimed.text === undefined) throw overLimit(call, zone);
		return true;
	}

	/** Forgets the calls of these items, which certainly weren't placed. Never throws: if n8n can't, they count. */
	async free(indexes: readonly number[]): Promise<void> {
		const texts = indexes.flatMap((index) => this.claimed.get(index)?.text ?? []);
		for (const index of indexes) this.claimed.delete(index);
		if (texts.length === 0) return;
		await this.repeat(async () => await this.list.remove(texts)).catch(() => undefined);
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

/**
 * Claims one of the calls that a model may ask for, for one row in one agent run, or in one MCP session.
 *
 * @returns frees it
 * @throws NotSent if none is left
 */
export async function claimInAgentRun(run: CallerRun, max: number): Promise<() => Promise<void>> {
	const claims = await openClaims(run);
	const agentRun = agentRunOf(run.context);
	for (let nth = 0; nth < max; nth++) {
		const name = `call ${nth} of ${agentRun}`;
		if ((await claims.add([name])).size > 0) return async () => await claims.remove([name]);
	}
	throw new NotSent(
		`Nothing was sent, because this run has used its limit of ${max} ${max === 1 ? 'call' : 'calls'}`,
		`Do not ask for another call now. Tell ${USER} what was done and what remains to be done.`,
		{ isFinal: true, isTransient: false },
	);
}

export const callAgainInLoops: INodeProperties = {
	displayName: 'Call Again in Loops',
	name: 'callAgainInLoops',
	type: 'boolean',
	noDataExpression: true,
	default: true,
	description:
		'Whether each run of this node, as in a loop, may call the same number again. Otherwise, a number is called once per execution.',
	displayOptions: { hide: { '@tool': [true] } },
};

/**
 * A person is called once by the node in an execution.
 *
 * @param looseKey equal for all numbers that may be the same
 */
export function oncePerPerson(
	{ context, caller }: OperationRun,
	options: Fields,
	looseKey: string,
): OncePerPerson {
	const isByRun = caller.kind !== 'model' && options.switch(callAgainInLoops.name, false);
	return {
		person: hashOf(isByRun ? [looseKey, runNumberOf(context)] : looseKey),
		again: ({ item, isUnknown: isPerhaps }) => (isPerhaps ? calledPerhaps() : duplicate(item)),
	};
}

/** Its message gets the number with the other details of the call. */
function calledPerhaps(): OutcomeUnknown {
	const message = "This execution may have called the number before, so it wasn't called again";
	return new OutcomeUnknown(message, '', { origin: 'n8n' });
}

/** In a workflow, only its output is shown. */
function duplicate(of: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because this number was called before in this execution",
		'Do not call this number again in this execution. You can call other people.',
		{ not_placed_reason: 'duplicate_number', duplicate_of: of },
		true,
	);
}
