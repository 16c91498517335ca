import type { ApiResponse } from '../api/http';
import { OutcomeUnknown } from '../api/errors';
import type { Page } from '../api/paging';
import { onScreenOnly } from '../api/resolution';
import type { ApiMapping } from '../apiMapping';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
} from '../json';

/** The calls at the path of the API mapping. */
export function entriesOf(body: JsonValue, mapping: ApiMapping): JsonObject[] {
	const path = mapping.required('callListPath');
	const keyName = mapping.optional('callListKeyName');
	const itemPath = mapping.optional('callListItemPath');
	const list = valueAt(body, path);
	const inEntry = (entry: JsonValue) =>
		asRecord(itemPath === undefined ? entry : (valueAt(entry, itemPath) ?? entry));
	if (Array.isArray(list)) return list.map(inEntry);
	if (isJsonObject(list) && keyName !== undefined) {
		return Object.entries(list).map(([key, entry]) => ({ ...inEntry(entry), [keyName]: key }));
	}
	const next = isJsonObject(list)
		? `It has an object there. If the object has one call per key: ${mapping.resolution('callListKeyName')}`
		: mapping.resolution('callListPath');
	throw new OutcomeUnknown(
		`The response has no list of calls at "${path}"`,
		onScreenOnly(`${next} The response contains ${outlineOf(body)}.`),
	);
}

/** The number of matching calls, if the API mapping has a path to it. */
export function totalIn(body: JsonValue, mapping: ApiMapping): number | undefined {
	const path = mapping.optional('callListTotalPath');
	return path === undefined ? undefined : numberIn(valueAt(body, path));
}

/** The cursor or link of the next page in the response, if it has one. An error if it isn't one. */
export function linkedNext(
	{ body, url }: ApiResponse,
	mapping: ApiMapping,
): Page<string | number>['next'] {
	const paging = mapping.required('callListPaging');
	if (paging === 'whole') return [];
	const path = mapping.required('callListCursorPath');
	const cursor = valueAt(body, path) ?? false;
	if (cursor === false || (typeof cursor === 'string' && cursor.trim() === '')) return [];
	const isText = typeof cursor === 'string' || typeof cursor === 'number';
	if (isText && paging !== 'nextLink') return [cursor];
	if (isText && URL.canParse(String(cursor), url)) return [new URL(String(cursor), url).href];
	// Not treated as the end of the list, because calls would be missing.
	return new OutcomeUnknown(
		paging === 'nextLink'
			? `The response has no link to the next page at "${path}"`
			: `The value at "${path}" in the response isn't a cursor`,
		onScreenOnly(mapping.resolution('callListPaging', 'callListCursorPath')),
	);
}

/** The calls of a response with exactly one list of calls. A call has a `call_id`. */
export function onlyListIn(body: JsonValue, mapping: ApiMapping): JsonObject[] {
	const lists = listsIn(body);
	const ofCalls = lists.map(callsOf).filter((calls) => calls.length > 0);
	const [calls = []] = ofCalls;
	const isEmpty = lists.length === 1 && lists[0]?.length === 0;
	if (ofCalls.length === 1 || isEmpty) return calls;
	throw new OutcomeUnknown(
		ofCalls.length > 1
			? 'The response has more than one list of calls'
			: 'The response has no list of calls',
		onScreenOnly(
			`${mapping.resolution('callListPath', 'callListPaging')} Ask your service provider for the values. The response contains ${outlineOf(body)}.`,
		),
	);
}

/** Lists that aren't inside another list. */
function listsIn(body: JsonValue): JsonValue[][] {
	const lists: JsonValue[][] = [];
	const queue: JsonValue[] = [body];
	for (let at = 0; at < queue.length; at++) {
		const value = queue[at] ?? null;
		if (Array.isArray(value)) lists.push(value);
		else if (isJsonObject(value)) for (const inner of Object.values(value)) queue.push(inner);
	}
	return lists;
}

/** The calls of a list. Empty if an entry isn't a call. */
function callsOf(list: JsonValue[]): JsonObject[] {
	const calls = list.map(callIn);
	const known = calls.filter((call) => call !== undefined);
	return known.length === list.length ? known : [];
}

/** The call of an entry: the entry itself, or the only call in its fields. */
function callIn(entry: JsonValue): JsonObject | undefined {
	if (!isJsonObject(entry)) return undefined;
	const [call, other] = [entry, ...Object.values(entry)]
		.filter(isJsonObject)
		.filter(({ call_id: callId }) => callId !== undefined && callId !== null);
	return other === undefined || call === entry ? call : undefined;
}
