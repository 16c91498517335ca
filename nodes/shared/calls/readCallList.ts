import { MAX_READINGS, readList, readProvenList } from '../api/completeList';
import { listCalls } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
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

/** Calls as the service listed them. */
export type CallList = {
	calls: JsonObject[];
	/** False if the list changed so often while it was read that calls may be missing. */
	isComplete: boolean;
};

/** The fields of the credential that reading so many calls needs. */
export function neededForList(
	{ limit, pageSize }: Pick<CallListRequest, 'limit' | 'pageSize'>,
	details: ApiMapping,
): MappingName[] {
	const sized: MappingName[] = pageSize === undefined ? [] : ['callListPageSizeName'];
	if (isFirstPartAlone(limit, details)) return sized;
	const paging = details.optional('callListPaging');
	const hasName = paging !== 'whole' && paging !== 'nextAddress';
	const hasPlace = paging === 'cursor' || paging === 'nextAddress';
	return [
		'callListPath',
		'callListPaging',
		...(hasName ? (['callListPageName'] as const) : []),
		...(hasPlace ? (['callListCursorPath'] as const) : []),
		...sized,
	];
}

/** Where the list stands and how it is paged is open: without it a limited list is what the first answer holds. */
export function isFirstPartAlone(limit: number, details: ApiMapping): boolean {
	return limit !== Infinity && details.optional('callListPath') === undefined;
}

/**
 * The calls that the filters find, for a person to see. Without the list's place in the answer, which is open, those
 * of the first answer, where it holds one list of calls and nothing else could be meant.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown where the answer shows no list of calls
 */
export async function readCalls(
	client: ApiClient,
	{ limit, limiter, ...request }: CallListRequest,
	details: ApiMapping,
): Promise<CallList> {
	details.require(neededForList({ ...request, limit }, details));
	if (isFirstPartAlone(limit, details)) {
		const query = sizedQuery(request, request.pageSize, details);
		const { body } = await listCalls(client, { query }, request.additions);
		return { calls: onlyListIn(body, details).slice(0, limit), isComplete: true };
	}
	const pages = callPages(client, request, details);
	const options = { limit, limiter, loopAdvice: loopAdvice(details) };
	const { entries, isComplete } = await readList(pages, options);
	return { calls: entries.map(asRecord), isComplete };
}

/**
 * Reads the first page alone, to try what the credential says of the list.
 *
 * @returns what it doesn't show; undefined if nothing
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if the response is not as the credential says
 */
export async function tryCallList(
	client: ApiClient,
	pageSize: number | undefined,
	details: ApiMapping,
): Promise<string | undefined> {
	const limit = 1;
	details.require(neededForList({ limit, pageSize }, details));
	const query = sizedQuery({ query: {} }, pageSize, details);
	const response = await listCalls(client, { query });
	if (!isFirstPartAlone(limit, details)) return requirePaths(response, details);
	onlyListIn(response.body, details);
	return undefined;
}

export type AllCallsRequest = Omit<CallListRequest, 'limit'> & {
	/** A longer list is not read to its end. */
	maxCalls?: number;
	/** What a person can do about a list that always changes while it is read. */
	ifChanging?: string;
};

/**
 * All calls that the filters find, for a decision that rests on their being all.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if calls may be missing, or if there are more than `maxCalls`
 */
export async function readAllCalls(
	client: ApiClient,
	{ maxCalls = Infinity, ifChanging, limiter, ...request }: AllCallsRequest,
	details: ApiMapping,
): Promise<JsonObject[]> {
	details.require(neededForList({ ...request, limit: Infinity }, details));
	const check = details.advice('callListTotalPath', 'callListPageSizeName');
	const entries = await readProvenList(callPages(client, request, details), {
		limiter,
		loopAdvice: loopAdvice(details),
		notProven: () =>
			new OutcomeUnknown(
				`Calls may be missing: the call list changed each of the ${MAX_READINGS} times it was read, has fewer calls than the service counts, or has too few calls on a page`,
				onScreenOnly(
					ifChanging === undefined ? check : `${ifChanging} If that doesn't help: ${check}`,
				),
			),
		longest: {
			entries: maxCalls,
			exceeded: () =>
				new OutcomeUnknown(
					`The call list has more than ${maxCalls} calls, so it was not read to its end`,
					onScreenOnly(details.advice('callListPhoneName', 'callListFromName')),
				),
		},
	});
	return entries.map(asRecord);
}

function loopAdvice(details: ApiMapping): string {
	return `${details.advice('callListPaging', 'callListPageName')} The service seems not to know the parameter.`;
}

/** The calls of an answer that holds one list of them. By `call_id`, which the document gives each call, they are known. */
function onlyListIn(body: JsonValue, details: ApiMapping): JsonObject[] {
	const lists = listsIn(body);
	const ofCalls = lists.map(callsOf).filter((calls) => calls.length > 0);
	const [calls = []] = ofCalls;
	const isEmpty = lists.length === 1 && lists[0]?.length === 0;
	if (ofCalls.length === 1 || isEmpty) return calls;
	throw new OutcomeUnknown(
		ofCalls.length > 1
			? 'The answer holds more than one list of calls'
			: 'The answer shows no list of calls',
		onScreenOnly(
			`${details.advice('callListPath', 'callListPaging')} Ask whoever provides your service. The answer holds ${outlineOf(body)}.`,
		),
	);
}

/** Lists that stand in no other list. */
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

/** None where an entry is no call. */
function callsOf(list: JsonValue[]): JsonObject[] {
	const calls = list.map(callIn);
	const known = calls.filter((call) => call !== undefined);
	return known.length === list.length ? known : [];
}

/** An entry that is a call, or that holds one and no other. */
function callIn(entry: JsonValue): JsonObject | undefined {
	if (!isJsonObject(entry)) return undefined;
	const [call, other] = [entry, ...Object.values(entry)]
		.filter(isJsonObject)
		.filter(({ call_id: callId }) => callId !== undefined && callId !== null);
	return other === undefined || call === entry ? call : undefined;
}
