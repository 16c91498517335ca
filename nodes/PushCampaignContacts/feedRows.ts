import omit from 'lodash/omit';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { runsAsTool } from '../shared/n8n/toolRun';

/** The input; an AI agent adds the ID of its own call, which is no column of the row. */
export function feedRows(context: IExecuteFunctions): INodeExecutionData[] {
	const items = context.getInputData();
	if (!runsAsTool(context)) return items;
	return items.map((item) => ({ ...item, json: omit(item.json, 'toolCallId') }));
}
