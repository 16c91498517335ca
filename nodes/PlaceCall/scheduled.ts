import { DateTime } from 'luxon';
import type { INodeExecutionData } from 'n8n-workflow';
import { clock } from '../shared/n8n/http/accountClient';
import { dayAndTime } from '../shared/dates';

/** When a scheduled call is due, in epoch milliseconds. NaN for other calls. Of an input item, a call never has this field. */
export function dueTimeOf({ json }: INodeExecutionData): number {
	return Number(json.scheduled_at_epoch) * 1_000;
}

/** Whether the call begins later, so that waiting for its end now makes no sense for a tool. */
export function isDueLater(call: INodeExecutionData): boolean {
	return dueTimeOf(call) > clock.now();
}

/** What happened to a call that the service accepted, for a model. */
export function callText(whom: string, call: INodeExecutionData, zone: string): string {
	const due = DateTime.fromMillis(dueTimeOf(call), { zone });
	if (!due.isValid) return `A call to ${whom} was placed.`;
	return `A call to ${whom} ${isDueLater(call) ? 'is' : 'was'} scheduled for ${dayAndTime(due)}.`;
}
