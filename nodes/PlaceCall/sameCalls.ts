import get from 'lodash/get';
import memoize from 'lodash/memoize';
import minBy from 'lodash/minBy';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';
import { NumbersOfExecution } from '../core/ledger/numbersOfExecution';
import { OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly, USER } from '../core/service/resolution';
import { hashOf } from '../core/values/hash';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/values/json';
import { openValues } from '../host/ledger/executionMemory';
import { followsRun, runIndexOf } from '../host/nodeRun';
import type { OperationRun } from '../host/run/operations';
import { NotPlaced } from './notPlaced';

/** Calls to a number at times that are closer are one call. `{{ $now.plus(…) }}` gives each item another time. */
const APART_MS = 3_600_000;

/** When a call is for. */
type Moment = {
	/** Whether no time was entered. Calling hours that end in between don't make it another call. */
	isForNow: boolean;
	/** In epoch milliseconds, as decided when this run of the node started. */
	at: number;
};

/**
 * Decides which calls are one call. Of the items of a run, those with the same number and about the same time. Of several runs
 * of this node, those with the same number, because n8n runs it once for each connected output before it. Only a run to
 * which an earlier one led, as in a loop, may call the same people again, except those who may have been called. As a tool,
 * calls to a number are one call for all rows of one agent run.
 */
export class SameCalls {
	/** By number. */
	private readonly firstItems = new Map<string, Array<Moment & { index: number }>>();
	private readonly callsOfItems = new Map<number, { call: string; moment: Moment }>();
	private readonly isModel: boolean;
	/** Of earlier runs and rows. Undefined if a call can't be the same as one before. */
	private readonly numbers: NumbersOfExecution | undefined;
	/** A list of the calls that this node has placed, by number. Only if it waits for their ends. */
	private readonly placed: JsonObject | undefined;
	/** The calls of earlier runs instead of which items aren't placed, by item. `asksSame`: whether it asked the same question. */
	readonly earlierCalls: JsonObject = {};

	/** @param waits whether the node waits for the end of the calls */
	constructor(operationRun: OperationRun, waits: boolean) {
		const { context, caller } = operationRun;
		this.isModel = caller.kind === 'model';
		const run = runOrRowOf(operationRun);
		if (run === undefined) return;
		if (waits && !this.isModel) this.placed = openValues(context, 'placed calls', 'execution');
		const follows = memoize((earlier: number) => followsRun(context, earlier));
		this.numbers = new NumbersOfExecution({
			done: openValues(context, 'calls', 'execution'),
			unknown: this.isModel ? {} : openValues(context, 'unknown calls', 'workflow'),
			run,
			counts: (earlier) => earlier !== run && !(typeof earlier === 'number' && follows(earlier)),
			nodeRun: `${context.getNode().id} ${runIndexOf(context)}`,
		});
	}

	/**
	 * Why this item's call isn't placed. Undefined if it's the first one.
	 *
	 * @param question of *Ask and Wait*
	 */
	add(
		index: number,
		looseKey: string,
		moment: Moment,
		question?: string,
	): NotPlaced | OutcomeUnknown | undefined {
		// Several rows of an agent may ask the same person, each something else.
		const call = hashOf(this.isModel ? [looseKey, question] : looseKey);
		const items = this.firstItems.get(call) ?? [];
		const first = sameOf(items, moment);
		if (first !== undefined) return duplicate(first.index);
		this.firstItems.set(call, [...items, { index, ...moment }]);
		this.callsOfItems.set(index, { call, moment });
		if (this.numbers?.isDone(call) === true) {
			if (this.isModel) return calledForAnotherRow();
			const earlier = sameOf(this.placedTo(call), moment);
			if (earlier !== undefined) {
				const asksSame = question !== undefined && earlier.question === hashOf(question);
				this.earlierCalls[index] = { ...pick(earlier, 'call_id', 'asked_at'), asksSame };
			}
			return duplicate(null);
		}
		return this.numbers?.isUnknown(call) === true ? calledPerhaps() : undefined;
	}

	/**
	 * Call this if the item's call was placed, or may have been, or with *Check Only* would have been.
	 *
	 * @param outcome the output of a placed call
	 */
	remember(index: number, outcome: JsonObject | 'unknown' | 'checked'): void {
		const item = this.callsOfItems.get(index);
		if (item === undefined) return;
		const { call, moment } = item;
		this.numbers?.add(call, outcome === 'unknown');
		if (this.placed === undefined || outcome === 'checked') return;
		// Only the latest one counts, also if its outcome is unknown.
		const others = this.placedTo(call).filter((one) => !isSameTime(one, moment));
		if (outcome === 'unknown') {
			this.placed[call] = others;
			return;
		}
		const { asked } = outcome;
		const question = asked !== undefined && { question: hashOf(asked) };
		const placed = { ...moment, ...pick(outcome, 'call_id', 'asked_at'), ...question };
		this.placed[call] = [...others, placed];
	}

	private placedTo(call: string): Array<JsonObject & Moment> {
		const calls = this.placed?.[call];
		return Array.isArray(calls) ? calls.filter(hasMoment) : [];
	}
}

/** Whether the item failed, and its call may have been placed. */
export function isUnknown({ placed, details }: IDataObject): boolean {
	return placed === undefined && get(details, 'outcome') === 'unknown';
}

/** Always true for the calls that `remember` has added. For the compiler. */
function hasMoment(call: JsonValue): call is JsonObject & Moment {
	return isJsonObject(call) && typeof call.isForNow === 'boolean' && typeof call.at === 'number';
}

/** The call at the same time. Of several, the closest one. */
function sameOf<Call extends Moment>(calls: readonly Call[], moment: Moment): Call | undefined {
	const same = calls.filter((call) => isSameTime(call, moment));
	return minBy(same, (call) => apart(call, moment));
}

function isSameTime(one: Moment, other: Moment): boolean {
	return apart(one, other) < APART_MS;
}

function apart(one: Moment, other: Moment): number {
	return one.isForNow && other.isForNow ? 0 : Math.abs(one.at - other.at);
}

function runOrRowOf({ context, caller }: OperationRun): string | number | undefined {
	const { kind, agent } = caller;
	// Each request for approval is a question of its own.
	if (kind === 'review') return undefined;
	if (kind === 'workflow') return runIndexOf(context);
	if (agent === undefined || agent.row.which === 'only') return undefined;
	// If the row isn't certain, each request may be that of another one.
	return agent.row.key ?? `request ${runIndexOf(context)} of ${context.getNode().name}`;
}

/** Only its output is shown. */
function duplicate(of: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', duplicate_of: of },
	);
}

/** Its message gets the number with the other details of the call. */
function calledPerhaps(): OutcomeUnknown {
	const message = "This execution may have called the number before, so it wasn't called again";
	return new OutcomeUnknown(message, onScreenOnly(''), { origin: 'n8n' });
}

function calledForAnotherRow(): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because this run of the agent has called the number for another row, or may have",
		{
			onScreen: '',
			forModel: `Do not repeat this request. You can call other people. Tell ${USER} that this number was not called again.`,
		},
		{ not_placed_reason: 'duplicate_number', duplicate_of: null },
		true,
	);
}
