import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { onScreenOnly } from '../shared/api/resolution';
import { shortFingerprint } from '../shared/hash';
import { isJsonObject, type JsonObject } from '../shared/json';
import { openRecord } from '../shared/n8n/once/executionStore';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { NotPlaced } from './notPlaced';

const FINGERPRINT_CHARACTERS = 12;

/**
 * Calls to the same number for the same time: of several items, or of several nodes before this one, for each of which
 * n8n runs this one. In a loop, each run may call the same people.
 */
export class SameCalls {
	private readonly firstItems = new Map<string, number>();
	private readonly callsOfItems = new Map<number, string>();
	private readonly input: string | undefined;
	/** The node before this one that had each call, by the fingerprint of the call. */
	private readonly inputs: JsonObject;

	/** @param startedAt when this run of the node started */
	constructor(
		context: IExecuteFunctions,
		private readonly startedAt: DateTime,
	) {
		this.input = inputOf(context);
		this.inputs =
			this.input === undefined
				? {}
				: openRecord(context, 'calls', isJsonObject, {}, { lifetime: 'execution' });
	}

	/**
	 * Why this item's call isn't placed. Undefined if it's the first one.
	 *
	 * @param planned as decided when this run of the node started
	 */
	add(index: number, looseKey: string, planned: DateTime): NotPlaced | undefined {
		const isNow = planned.toMillis() === this.startedAt.toMillis();
		const time = isNow ? null : planned.toMillis();
		const call = shortFingerprint([looseKey, time], FINGERPRINT_CHARACTERS);
		const first = this.firstItems.get(call) ?? index;
		this.firstItems.set(call, first);
		if (first !== index) return duplicate(first);
		this.callsOfItems.set(index, call);
		return (this.inputs[call] ?? this.input) === this.input ? undefined : duplicate(null);
	}

	/** Call this if the item's call was placed, or may have been. */
	remember(index: number): void {
		const call = this.callsOfItems.get(index);
		if (call === undefined || this.input === undefined) return;
		this.inputs[call] = this.input;
	}
}

/** The node before this one. Undefined if it's the only one, in a loop, and as a tool. */
function inputOf(context: IExecuteFunctions): string | undefined {
	const [task] = context.getExecuteData().source?.main ?? [];
	if (!task || runsAsTool(context)) return undefined;
	const { name } = context.getNode();
	const isInLoop = (node: string) =>
		node === name || context.getParentNodes(node).some((before) => before.name === name);
	const inputs = context.getParentNodes(name, { depth: 1 }).filter((node) => !isInLoop(node.name));
	const { previousNode } = task;
	return inputs.length > 1 && !isInLoop(previousNode) ? previousNode : undefined;
}

/** Only its output is shown, because a tool has one item. */
function duplicate(first: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', duplicate_of: first },
	);
}
