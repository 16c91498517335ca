import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { onScreenOnly, USER } from '../shared/api/resolution';
import { shortFingerprint } from '../shared/hash';
import { isJsonObject, type JsonObject } from '../shared/json';
import { openRecord, runIndexOf } from '../shared/n8n/once/executionStore';
import { askingRowOf, isOneOfSeveral } from '../shared/n8n/tools/askingRow';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { NotPlaced } from './notPlaced';

const FINGERPRINT_CHARACTERS = 12;

/**
 * Calls to the same number for the same time: of several items, or of several nodes before this one, for each of which
 * n8n runs this one. In a loop, each run may call the same people. As a tool, calls for several rows of one agent run.
 */
export class SameCalls {
	private readonly firstItems = new Map<string, number>();
	private readonly callsOfItems = new Map<number, string>();
	private readonly input: string | undefined;
	/** The node before this one, or as a tool, the row that had each call, by the fingerprint of the call. */
	private readonly inputs: JsonObject;
	private readonly other: () => NotPlaced;

	/** @param startedAt when this run of the node started */
	constructor(
		context: IExecuteFunctions,
		private readonly startedAt: DateTime,
	) {
		const isTool = runsAsTool(context);
		this.input = isTool ? askingRowIn(context) : inputOf(context);
		const lifetime = isTool ? 'agentRun' : 'execution';
		this.inputs =
			this.input === undefined ? {} : openRecord(context, 'calls', isJsonObject, {}, { lifetime });
		this.other = isTool ? calledForAnotherRow : () => duplicate(null);
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
		return (this.inputs[call] ?? this.input) === this.input ? undefined : this.other();
	}

	/** Call this if the item's call was placed, or may have been. */
	remember(index: number): void {
		const call = this.callsOfItems.get(index);
		if (call === undefined || this.input === undefined) return;
		this.inputs[call] = this.input;
	}
}

/** The node before this one. Undefined if it's the only one, and in a loop. */
function inputOf(context: IExecuteFunctions): string | undefined {
	const [task] = context.getExecuteData().source?.main ?? [];
	if (!task) return undefined;
	const { name } = context.getNode();
	const isInLoop = (node: string) =>
		node === name || context.getParentNodes(node).some((before) => before.name === name);
	const inputs = context.getParentNodes(name, { depth: 1 }).filter((node) => !isInLoop(node.name));
	const { previousNode } = task;
	return inputs.length > 1 && !isInLoop(previousNode) ? previousNode : undefined;
}

/** The row that asks. Undefined if the agent has only one. If the row isn't certain, each request may be that of another one. */
function askingRowIn(context: IExecuteFunctions): string | undefined {
	const asking = askingRowOf(context);
	if (!isOneOfSeveral(asking)) return undefined;
	return asking.key ?? `request ${runIndexOf(context)} of ${context.getNode().name}`;
}

/** Only its output is shown. */
function duplicate(first: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', duplicate_of: first },
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
