import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { callerOf } from './caller';

/** The rows of the input. As a tool, only the one that asks. Empty if it isn't certain which one, or if there is none. */
export function inputRows(context: IExecuteFunctions): INodeExecutionData[] {
	const { kind, agent } = callerOf(context);
	return kind === 'model' ? [{ json: agent?.row.fields ?? {} }] : context.getInputData();
}

/** All items that the node got. With *Execute Once*, `getInputData` returns only the first one. */
export function itemsGiven(context: IExecuteFunctions): INodeExecutionData[] {
	// The items of a tool are those of its agent.
	const isOnce = context.getNode().executeOnce === true && callerOf(context).kind !== 'model';
	const [given] = isOnce ? (context.getExecuteData().data.main ?? []) : [];
	return given ?? context.getInputData();
}
