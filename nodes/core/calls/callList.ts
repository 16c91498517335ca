import type { ApiClient } from '../service/client';
import { type Additions, listCalls } from '../service/endpoints';
import { OutcomeUnknown } from '../service/errors';
import type { ApiResponse, Query } from '../service/http';
import { MAX_READINGS, type Page, type PagedList, positionsFrom } from '../service/paging';
import { type Explanation, onScreenOnly } from '../service/resolution';
import type { ApiMapping, MappingName } from '../profile/apiMapping';
import { withValue } from '../profile/placeValues';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
} from '../values/json';
import type { Limiter } from '../values/keyedMutex';
import { isUnset, plainText } from '../values/values';
import { type CallFilters, callListQuery, requireMatching } from './callListQuery';

type CallListRequest = {
	filters?: CallFilters;
	/** Time zone for dates without an offset. */
	zone?: string;
	/** Infinity for every call. */
	limit: number;
	/** Calls per request. The service's own page size if not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	limiter?: Limiter | undefined;
	/** What to keep of each call with an ID, to save memory. Everything by default. Must keep what `keyOf` reads. */
	compact?: (call: JsonObject) => JsonObject;
};

const NUMBERED: MappingName[] = ['callListPageName'];

/**
 * The values of *Pagination*: what each needs of the API mapping, and the position of the first page if pages have numbers or
 * offsets. Otherwise, a response has the position of the next page.
 */
const PAGINATION: { [paging: string]: { needs: MappingName[]; first?: number } } = {
	whole: { needs: [] },
	pageFromZero: { needs: NUMBERED, first: 0 },
	pageFromOne: { needs: NUMBERED, first: 1 },
	offset: { needs: NUMBERED, first: 0 },
	cursor: { needs: [...NUMBERED, 'callListCursorPath'] },
	nextLink: { needs: ['callListCursorPath'] },
};

/** The API mapping fields that are required to read this many calls. */
export function requiredForList(
	{ limit, pageSize }: Pick<CallListRequest, 'limit' | 'pageSize'>,
	mapping: ApiMapping,
): MappingName[] {
	const sized: MappingName[] = pageSize === undefined ? [] : ['callListPageSizeName'];
	if (readsFirstPageOnly(limit, mapping)) return sized;
	const { needs = NUMBERED } = PAGINATION[mapping.optional('callListPaging') ?? ''] ?? {};
	return ['callListPath', 'callListPaging', ...needs, ...sized];
}

/** Whether to return only the calls of the first response, because the path to the list isn't set. */
export function readsFirstPageOnly(limit: number, mapping: ApiMapping): boolean {
	return limit !== Infinity && mapping.optional('callListPath') === undefined;
}

/**
 * The calls that match the filters, according to the API mapping. A position is what the response or the page parameter
 * has. If the path to the list isn't set, the calls of the first response, which must have exactly one list of calls.
 *
 * Throws OutcomeUnknown if a call doesn't match a filter.
 *
 * @throws InvalidInput for an invalid filter, or if the API mapping lacks a value, before anything is sent
 */
export function callList(
	client: ApiClient,
	request: CallListRequest,
	mapping: ApiMapping,
): PagedList<string | number> {
	const { filters = {}, zone = 'utc', limit, pageSize, additions, limiter } = request;
	const { compact = (call: JsonObject) => call } = request;
	// One error names all missing fields of the credential.
	const required = requiredForList(request, mapping);
	const query = callListQuery(filters, mapping, zone, required);
	const firstQuery =
		pageSize === undefined
			? query
			: withValue(query, mapping.required('callListPageSizeName'), pageSize);
	const isFirstOnly = readsFirstPageOnly(limit, mapping);
	const pageOf = (position: string | number | undefined): { query: Query } | { search: string } => {
		if (position === undefined) return { query: firstQuery };
		if (mapping.optional('callListPaging') === 'nextLink') return { search: String(position) };
		return { query: { ...firstQuery, [mapping.required('callListPageName')]: position } };
	};
	return {
		keyOf,
		limiter,
		loopAdvice: `${mapping.resolution('callListPaging', 'callListPageName')} The service may not support the parameter, or return its last page again if 'Path to Total Count in Response' isn't set.`,
		read: async (position) => {
			const response = await listCalls(client, pageOf(position), additions);
			const calls = (isFirstOnly ? onlyListIn : entriesOf)(response.body, mapping);
			requireMatching(calls, filters, mapping);
			const entries = calls.map((call) => (keyOf(call) === undefined ? call : compact(call)));
			const next = isFirstOnly ? LAST_PAGE : pagesAfter(response, position, calls.length, mapping);
			return { entries, ...next };
		},
	};
}

type NextPages = Omit<Page<string | number>, 'entries'>;

const LAST_PAGE: NextPages = { next: () => [] };

/**
 * What a response shows of the pages after it.
 *
 * @param position of its page. Undefined for the first.
 * @param length entries of its page
 */
