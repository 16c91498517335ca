import defaults from 'lodash/defaults';
import has from 'lodash/has';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import {
	WAIT_INDEFINITELY,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { isValueByKey, flatCallRecord } from '../../shared/calls/callRecord';
import type { CallWatch } from '../../shared/calls/callWatch';
import { isJsonObject, type JsonObject, numberIn } from '../../shared/json';
import type { Fields } from '../../shared/n8n/forms/fields';
import { inputRows } from '../../shared/n8n/tools/toolRun';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { withAnswer } from '../ask/answer';
import { asksAndWaits, type Context, GRACE_MS } from './resumeUrl';
import { hasOffset } from '../../shared/dates';
import { plainText } from '../../shared/values';

/** Field with the end of the wait, while the execution waits. */
export const WAITS_UNTIL = 'waits_until';

/** Returned if n8n ends the wait: by its own limit, or by *Retry* of an execution that was stopped while waiting. */
const NOT_READ =
	"The call wasn't read when the wait ended, because n8n was restarted during the wait, n8n couldn't reach its own webhook URL, or the execution was stopped and retried. Read the call with Get Call.";

/** Output fields of this node. In an input item, they belong to an earlier call. */
const CALL_FIELDS = new Set([
	'outcome',
	'answered',
	'call_id',
	'scheduled_at_epoch',
	'phone_key',
	'placed',
	'not_placed_reason',
	'duplicate_of',
	'next_opening',
	'next_call_possible_at',
	'timed_out',
	'asked',
	NOT_READ_FIELD,
	WAITS_UNTIL,
]);

/** By default only after a question, because the workflow goes on with the rows that it's about. */
export function includesInput(context: Context, form: Fields): boolean {
	const isForModel = context.getNode().type.endsWith('Tool');
	const byDefault = asksAndWaits(context) && !isForModel;
	return form.collection('options').switch('includeInputFields', byDefault);
}

/** The fields of a call record that aren't about the person, and what can be read for it. */
const RECORD_FIELDS = [
	...['status', 'agent_uuid', 'agent_name', 'from_number', 'call_type', 'channel'],
	...['duration_seconds', 'call_ended_by', 'call_ended_reason', 'call_ended_reason_message'],
	...['campaign_id', 'campaign_upload_id', 'created_at', 'call_picked_at', 'retry_count'],
	...['tag', 'tag_id', 'tag_name', 'tag_color_code', 'summary', 'data_captured'],
	...['post_call_analysis', 'scheduled_at', 'transcript', 'transcript_text', 'recording'],
];

/** Groups of fields that belong to an earlier call if an item has the first two of them. Alone, they may be the user's. */
const GROUPS = [
	['call_id', 'phone_key', ...RECORD_FIELDS],
	['call_id', 'agent_uuid', ...RECORD_FIELDS],
	['error', 'details', 'message'],
	['answer', 'explanation', 'captured_answer'],
];

/** The input fields to include in the output. */
export function inputFields(context: IExecuteFunctions, index: number): IDataObject {
	const row = inputRows(context)[index]?.json ?? {};
	const groups = GROUPS.filter(([first = '', second = '']) => first in row && second in row);
	const stale = new Set(groups.flat());
	const isApproval = (field: string) => field === 'data' && has(row, 'data.approved');
	return omitBy(
		row,
		(_value, field) =>
			CALL_FIELDS.has(field) || isValueByKey(field) || stale.has(field) || isApproval(field),
	);
}

/** The ID of the call to wait for. Undefined if no call was placed. */
export function callIdOf({ json }: INodeExecutionData): string | undefined {
	return plainText(json.call_id) || undefined;
}

export function callIdsOf(items: readonly INodeExecutionData[]): string[] {
	return items.map(callIdOf).filter((callId) => callId !== undefined);
}

/** The latest end of a wait. n8n's own limit is a little later. */
const LAST_END = WAIT_INDEFINITELY.getTime() - GRACE_MS;

/** The time limit starts when the last call is due. In epoch milliseconds. */
export function endOfWait(
	placed: readonly INodeExecutionData[],
	{ limitMs, keepsInput }: { limitMs: number; keepsInput: boolean },
	now: number,
): number {
	// With the input's fields, it may be one of them.
	const dueTimes = placed.map(({ json }) => dueAt(keepsInput ? omit(json, 'scheduled_at') : json));
	const last = dueTimes.reduce((latest, due) => Math.max(latest, due || now), now);
	return Math.min(last + limitMs, LAST_END);
}

/** When a placed call is due, in epoch milliseconds. NaN if the response has neither the epoch nor a date and time. */
function dueAt({ scheduled_at_epoch: epoch, scheduled_at: at }: IDataObject): number {
	const isGiven = typeof epoch === 'string' || typeof epoch === 'number';
	const seconds = isGiven ? numberIn(epoch) : undefined;
	if (seconds !== undefined) return seconds * 1_000;
	return typeof at === 'string' && hasOffset(at) ? DateTime.fromISO(at).toMillis() : NaN;
}

/** The item of a placed call that n8n stores while the execution waits. */
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
 * The output: the record of each call, and whether the wait timed out. Items without a call stay as they are.
 *
 * @param keepsInput whether the items have the fields of their input items, which stay
 */
export function waitedItems(
	items: readonly INodeExecutionData[],
	watch: CallWatch,
	keepsInput: boolean,
): INodeExecutionData[] {
	return items.map((item, index) => {
		const pairedItem = { item: index };
		const known = watch.state(callIdOf(item) ?? callIdOf(askedInstead(items, item)) ?? '');
		if (known === undefined) return { ...item, pairedItem };
		const { asked, ...call } = omit(jsonOf(item), WAITS_UNTIL, NOT_READ_FIELD, 'timed_out');
		const outcome = flatCallRecord({ phone_key: call.phone_key ?? null, ...known.record });
		const json = {
			// Beside the outcome, because the status of a call in progress isn't one.
			...pick(outcome, 'outcome', 'answered'),
			timed_out: !known.hasEnded,
			...defaults(outcome, known.hasEnded && !keepsInput ? pick(call, 'placed') : call),
			// The workflow goes on with the people of the rows, not with the person who was asked.
			...(asked !== undefined && pick(call, 'phone_number', 'caller_name')),
			...(known.readFailure !== undefined && { [NOT_READ_FIELD]: known.readFailure }),
		};
		return { json: withAnswer(json, asked, known), pairedItem };
	});
}

/** The item that asks the same question to the same person. The item itself if there is none. */
function askedInstead(
	items: readonly INodeExecutionData[],
	item: INodeExecutionData,
): INodeExecutionData {
	const { duplicate_of: first, asked } = item.json;
	const other = typeof first === 'number' ? items[first] : undefined;
	return asked !== undefined && isEqual(other?.json.asked, asked) ? (other ?? item) : item;
}

function jsonOf({ json }: INodeExecutionData): JsonObject {
	return isJsonObject(json) ? json : {};
}
