import { WAIT_INDEFINITELY, type IDataObject, type INodeExecutionData } from 'n8n-workflow';
import pick from 'lodash/pick';
import { withPhoneKey } from '../../shared/calls/callRecord';
import type { CallState } from '../../shared/calls/callEnd';
import { isJsonObject, type JsonObject } from '../../shared/json';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { withAnswer } from '../ask/answer';
import { GRACE_MS } from './resumeUrl';

/** Name of the field that tells, while the execution sleeps, until when. */
export const WAITS_UNTIL = 'waits_until';

/** What this node says of placing a call, and its record does not. */
const PLACEMENT_FIELDS = ['phone_key', 'placed', 'looked_up'];

/** Stands where n8n itself ends the sleep: by its own limit, or by *Retry* of an execution stopped meanwhile. */
const NOT_READ =
	'This call was not looked at when the wait ended: n8n was restarted during the wait, n8n did not reach its own webhook address, or the execution was stopped and retried. Read the call with Get Call.';

/** The ID of a call to wait for; an item that was not placed has none. */
export function callIdOf({ json }: INodeExecutionData): string | undefined {
	return typeof json.call_id === 'string' ? json.call_id : undefined;
}

/** n8n keeps no execution asleep for longer: its own limit comes a little after that of the node. */
const LAST_END = WAIT_INDEFINITELY.getTime() - GRACE_MS;

/** Counted from the moment at which the last of the calls is due. */
export function endOfWait(
	placed: readonly INodeExecutionData[],
	limit: number,
	now: number,
): number {
	const last = placed.reduce(
		(latest, { json: { scheduled_at_epoch: seconds } }) =>
			typeof seconds === 'number' ? Math.max(latest, seconds * 1_000) : latest,
		now,
	);
	return Math.min(last + limit, LAST_END);
}

/** What n8n keeps of a placed call while the execution sleeps. */
export function waitingItem(placed: INodeExecutionData, until: number): IDataObject {
	const { asked, ...call } = jsonOf(placed);
	const json = {
		...call,
		timed_out: true,
		[NOT_READ_FIELD]: NOT_READ,
		[WAITS_UNTIL]: new Date(until).toISOString(),
	};
	return withAnswer(json, asked, { record: {}, hasEnded: false, readFailure: NOT_READ });
}

/**
 * One item of the output: the call as the service holds it, and whether the wait ended before it did.
 *
 * @param includesInput whether the placed call came with the fields of its item, which stay
 */
export function waitedItem(
	placed: INodeExecutionData,
	index: number,
	known: CallState,
	includesInput: boolean,
): INodeExecutionData {
	const { record, hasEnded, readFailure } = known;
	const { asked, ...call } = jsonOf(placed);
	const json = {
		...(hasEnded && !includesInput ? pick(call, ...PLACEMENT_FIELDS) : call),
		...record,
		timed_out: !hasEnded,
		...(readFailure !== undefined && { [NOT_READ_FIELD]: readFailure }),
	};
	return { json: withAnswer(withPhoneKey(json), asked, known), pairedItem: { item: index } };
}

function jsonOf({ json }: INodeExecutionData): JsonObject {
	return isJsonObject(json) ? json : {};
}
