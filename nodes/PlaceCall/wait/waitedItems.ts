import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';
import uniq from 'lodash/uniq';
import type { INodeExecutionData } from 'n8n-workflow';
import { callColumns } from '../../core/calls/callRecord';
import type { CallWatch } from '../../core/calls/callWatch';
import { NOT_READ_FIELD } from '../../core/service/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/values/json';
import { isUnset, plainText } from '../../core/values/values';
import { clock } from '../../host/clock';
import { type AskedQuestion, withAnswer } from '../ask/answer';
import { isDueLater } from '../callTime';

/**
 * The call that an item waits for: its own, or that of the item with the same number. `isItems`: whether it's the item's own,
 * or asks its question.
 */
type AwaitedCall = { callId: string; isItems: boolean; askedAt: JsonValue };

/** The call that each item waits for. Undefined if no call was placed, or if it's scheduled for later. */
export function awaitedCalls(items: readonly INodeExecutionData[]): Array<AwaitedCall | undefined> {
	const calls: Array<AwaitedCall | undefined> = [];
	for (const item of items) {
		const { call_id: id, asked, asked_at = null, duplicate_of: first } = jsonOf(item);
		const callId = plainText(id);
		if (callId !== '') {
			calls.push(
				isDueLater(item.json, clock.now())
					? undefined
					: { callId, isItems: true, askedAt: asked_at },
			);
		} else {
			// The first of the items with a number comes before the others.
			const other = typeof first === 'number' ? calls[first] : undefined;
			const asksSame = asked !== undefined && asked === items[Number(first)]?.json.asked;
			calls.push(other && { ...other, isItems: asksSame });
		}
	}
	return calls;
}

export function callIdsOf(calls: ReadonlyArray<AwaitedCall | undefined>): string[] {
	return uniq(calls.flatMap((call) => call?.callId ?? []));
}

/**
 * The output: the record of each call, and whether the wait timed out. Items that wait for no call stay as they are. One with
 * the number of another item has the outcome of its call. Without it, a workflow that calls unanswered people again would call
 * this one.
 *
 * @param questionOf that of an item of *Ask and Wait*, which gets its answer
 */
export function waitedItems(
	items: readonly INodeExecutionData[],
	calls: ReadonlyArray<AwaitedCall | undefined>,
	watch: CallWatch,
	optOutKey: string,
	questionOf: ((index: number) => AskedQuestion) | undefined,
): INodeExecutionData[] {
	return items.map((item, index) => {
		const placed = jsonOf(item);
		const call = calls[index];
		const state = call && watch.state(call.callId);
		const json = call === undefined ? placed : withRecord(placed, call, watch, optOutKey);
		const question = placed.asked === undefined ? undefined : questionOf?.(index);
		const answered =
			question && withAnswer(json, question, call?.isItems === true ? state : undefined);
		return { ...item, json: answered ?? json, pairedItem: { item: index } };
	});
}

function withRecord(
	placed: JsonObject,
	{ callId, isItems, askedAt }: AwaitedCall,
	watch: CallWatch,
	optOutKey: string,
): JsonObject {
	const { record, hasEnded, readFailure } = watch.state(callId);
	const columns = callColumns({ phone_key: placed.phone_key ?? null, ...record }, optOutKey);
	const timed_out = !hasEnded;
	const notRead = readFailure !== undefined && { [NOT_READ_FIELD]: readFailure };
	const { outcome = null, opted_out = null } = columns;
	if (!isItems) return { ...placed, outcome, opted_out, timed_out, ...notRead };
	return {
		...columns,
		// Of a call in progress, the status isn't an outcome.
		timed_out,
		// A column of the row stays if the call has no value for it.
		...{ ...placed, call_id: placed.call_id ?? callId },
		...omitBy(columns, isUnset),
		opted_out,
		...(placed.asked !== undefined && {
			// The workflow goes on with the people of the rows, not with the person who was asked.
			...pick(placed, 'asked', 'phone_number', 'person_name'),
			asked_at: askedAt,
		}),
		...notRead,
	};
}

function jsonOf({ json }: INodeExecutionData): JsonObject {
	return isJsonObject(json) ? json : {};
}
