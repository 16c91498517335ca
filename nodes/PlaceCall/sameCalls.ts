import memoize from 'lodash/memoize';
import type { DateTime } from 'luxon';
import { NumbersOfExecution } from '../core/ledger/numbersOfExecution';
import { OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly, USER } from '../core/service/resolution';
import { hashOf } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import { openValues, runIndexOf } from '../host/ledger/executionMemory';
import { followsRun } from '../host/execution/executionData';
import type { OperationRun } from '../host/run/operations';
import { plainText } from '../core/values/values';
import { NotPlaced } from './notPlaced';

/** Calls to a number at times that are closer are one call. `{{ $now.plus(…) }}` gives each item another time. */
const APART_MS = 3_600_000;

/** When a call is for. */
type Moment = {
	/** Whether no time was entered. Calling hours that end in between don't make it another call. */
	isForNow: boolean;
	/** As decided when this run of the node started. */
	planned: DateTime;
};

/**
 * Decides which calls are one call. Of the items of a run, those with the same number and about the same time. Of several runs
 * of this node, those with the same number, because n8n runs it once for each connected output before it. Only a run that
 * came out of an earlier one, as in a loop, may call the same people again, except those who may have been called. As a tool,
 * calls to a number are one call for all rows of one agent run.
 */
export class SameCalls {
	/** By number. */
	private readonly firstItems = new Map<string, Array<Moment & { index: number }>>();
	private readonly callsOfItems = new Map<
		number,
		{ call: string; question?: string | undefined }
	>();
	private readonly isModel: boolean;
	/** Of earlier runs and rows. Undefined if a call can't be the same as one before. */
	private readonly numbers: NumbersOfExecution | undefined;
	/** By the fingerprint of a number and a question: the ID of the call. */
	private readonly asked: JsonObject;

	constructor(operationRun: OperationRun) {
		const { context, caller } = operationRun;
		this.isModel = caller.kind === 'model';
		const run = runOrRowOf(operationRun);
		this.asked = run === undefined ? {} : openValues(context, 'asked', 'execution');
		if (run === undefined) return;
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
		const first = items.find((item) => isSameTime(item, moment));
		if (first !== undefined) return duplicate({ duplicate_of: first.index });
		this.firstItems.set(call, [...items, { index, ...moment }]);
		this.callsOfItems.set(index, { call, question });
		if (this.numbers?.isDone(call) === true) {
			if (this.isModel) return calledForAnotherRow();
			// The answer to the same question is that of the earlier call.
			const callId = plainText(this.asked[hashOf([call, question])]);
			return duplicate({ duplicate_of: null, ...(callId !== '' && { call_id: callId }) });
		}
		return this.numbers?.isUnknown(call) === true ? calledPerhaps() : undefined;
	}

	/** Call this if the item's call was placed, or may have been, or with *Check Only* would have been. */
	remember(index: number, outcome: { callId: string } | 'unknown' | 'checked'): void {
		const { call, question } = this.callsOfItems.get(index) ?? {};
		if (call === undefined) return;
		this.numbers?.add(call, outcome === 'unknown');
		if (typeof outcome === 'object' && question !== undefined)
			this.asked[hashOf([call, question])] = outcome.callId;
	}
}

function isSameTime(one: Moment, other: Moment): boolean {
	const apart = Math.abs(one.planned.toMillis() - other.planned.toMillis());
	return (one.isForNow && other.isForNow) || apart < APART_MS;
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
function duplicate(of: { duplicate_of: number | null; call_id?: string }): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', ...of },
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
