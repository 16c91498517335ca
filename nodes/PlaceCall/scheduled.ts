import { DateTime } from 'luxon';
import type { INodeExecutionData } from 'n8n-workflow';
import { clock } from '../shared/n8n/http/accountClient';
import { dayAndTime } from '../shared/dates';

/** When a scheduled call is due, in epoch milliseconds. NaN for other calls. Of an input item, a call never has this field. */
export function dueTimeOf({ json }: INodeExecutionData): number {
	return Number(json.scheduled_at_epoch || NaN) * 1_000;
}

/** Whether the call begins later, so that waiting for its end now makes no sense for a tool. */
export function isDueLater(call: INodeExecutionData): boolean {
	return dueTimeOf(call) > clock.now();
}

/**
 * What happened to a call that the service accepted, for a model.
 *
 * @param requested the time in the request, if the service doesn't repeat it. Undefined to call now.
 */
export function callText(
	whom: string,
	call: INodeExecutionData,
	zone: string,
	requested: string | undefined,
): string {
	const due = DateTime.fromMillis(dueTimeOf(call), { zone });
	if (!due.isValid) {
		const done = requested === undefined ? 'was placed' : `is scheduled for ${requested}`;
		return `A call to ${whom} ${done}.`;
	}
	return `A call to ${whom} ${isDueLater(call) ? 'is' : 'was'} scheduled for ${dayAndTime(due)}.`;
}
