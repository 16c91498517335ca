import isNumber from 'lodash/isNumber';
import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { onScreenOnly } from '../shared/api/resolution';
import { shortFingerprint } from '../shared/hash';
import { isJsonObject, type JsonObject } from '../shared/json';
import { openRecord, runIndexOf } from '../shared/n8n/once/executionStore';
import { followsRun } from '../shared/n8n/run/executionData';
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
 * loop, may call the same people again.
 */
export class SameCalls {
	private readonly firstItems = new Map<string, number>();
	private readonly callsOfItems = new Map<
		number,
		{ calls: string[]; question?: string | undefined }
	>();
	private readonly run: number;
	/** By the fingerprint of the call: the run of this node that placed it. */
	private readonly runs: JsonObject;
	/** By the fingerprint of a call and its question: the ID of the call. */
	private readonly asked: JsonObject;

	/** @param startedAt when this run of the node started */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly startedAt: DateTime,
	) {
		this.run = runIndexOf(context);
		// A model may repeat a request in another run of its agent.
		const isForModel = context.getExecuteData().source?.main === undefined;
		const open = (name: string) =>
			isForModel ? {} : openRecord(context, name, isJsonObject, {}, { lifetime: 'execution' });
		this.runs = open('calls');
		this.asked = open('asked');
	}

	/**
	 * Why this item's call isn't placed. Undefined if it's the first one.
	 *
	 * @param question of *Ask and Wait*
	 */
	add(index: number, looseKey: string, moment: Moment, question?: string): NotPlaced | undefined {
		const calls = this.timesOf(moment).map((time) => named([looseKey, time]));
		const first = calls.map((call) => this.firstItems.get(call)).find(isNumber) ?? index;
		for (const call of calls) this.firstItems.set(call, first);
		if (first !== index) return duplicate({ duplicate_of: first });
		this.callsOfItems.set(index, { calls, question });
		const earlier = calls.find((call) => this.isOfOtherBranch(call));
		if (earlier === undefined) return undefined;
		// The answer to the same question is that of the earlier call.
		const callId = plainText(this.asked[named([earlier, question])]);
		return duplicate({ duplicate_of: null, ...(callId !== '' && { call_id: callId }) });
	}

	/** A call for now stays the same call if the calling hours end in between. */
	private timesOf({ isForNow, planned }: Moment): Array<number | null> {
		const isMoved = planned.toMillis() !== this.startedAt.toMillis();
		return [...(isForNow ? [null] : []), ...(isMoved ? [planned.toMillis()] : [])];
	}

	private isOfOtherBranch(call: string): boolean {
		const run = this.runs[call];
		return typeof run === 'number' && run !== this.run && !followsRun(this.context, run);
	}

	/** Call this if the item's call was placed, or may have been. */
	remember(index: number, callId?: string): void {
		const { calls = [], question } = this.callsOfItems.get(index) ?? {};
		for (const call of calls) {
			this.runs[call] = this.run;
			if (question !== undefined && callId !== undefined)
				this.asked[named([call, question])] = callId;
		}
	}
}

function named(value: unknown): string {
	return shortFingerprint(value, FINGERPRINT_CHARACTERS);
}

/** Only its output is shown, because a tool has one item. */
function duplicate(of: { duplicate_of: number | null; call_id?: string }): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', ...of },
	);
}