function pagesAfter(
	response: ApiResponse,
	position: string | number | undefined,
	length: number,
	mapping: ApiMapping,
): NextPages {
	const total = totalIn(response.body, mapping);
	const paging = mapping.required('callListPaging');
	const { first } = PAGINATION[paging] ?? {};
	if (first === undefined)
		return { total, saysNext: true, next: () => linkedNext(response, mapping) };
	if (length === 0) return { ...LAST_PAGE, total };
	const step = paging === 'offset' ? length : 1;
	const here = Number(position ?? first);
	// If all pages are as long as this one. Without a total, only the next page is known.
	const left = Math.ceil((total ?? 0) / length) - (here - first) / step - 1;
	return { total, next: () => positionsFrom(here + step, Math.max(1, Math.ceil(left)), step) };
}

/** A redial may have the ID of its first call, so the key includes the time. */
function keyOf({ call_id: callId, created_at: createdAt }: JsonObject): string | undefined {
	const id = plainText(callId);
	return id === '' ? undefined : JSON.stringify([id, createdAt]);
}

/** The error if a decision needs every call, and the list keeps changing. */
export function callsKeepChanging(advice: string, mapping: ApiMapping): Explanation {
	return {
		message: `Calls may be missing, because the call list changed in each of ${MAX_READINGS} readings, or has fewer calls than its total`,
		resolution: onScreenOnly(
			`${advice} If that doesn't help: ${mapping.resolution('callListTotalPath')}`,
		),
	};
}

/**
 * The calls at the path of the API mapping. Some services write an empty list as null.
 *
 * @throws OutcomeUnknown if it has none, or an entry has no call
 */
export function entriesOf(body: JsonValue, mapping: ApiMapping): JsonObject[] {
	const path = mapping.required('callListPath');
	const keyName = mapping.optional('callListKeyName');
	const itemPath = mapping.optional('callListItemPath');
	const list = valueAt(body, path);
	const inEntry = (entry: JsonValue) => {
		const call = itemPath === undefined ? entry : valueAt(entry, itemPath);
		if (call !== undefined) return asRecord(call);
		throw noList(`An entry of the list has no "${itemPath}"`, body, mapping, ['callListItemPath']);
	};
	if (Array.isArray(list)) return list.map(inEntry);
	if (list === null && totalIn(body, mapping) === 0) return [];
	if (isJsonObject(list) && keyName !== undefined) {
		return Object.entries(list).map(([key, entry]) => ({ ...inEntry(entry), [keyName]: key }));
	}
	throw noList(`The response has no list of calls at "${path}"`, body, mapping, [
		'callListPath',
		...(isJsonObject(list) ? (['callListKeyName'] as const) : []),
	]);
}

/** The number of matching calls, if the API mapping has a path to it. */
export function totalIn(body: JsonValue, mapping: ApiMapping): number | undefined {
	const path = mapping.optional('callListTotalPath');
	return path === undefined ? undefined : numberIn(valueAt(body, path));
}

/** To read a link without a host. */
const ANY_HOST = 'https://voice.example.com';

/** Values that end a list. No page after the first begins at 0. */
const NO_CURSORS = new Set<JsonValue>([false, '', 0, -1, '0', '-1']);

/**
 * The cursor of the next page in the response, or the query of the link to it, if it has one.
 *
 * @throws OutcomeUnknown if the value there isn't one. It isn't the end of the list, because calls would be missing.
 */
export function linkedNext({ body }: ApiResponse, mapping: ApiMapping): Array<string | number> {
	const paging = mapping.required('callListPaging');
	if (paging === 'whole') return [];
	const path = mapping.required('callListCursorPath');
	const cursor = valueAt(body, path) ?? false;
	if (NO_CURSORS.has(typeof cursor === 'string' ? cursor.trim() : cursor)) return [];
	const isText = typeof cursor === 'string' || typeof cursor === 'number';
	if (isText && paging !== 'nextLink') return [cursor];
	const link = plainText(cursor);
	const search = URL.canParse(link, ANY_HOST) ? new URL(link, ANY_HOST).search : '';
	if (search !== '') return [search];
	throw new OutcomeUnknown(
		`The value at "${path}" in the response isn't a cursor or link to the next page`,
		onScreenOnly(mapping.resolution('callListPaging', 'callListCursorPath')),
	);
}

/**
 * The calls of a response with exactly one list of calls.
 *
 * @throws OutcomeUnknown if the response has none or several
 */
export function onlyListIn(body: JsonValue, mapping: ApiMapping): JsonObject[] {
	const lists = listsIn(body);
	const ofCalls = lists.filter(isListOfCalls);
	const [only = []] = ofCalls;
	const isEmpty = lists.length > 0 && lists.every((list) => list.length === 0);
	if (ofCalls.length === 1 || isEmpty) return only;
	throw noList("The response doesn't have exactly one list of calls", body, mapping, [
		'callListPath',
		'callListPaging',
	]);
}

/** Lists that aren't inside another list. */
function listsIn(value: JsonValue): JsonValue[][] {
	if (Array.isArray(value)) return [value];
	return isJsonObject(value) ? Object.values(value).flatMap(listsIn) : [];
}

function isListOfCalls(list: JsonValue[]): list is JsonObject[] {
	const isCall = (entry: JsonValue) => isJsonObject(entry) && !isUnset(entry.call_id);
	return list.length > 0 && list.every(isCall);
}

function noList(
	message: string,
	body: JsonValue,
	mapping: ApiMapping,
	fields: MappingName[],
): OutcomeUnknown {
	return new OutcomeUnknown(
		message,
		onScreenOnly(`${mapping.resolution(...fields)} The response contains ${outlineOf(body)}.`),
	);
}
