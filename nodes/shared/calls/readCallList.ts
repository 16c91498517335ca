import { listCalls } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { MAX_READINGS, readPages, readWholeList } from '../api/paging';
import { onScreenOnly } from '../api/resolution';
import type { ApiClient } from '../api/client';
import type { MappingName, ApiMapping } from '../apiMapping';
import type { Limiter } from '../keyedMutex';
import { asRecord, isJsonObject, type JsonObject, type JsonValue, outlineOf } from '../json';
import { callPages, requirePaths, sizedQuery, type CallPagesRequest } from './callPages';

export type CallListRequest = CallPagesRequest & {
	/** Infinity for every call. */
	limit: number;
	limiter?: Limiter;
};

/** Calls as listed by the service. */
export type CallList = {
	calls: JsonObject[];
	/** False if the list changed or has fewer calls than its total, so that calls may be missing. */
	isComplete: boolean;
};

/** The list kept changing. */
export class CallsMayBeMissing extends OutcomeUnknown {}

/** The API mapping fields that are required to read this many calls. */
export function requiredForList(
	{ limit, pageSize }: Pick<CallListRequest, 'limit' | 'pageSize'>,
	mapping: ApiMapping,
): MappingName[] {
	const sized: MappingName[] = pageSize === undefined ? [] : ['callListPageSizeName'];
	if (readsFirstPageOnly(limit, mapping)) return sized;
	const paging = mapping.optional('callListPaging');
	const hasName = paging !== 'whole' && paging !== 'nextLink';
	const hasPath = paging === 'cursor' || paging === 'nextLink';
	return [
		'callListPath',
		'callListPaging',
		...(hasName ? (['callListPageName'] as const) : []),
		...(hasPath ? (['callListCursorPath'] as const) : []),
		...sized,
	];
}

/** Whether to return only the calls of the first response, because the path to the list isn't set. */
export function readsFirstPageOnly(limit: number, mapping: ApiMapping): boolean {
	return limit !== Infinity && mapping.optional('callListPath') === undefined;
}

/**
 * Reads the calls that match the filters. If the path to the list isn't set, returns the calls of the first response,
 * which must have exactly one list of calls.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if the response has no list of calls
 */
export async function readCalls(
	client: ApiClient,
	{ limit, limiter, ...request }: CallListRequest,
	mapping: ApiMapping,
): Promise<CallList> {
	mapping.require(requiredForList({ ...request, limit }, mapping));
	if (readsFirstPageOnly(limit, mapping)) {
		const query = sizedQuery(request, request.pageSize, mapping);
		const { body } = await listCalls(client, { query }, request.additions);
		return { calls: onlyListIn(body, mapping).slice(0, limit), isComplete: true };
	}
	const pages = callPages(client, request, mapping);
	const options = { limit, limiter, loopAdvice: loopAdvice(mapping) };
	const { entries, isComplete } = await readPages(pages, options);
	return { calls: entries.map(asRecord), isComplete };
}

/**
 * Reads the first page to test the API mapping of the list.
 *
 * @returns why a path couldn't be checked. Undefined if all could.
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if the response doesn't match the API mapping
 */
export async function testCallList(
	client: ApiClient,
	pageSize: number | undefined,
	mapping: ApiMapping,
): Promise<string | undefined> {
	const limit = 1;
	mapping.require(requiredForList({ limit, pageSize }, mapping));
	const query = sizedQuery({ query: {} }, pageSize, mapping);
	const response = await listCalls(client, { query });
	if (!readsFirstPageOnly(limit, mapping)) return requirePaths(response, mapping);
	onlyListIn(response.body, mapping);
	return undefined;
}

export type AllCallsRequest = Omit<CallListRequest, 'limit'> & {
	/** What a person can do if the list keeps changing. */
	ifChanging?: string;
};

/**
 * Reads all calls that match the filters, for a decision that needs a complete list.
 *
 * @throws MissingMapping before anything is sent
 * @throws CallsMayBeMissing if the list keeps changing
 */
export async function readAllCalls(
	client: ApiClient,
	{ ifChanging, limiter, ...request }: AllCallsRequest,
	mapping: ApiMapping,
): Promise<JsonObject[]> {
	mapping.require(requiredForList({ ...request, limit: Infinity }, mapping));
	const check = mapping.resolution('callListTotalPath');
	const pages = callPages(client, request, mapping);
	const options = { limiter, loopAdvice: loopAdvice(mapping) };
	const entries = await readWholeList(
		pages,
		options,
		() =>
			new CallsMayBeMissing(
				`Calls may be missing, because the call list changed in each of ${MAX_READINGS} readings, or has fewer calls than its total`,
				onScreenOnly(
					ifChanging === undefined ? check : `${ifChanging} If that doesn't help: ${check}`,
				),
			),
	);
	return entries.map(asRecord);
}

function loopAdvice(mapping: ApiMapping): string {
	return `${mapping.resolution('callListPaging', 'callListPageName')} The service may not support the parameter.`;
}

/** The calls of a response with exactly one list of calls. A call has a `call_id`. */
function onlyListIn(body: JsonValue, mapping: ApiMapping): JsonObject[] {
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
