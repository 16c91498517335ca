import isNumber from 'lodash/isNumber';
import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { onScreenOnly, USER } from '../shared/api/resolution';
import { shortFingerprint } from '../shared/hash';
import { isJsonObject, type JsonObject } from '../shared/json';
import { openRecord, runIndexOf } from '../shared/n8n/once/executionStore';
import { followsRun } from '../shared/n8n/run/executionData';
import { askingRowOf, isOneOfSeveral } from '../shared/n8n/tools/askingRow';
import { isHumanReview, runsAsTool } from '../shared/n8n/tools/toolRun';
import { plainText } from '../shared/values';
import { NotPlaced } from './notPlaced';

const FINGERPRINT_CHARACTERS = 12;

/** What makes two calls to a number the same call. */
type Moment = {
	/** Whether no time was entered. */
	isForNow: boolean;
	/** As decided when this run of the node started. */
	planned: DateTime;
};

/**
 * Calls to the same number for the same time are one call in an execution: of several items, and of several runs of this
 * node, because n8n runs it once for each connected output before it. Only a run that came out of an earlier one, as in a
 * loop, may call the same people again. As a tool, they're one call for all rows of one agent run.
 */
export class SameCalls {
	private readonly firstItems = new Map<string, number>();
	private readonly callsOfItems = new Map<
		number,
		{ calls: string[]; question?: string | undefined }
	>();
	private readonly isTool: boolean;
	/** The run of this node, or as a tool, the row that asks. Undefined if a call can't be the same as one before. */
	private readonly caller: string | number | undefined;
	/** By the fingerprint of the call: the caller that had it. */
	private readonly callers: JsonObject;
	/** By the fingerprint of a call and its question: the ID of the call. */
	private readonly asked: JsonObject;

	/** @param startedAt when this run of the node started */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly startedAt: DateTime,
	) {
		this.isTool = runsAsTool(context);
		this.caller = callerIn(context);
		const lifetime = this.isTool ? 'agentRun' : 'execution';
		const open = (name: string) =>
			this.caller === undefined ? {} : openRecord(context, name, isJsonObject, {}, { lifetime });
		this.callers = open('calls');
		this.asked = open('asked');
	}

	/**
	 * Why this item's call isn't placed. Undefined if it's the first one.
	 *
	 * @param question of *Ask and Wait*
	 */
	add(index: number, looseKey: string, moment: Moment, question?: string): NotPlaced | undefined {
		// Several rows of an agent may ask the same person, each something else.
		const number = this.isTool ? [looseKey, question] : looseKey;
		const calls = this.timesOf(moment).map((time) => named([number, time]));
		const first = calls.map((call) => this.firstItems.get(call)).find(isNumber) ?? index;
		for (const call of calls) this.firstItems.set(call, first);
		if (first !== index) return duplicate({ duplicate_of: first });
		this.callsOfItems.set(index, { calls, question });
		const earlier = calls.find((call) => this.isOfOther(call));
		if (earlier === undefined) return undefined;
		if (this.isTool) return calledForAnotherRow();
		// The answer to the same question is that of the earlier call.
		const callId = plainText(this.asked[named([earlier, question])]);
		return duplicate({ duplicate_of: null, ...(callId !== '' && { call_id: callId }) });
	}

	/** A call for now stays the same call if the calling hours end in between. */
	private timesOf({ isForNow, planned }: Moment): Array<number | null> {
		const isMoved = planned.toMillis() !== this.startedAt.toMillis();
		return [...(isForNow ? [null] : []), ...(isMoved ? [planned.toMillis()] : [])];
	}

	private isOfOther(call: string): boolean {
		const earlier = this.callers[call];
		if (earlier === undefined || earlier === this.caller) return false;
		return typeof earlier !== 'number' || !followsRun(this.context, earlier);
	}

	/** Call this if the item's call was placed, or may have been. */
	remember(index: number, callId?: string): void {
		if (this.caller === undefined) return;
		const { calls = [], question } = this.callsOfItems.get(index) ?? {};
		for (const call of calls) {
			this.callers[call] = this.caller;
			if (question !== undefined && callId !== undefined)
				this.asked[named([call, question])] = callId;
		}
	}
}

function callerIn(context: IExecuteFunctions): string | number | undefined {
	// Each request for approval is a question of its own.
	if (isHumanReview(context)) return undefined;
	if (!runsAsTool(context)) return runIndexOf(context);
	const asking = askingRowOf(context);
	if (!isOneOfSeveral(asking)) return undefined;
	// If the row isn't certain, each request may be that of another one.
	return asking.key ?? `request ${runIndexOf(context)} of ${context.getNode().name}`;
}

function named(value: unknown): string {
	return shortFingerprint(value, FINGERPRINT_CHARACTERS);
}

/** Only its output is shown. */
function duplicate(of: { duplicate_of: number | null; call_id?: string }): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', ...of },
	);
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
