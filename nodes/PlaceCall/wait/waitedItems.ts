import defaults from 'lodash/defaults';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { flatCallRecord } from '../../core/calls/callRecord';
import type { CallWatch } from '../../core/calls/callWatch';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import { NOT_READ_FIELD } from '../../core/service/errors';
import { withAnswer } from '../ask/answer';
import { plainText } from '../../core/values/values';

/** Field with the end of the wait, while the execution waits. */
export const WAITS_UNTIL = 'waits_until';

/** Returned if n8n ends the wait: by its own limit, or by *Retry* of an execution that was stopped while waiting. */
const NOT_READ =
	"The call wasn't read when the wait ended, because n8n was restarted during the wait, n8n couldn't reach its own webhook URL, or the execution was stopped and retried. Read the call with Get Call.";

/** The ID of the call to wait for. Undefined if no call was placed. */
export function callIdOf({ json }: INodeExecutionData): string | undefined {
	return plainText(json.call_id) || undefined;
}

export function callIdsOf(items: readonly INodeExecutionData[]): string[] {
	return items.map(callIdOf).filter((callId) => callId !== undefined);
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

/** The output: the record of each call, and whether the wait timed out. Items without a call stay as they are. */
export function waitedItems(
	items: readonly INodeExecutionData[],
	watch: CallWatch,
	optOutKey: string,
): INodeExecutionData[] {
	const flatten = (record: JsonObject) => flatCallRecord(record, optOutKey);
	return items.map((item, index) => {
		const pairedItem = { item: index };
		const placed = callIdOf(item) === undefined ? askedInstead(items, item) : item;
		const known = watch.state(callIdOf(placed) ?? '');
		if (known === undefined) {
			return { json: { ...item.json, ...outcomeOfSame(items, item, watch, flatten) }, pairedItem };
		}
		const { asked, ...call } = omit(jsonOf(item), WAITS_UNTIL, NOT_READ_FIELD, 'timed_out');
		const outcome = flatten({ phone_key: call.phone_key ?? null, ...known.record });
		const json = {
			// Beside the outcome, because the status of a call in progress isn't one.
			...pick(outcome, 'outcome', 'answered'),
			timed_out: !known.hasEnded,
			...defaults(outcome, call),
			// The workflow goes on with the people of the rows, not with the person who was asked.
			...(asked !== undefined && {
				...pick(call, 'phone_number', 'caller_name'),
				asked_at: jsonOf(placed).asked_at ?? null,
			}),
			...(known.readFailure !== undefined && { [NOT_READ_FIELD]: known.readFailure }),
		};
		return { json: withAnswer(json, asked, known), pairedItem };
	});
}

/**
 * The outcome of the call of the item with the same number. Without it, a workflow that calls unanswered people again would
 * call this one.
 */
function outcomeOfSame(
	items: readonly INodeExecutionData[],
	{ json: { duplicate_of: first } }: INodeExecutionData,
	watch: CallWatch,
	flatten: (record: JsonObject) => JsonObject,
): IDataObject {
	const other = typeof first === 'number' ? items[first] : undefined;
	const known = other && watch.state(callIdOf(other) ?? '');
	if (known === undefined) return {};
	const outcome = pick(flatten(known.record), 'outcome', 'answered', 'opted_out');
	return { ...outcome, timed_out: !known.hasEnded };
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
