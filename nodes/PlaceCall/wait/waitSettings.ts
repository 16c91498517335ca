import { NodeOperationError, type IExecuteFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { parseList } from '../../shared/calls/completion';
import type { JsonObject } from '../../shared/json';

export type WaitMode = 'off' | 'webhook' | 'reading';

const UNIT_MS = new Map([
	['seconds', 1_000],
	['minutes', 60_000],
	['hours', 3_600_000],
	['days', 86_400_000],
]);

export function readWaitMode(context: IExecuteFunctions): WaitMode {
	const mode = context.getNodeParameter('waitForCompletion', 0, 'off');
	return mode === 'webhook' || mode === 'reading' ? mode : 'off';
}

/** @throws NodeOperationError when there is none */
export function readWaitLimit(context: IExecuteFunctions): number {
	const amount = Number(context.getNodeParameter('waitLimit', 0, 0));
	const name: unknown = context.getNodeParameter('waitLimitUnit', 0, 'hours');
	const unit = typeof name === 'string' ? UNIT_MS.get(name) : undefined;
	if (amount > 0 && unit !== undefined) return amount * unit;
	throw new NodeOperationError(
		context.getNode(),
		'Time Limit is not a length of time, so no call was placed',
		{ description: 'Enter a number above zero, and choose its unit.' },
	);
}

export function readFinishedStatuses(context: IExecuteFunctions | IWebhookFunctions): string[] {
	const value: unknown = context.getNode().parameters.finishedStatuses;
	return parseList(typeof value === 'string' ? value : '');
}

/** Counted from the moment at which the last of the calls is due. */
export function endOfWait(placed: readonly JsonObject[], limit: number, now: number): number {
	const due = placed.map(({ scheduled_at_epoch: seconds }) =>
		typeof seconds === 'number' ? seconds * 1_000 : 0,
	);
	return Math.max(now, ...due) + limit;
}
