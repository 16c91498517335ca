import memoize from 'lodash/memoize';
import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly, USER } from '../core/service/resolution';
import { hashOf } from '../core/values/hash';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { type Lifetime, openMemory, runIndexOf } from '../host/ledger/executionMemory';
import { followsRun } from '../host/execution/executionData';
import { callerOf } from '../host/caller/caller';
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
	private readonly isTool: boolean;
	private readonly follows: (earlier: number) => boolean;
	/** The run of this node, or as a tool, the row that asks. Undefined if a call can't be the same as one before. */
	private readonly runOrRow: string | number | undefined;
	/** By the fingerprint of the number: the run or row that had it. */
	private readonly earlier: JsonObject;
	/** By the fingerprint of a number and a question: the ID of the call. */
	private readonly asked: JsonObject;
	/** Of all nodes of the workflow, by the fingerprint of the number: the node and run whose call may have been placed. */
	private readonly unknown: JsonObject;
	/** This node and run. */
	private readonly nodeRun: string;

	constructor(context: IExecuteFunctions) {
		this.isTool = callerOf(context).kind === 'model';
		this.follows = memoize((earlier) => followsRun(context, earlier));
		this.runOrRow = runOrRowOf(context);
		this.nodeRun = `${context.getNode().id} ${runIndexOf(context)}`;
		const lifetime = this.isTool ? 'agentRun' : 'execution';
		const open = (name: string, of: Lifetime) =>
			this.runOrRow === undefined
				? {}
				: openMemory(context, name, isJsonObject, {}, { lifetime: of });
		this.earlier = open('calls', lifetime);
		this.asked = open('asked', lifetime);
		this.unknown = this.isTool ? {} : open('unknown calls', 'workflow');
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
		const call = hashOf(this.isTool ? [looseKey, question] : looseKey);
		const items = this.firstItems.get(call) ?? [];
		const first = items.find((item) => isSameTime(item, moment));
		if (first !== undefined) return duplicate({ duplicate_of: first.index });
		this.firstItems.set(call, [...items, { index, ...moment }]);
		this.callsOfItems.set(index, { call, question });
		if (this.isOfOther(call)) {
			if (this.isTool) return calledForAnotherRow();
			// The answer to the same question is that of the earlier call.
			const callId = plainText(this.asked[hashOf([call, question])]);
			return duplicate({ duplicate_of: null, ...(callId !== '' && { call_id: callId }) });
		}
		const unknown = this.unknown[call];
		return unknown === undefined || unknown === this.nodeRun ? undefined : calledPerhaps();
	}

	private isOfOther(call: string): boolean {
		const earlier = this.earlier[call];
		if (earlier === undefined || earlier === this.runOrRow) return false;
		return typeof earlier !== 'number' || !this.follows(earlier);
	}

	/** Call this if the item's call was placed, or may have been, or with *Check Only* would have been. */
	remember(index: number, outcome: { callId: string } | 'unknown' | 'checked'): void {
		const { call, question } = this.callsOfItems.get(index) ?? {};
		if (this.runOrRow === undefined || call === undefined) return;
		this.earlier[call] = this.runOrRow;
		if (outcome === 'unknown') this.unknown[call] = this.nodeRun;
		else if (outcome !== 'checked' && question !== undefined)
			this.asked[hashOf([call, question])] = outcome.callId;
	}
}

function isSameTime(one: Moment, other: Moment): boolean {
	const apart = Math.abs(one.planned.toMillis() - other.planned.toMillis());
	return (one.isForNow && other.isForNow) || apart < APART_MS;
}

function runOrRowOf(context: IExecuteFunctions): string | number | undefined {
	const { kind, agent } = callerOf(context);
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
