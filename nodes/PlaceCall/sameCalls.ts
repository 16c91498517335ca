import get from 'lodash/get';
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';
import { NumbersOfExecution } from '../core/ledger/numbersOfExecution';
import { OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly, USER } from '../core/service/resolution';
import { hashOf } from '../core/values/hash';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { openValues } from '../host/ledger/executionMemory';
import { followsRun, runIndexOf } from '../host/nodeRun';
import type { OperationRun } from '../host/run/operations';
import { NotPlaced } from './notPlaced';

/** When a call is for. */
type Moment = {
	/** Whether no time was entered. Other calling hours of another row don't make it another call. */
	isForNow: boolean;
	/** In epoch milliseconds, as decided when this run of the node started. */
	at: number;
};

/** Calls to a number at times that are closer are one call. `{{ $now.plus(…) }}` gives each item another time. */
const APART_MS = 3_600_000;

/**
 * Decides which calls are one call. Of the items of a run, those with the same number and about the same time. Of several runs
 * of this node, those with the same number, because n8n runs it once for each connected output before it. Only a run to
 * which an earlier one led, as in a loop, may call the same people again, except those who may have been called. As a tool,
 * calls to a number are one call for all rows of one agent run.
 */
export class SameCalls {
	/** By number: the item of each call, and when it's for. */
	private readonly firstItems = new Map<string, Array<Moment & { index: number }>>();
	private readonly callsOfItems = new Map<number, string>();
	private readonly isModel: boolean;
	/** Of earlier runs and rows. Undefined if a call can't be the same as one before. */
	private readonly numbers: NumbersOfExecution | undefined;
	/** The latest call that this node has placed, by number. Only if it waits for their ends. */
	private readonly placed: JsonObject | undefined;
	/** The calls of earlier runs instead of which items aren't placed, by item. `asksSame`: whether it asked the same question. */
	readonly earlierCalls: JsonObject = {};

	/** @param waits whether the node waits for the end of the calls */
	constructor(operationRun: OperationRun, waits: boolean) {
		const { context, caller } = operationRun;
		this.isModel = caller.kind === 'model';
		const run = runOrRowOf(operationRun);
		if (run === undefined) return;
		if (waits && !this.isModel) this.placed = openValues(operationRun, 'placed calls', 'execution');
		const follows = memoize((earlier: number) => followsRun(context, earlier));
		this.numbers = new NumbersOfExecution({
			done: openValues(operationRun, 'calls', 'execution'),
			unknown: this.isModel ? {} : openValues(operationRun, 'unknown calls', 'workflow'),
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
		const first = items.find((item) => isSameTime(item, moment));
		if (first !== undefined) return duplicate(first.index);
		this.firstItems.set(call, [...items, { index, ...moment }]);
		this.callsOfItems.set(index, call);
		if (this.numbers?.isDone(call) === true) {
			if (this.isModel) return calledForAnotherRow();
			const earlier = this.placed?.[call];
			if (isJsonObject(earlier)) {
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
		const call = this.callsOfItems.get(index);
		if (call === undefined) return;
		this.numbers?.add(call, outcome === 'unknown');
		if (this.placed === undefined || outcome === 'checked') return;
		this.placed[call] = outcome === 'unknown' ? null : placedCall(outcome);
	}
}

function isSameTime(one: Moment, other: Moment): boolean {
	return (one.isForNow && other.isForNow) || Math.abs(one.at - other.at) < APART_MS;
}

/** `question`: a hash of what was asked. */
function placedCall({ asked, ...output }: JsonObject): JsonObject {
	const question = asked !== undefined && { question: hashOf(asked) };
	return { ...pick(output, 'call_id', 'asked_at'), ...question };
}

/** Whether the item failed, and its call may have been placed. */
export function isUnknown({ placed, details }: IDataObject): boolean {
	return placed === undefined && get(details, 'outcome') === 'unknown';
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
