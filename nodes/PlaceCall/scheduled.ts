import { DateTime } from 'luxon';
import type { INodeExecutionData } from 'n8n-workflow';
import { dayAndTime, withOffset } from '../core/values/dates';
import type { JsonObject } from '../core/values/json';
import { clock } from '../host/clock';
import { plainText } from '../core/values/values';

/**
 * `scheduled_for` of a call: with the day, if the service returned it. Without one, a time of day is in India. Undefined if the
 * call goes now.
 *
 * @param sent the time in the request
 */
export function scheduledTime(
	{ scheduled_at_epoch: epoch }: JsonObject,
	sent: string | undefined,
	zone: string,
): string | undefined {
	const seconds = Number(plainText(epoch));
	if (seconds > 0) return withOffset(DateTime.fromSeconds(seconds, { zone }));
	return sent === undefined || sent.includes('T') ? sent : `${sent} (Asia/Kolkata)`;
}

/** When a scheduled call is due, in epoch milliseconds. NaN for other calls, and if only the service knows the day. */
export function dueTimeOf({ json }: INodeExecutionData): number {
	const time = plainText(json.scheduled_for);
	return time.includes('T') ? DateTime.fromISO(time).toMillis() : NaN;
}

/** Whether the call begins later, so that waiting for its end now makes no sense for a tool. */
export function isDueLater(call: INodeExecutionData): boolean {
	return call.json.scheduled_for !== undefined && !(dueTimeOf(call) <= clock.now());
}

/** What happened to a call that the service accepted, for a model. */
export function callText(whom: string, call: INodeExecutionData, zone: string): string {
	const { scheduled_for: time } = call.json;
	if (time === undefined) return `A call to ${whom} was placed.`;
	const due = DateTime.fromMillis(dueTimeOf(call), { zone });
	if (!due.isValid) return `A call to ${whom} is scheduled for ${plainText(time)}.`;
	return `A call to ${whom} ${isDueLater(call) ? 'is' : 'was'} scheduled for ${dayAndTime(due)}.`;
}
