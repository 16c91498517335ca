import type { IExecuteFunctions } from 'n8n-workflow';
import type { AskingRow } from '../caller/askingRow';
import { callerOf } from '../caller/caller';

export { keyOf } from '../caller/askingRow';

export function askingRowOf(context: IExecuteFunctions): AskingRow {
	const noRow = { rows: [], possible: [], fields: undefined, which: 'only' } as const;
	return callerOf(context).agent?.row ?? noRow;
}

export function isOneOfSeveral({ which }: AskingRow): boolean {
	return which !== 'only';
}

export function toolCallIdOf(context: IExecuteFunctions): string | undefined {
	return callerOf(context).agent?.toolCallId;
}
