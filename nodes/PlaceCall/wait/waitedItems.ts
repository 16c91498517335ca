import defaults from 'lodash/defaults';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { flatCallRecord } from '../../core/calls/callRecord';
import type { CallWatch } from '../../core/calls/callWatch';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/values/json';
import { NOT_READ_FIELD } from '../../core/service/errors';
import { withAnswer } from '../ask/answer';
import { plainText } from '../../core/values/values';

/**
 * Name of what the node remembers while the execution waits: the end of the wait, and the calls of earlier runs. Not in the
 * items, because n8n returns them if it ends the wait itself.
 */
export const WAIT = 'wait';

/** Returned if n8n ends the wait: by its own limit, or by *Retry* of an execution that was stopped while waiting. */
const NOT_READ =
	"The call wasn't read when the wait ended, because n8n was restarted during the wait, n8n couldn't reach its own webhook URL, or the execution was stopped and retried. Read the call with Get Call.";

/**
 * The call that an item waits for: its own, or that of the item with the same number. `isItems`: whether it's the item's own,
 * or asks its question.
 */
export type AwaitedCall = { callId: string; isItems: boolean; askedAt: JsonValue };

/**
 * The call that each item waits for. Undefined if no call was placed.
 *
 * @param earlierCalls those of {@link SameCalls}
 */
export function awaitedCalls(
	items: readonly INodeExecutionData[],
	earlierCalls: JsonObject,
): Array<AwaitedCall | undefined> {
	const calls: Array<AwaitedCall | undefined> = [];
	for (const [index, item] of items.entries()) {
		const { call_id, asked_at = null, asked, duplicate_of: first } = jsonOf(item);
		const earlier = earlierCalls[index];
		// The first of the items with a number comes before the others.
		const other = typeof first === 'number' ? calls[first] : undefined;
		if (plainText(call_id) !== '') {
			calls.push({ callId: plainText(call_id), isItems: true, askedAt: asked_at });
		} else if (isJsonObject(earlier)) {
			const { call_id: callId, asked_at: askedAt = null, asksSame } = earlier;
			calls.push({ callId: plainText(callId), isItems: asksSame === true, askedAt });
		} else {
			const asksSame = asked !== undefined && isEqual(items[Number(first)]?.json.asked, asked);
			calls.push(other && { ...other, isItems: other.isItems && asksSame });
		}
	}
	return calls;
}

export function callIdsOf(calls: ReadonlyArray<AwaitedCall | undefined>): string[] {
	return uniq(calls.flatMap((call) => call?.callId ?? []));
}

/** An item with a call, as n8n stores it while the execution waits. */
export function waitingItem(item: INodeExecutionData, call: AwaitedCall): IDataObject {
	const json = { ...withCall(item, call), timed_out: true, [NOT_READ_FIELD]: NOT_READ };
	// Another question to the number wasn't asked.
	if (!call.isItems) return json;
	const { asked, ...row }: JsonObject = json;
	return withAnswer(row, asked, { record: {}, hasEnded: false, readFailure: NOT_READ });
}

/**
 * The output: the record of each call, and whether the wait timed out. Items without a call stay as they are. One with the
 * number of another item has the outcome of its call. Without it, a workflow that calls unanswered people again would call
 * this one.
 */
export function waitedItems(
	items: readonly INodeExecutionData[],
	calls: ReadonlyArray<AwaitedCall | undefined>,
	watch: CallWatch,
	optOutKey: string,
): INodeExecutionData[] {
	return items.map((item, index) => {
		const pairedItem = { item: index };
		const call = calls[index];
		if (call === undefined) return { ...item, pairedItem };
		const known = watch.state(call.callId);
		const json = withCall(item, call);
		const outcome = flatCallRecord(
			{ phone_key: json.phone_key ?? null, ...known.record },
			optOutKey,
		);
		const timed_out = !known.hasEnded;
		const notRead = known.readFailure !== undefined && { [NOT_READ_FIELD]: known.readFailure };
		if (!call.isItems) {
			const ofOther = pick(outcome, 'outcome', 'answered', 'opted_out');
			return { ...item, json: { ...json, ...ofOther, timed_out, ...notRead }, pairedItem };
		}
		const { asked, ...row } = json;
		const ended = {
			// Beside the outcome, because the status of a call in progress isn't one.
			...pick(outcome, 'outcome', 'answered'),
			timed_out,
			...defaults(outcome, row),
			// The workflow goes on with the people of the rows, not with the person who was asked.
			...(asked !== undefined && pick(row, 'phone_number', 'caller_name', 'asked_at')),
			...notRead,
		};
		return { ...item, json: withAnswer(ended, asked, known), pairedItem };
	});
}

/** The item before the wait. If another item asked its question, with that call. */
function withCall(item: INodeExecutionData, { callId, isItems, askedAt }: AwaitedCall): JsonObject {
	const json = omit(jsonOf(item), NOT_READ_FIELD, 'timed_out');
	if (!isItems) return json;
	const asked_at = json.asked !== undefined && { asked_at: askedAt };
	return { ...json, call_id: json.call_id ?? callId, ...asked_at };
}

function jsonOf({ json }: INodeExecutionData): JsonObject {
	return isJsonObject(json) ? json : {};
}
