import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { callerOf } from '../caller/caller';
import type { Row } from '../caller/askingRow';
import type { CompletedRequest } from '../caller/runResult';

export function runsAsTool(context: IExecuteFunctions): boolean {
	return callerOf(context).kind === 'model';
}

export function isUsedByAgent(context: IExecuteFunctions): boolean {
	return callerOf(context).kind !== 'workflow';
}

export function returnsErrorsToReview(context: IExecuteFunctions): boolean {
	const { kind, getsErrors } = callerOf(context);
	return kind === 'review' && getsErrors;
}

export function setToolRun(
	context: IExecuteFunctions,
	{ askingRow }: { askingRow: { possible: readonly Row[]; key: string | undefined } },
): void {
	callerOf(context).agent?.setPossibleRows(askingRow.possible);
}

export function setCompleted(context: IExecuteFunctions, completed: CompletedRequest): void {
	callerOf(context).result.setCompleted(completed);
}

export function setPartly(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	rejected: string[],
): void {
	callerOf(context).result.setPartly(items, rejected);
}

export function setReadOnly(context: IExecuteFunctions, readSummary?: string): void {
	callerOf(context).result.setReadOnly(readSummary);
}
