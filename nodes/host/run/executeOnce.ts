import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { isJsonObject, valuesIn } from '../../core/values/json';
import { counted } from '../../core/values/values';
import { mayNameRow } from '../caller/rows';
import type { OperationRun } from './operations';

/** All items that the node got. With *Execute Once*, `getInputData` returns only the first one. */
export function itemsGiven(context: IExecuteFunctions): INodeExecutionData[] {
	const isOnce = context.getNode().executeOnce === true;
	const [given] = isOnce ? (context.getExecuteData().data.main ?? []) : [];
	return given ?? context.getInputData();
}

/**
 * For a node that uses each item, such as the rows of a push.
 *
 * @throws InvalidInput if *Execute Once* leaves out items
 */
export function requireAllItems({ context, caller }: OperationRun): void {
	// The items of a tool are those of its agent.
	if (caller.kind === 'model') return;
	const { length: given } = itemsGiven(context);
	if (context.getInputData().length >= given) return;
	throw new InvalidInput(
		`'Execute Once' is on, so this node would only use the first of ${counted(given, 'item')}`,
		"In n8n, turn it off in 'Settings'. To use only the first item on purpose, add a Limit node before this one.",
	);
}

/**
 * *Execute Once* is right for a node whose fields are the same for all items, such as a call to a manager. If one of them
 * refers to the item, the others would be left out without a word.
 *
 * @throws InvalidInput if *Execute Once* leaves out items that a field refers to
 */
export function requireItemsOfFields(run: OperationRun): void {
	const { executeOnce, parameters } = run.context.getNode();
	if (executeOnce !== true || !isJsonObject(parameters)) return;
	for (const value of valuesIn(parameters)) {
		if (typeof value === 'string' && value.startsWith('=') && mayNameRow(value))
			requireAllItems(run);
	}
}
