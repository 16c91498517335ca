import type { ApiClient } from '../api/client';
import { type Additions, listCalls } from '../api/endpoints';
import type { Query } from '../api/http';
import {
	MAX_READINGS,
	type PagedList,
	positionsFrom,
	readPages,
	readWholeList,
} from '../api/paging';
import { onScreenOnly } from '../api/resolution';
import type { ApiMapping, MappingName } from '../apiMapping';
import { withValue } from '../apiMapping/placeValues';
import type { JsonObject } from '../json';
import type { Limiter } from '../keyedMutex';
import { entriesOf, linkedNext, onlyListIn, totalIn } from './callListResponse';

type AllCallsRequest = {
	query: Query;
	/** Calls per request. The service's own page size if not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	limiter?: Limiter;
	/** What to keep of each call with an ID, to save memory. Everything by default. Must keep what `keyOf` reads. */
	compact?: (call: JsonObject) => JsonObject;
};

type CallListRequest = AllCallsRequest & {
	/** Infinity for every call. */
	limit: number;
};

/** Calls as listed by the service. */
type CallList = {
	calls: JsonObject[];
	/** False if the list changed or has fewer calls than its total, so that calls may be missing. */
	isComplete: boolean;
};

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
	{ limit, ...request }: CallListRequest,
	mapping: ApiMapping,
): Promise<CallList> {
	mapping.require(requiredForList({ ...request, limit }, mapping));
	if (readsFirstPageOnly(limit, mapping)) {
		const { body } = await listCalls(client, { query: sized(request, mapping) }, request.additions);
		return { calls: onlyListIn(body, mapping).slice(0, limit), isComplete: true };
	}
	const { entries, isComplete } = await readPages(callList(client, request, mapping), limit);
	return { calls: entries, isComplete };
}

/**
 * Reads all calls that match the filters, for a decision that needs a complete list.
 *
 * @param ifChanging what a person can do if the list keeps changing
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if the list keeps changing, so that calls may be missing
 */
export async function readAllCalls(
	client: ApiClient,
	request: AllCallsRequest,
	mapping: ApiMapping,
	ifChanging: string,
): Promise<JsonObject[]> {
	mapping.require(requiredForList({ ...request, limit: Infinity }, mapping));
	return await readWholeList(callList(client, request, mapping), {
		message: `Calls may be missing, because the call list changed in each of ${MAX_READINGS} readings, or has fewer calls than its total`,
		resolution: onScreenOnly(
			`${ifChanging} If that doesn't help: ${mapping.resolution('callListTotalPath')}`,
		),
	});
}

/** The filters with the page size, if any. */
export function sized({ query, pageSize }: AllCallsRequest, mapping: ApiMapping): Query {
	if (pageSize === undefined) return query;
	return withValue(query, mapping.required('callListPageSizeName'), pageSize);
}

/** The position of the first page, if pages have numbers or offsets. Otherwise, a response has the position of the next page. */
const FIRST_POSITIONS: { [paging: string]: number } = {
	pageFromZero: 0,
	pageFromOne: 1,
	offset: 0,
};

/** The call list according to the API mapping. A position is what the response or the page parameter has. */
function callList(
	client: ApiClient,
	request: AllCallsRequest,
	mapping: ApiMapping,
): PagedList<string | number> {
	const { compact = (call: JsonObject) => call, additions, limiter } = request;
	const paging = mapping.required('callListPaging');
	const first = FIRST_POSITIONS[paging];

	const requestPage = async (position: string | number | undefined, signal: AbortSignal) => {
		if (position !== undefined && paging === 'nextLink')
			return await listCalls(client, { link: String(position) }, {}, signal);
		const page = position === undefined ? {} : { [mapping.required('callListPageName')]: position };
		const query = { ...sized(request, mapping), ...page };
		return await listCalls(client, { query }, additions, signal);
	};

	return {
		keyOf,
		limiter,
		loopAdvice: `${mapping.resolution('callListPaging', 'callListPageName')} The service may not support the parameter.`,
		read: async (position, signal) => {
			const response = await requestPage(position, signal);
			const { body } = response;
			const entries = entriesOf(body, mapping).map((entry) =>
				keyOf(entry) === undefined ? entry : compact(entry),
			);
			const total = totalIn(body, mapping);
			if (first === undefined) return { entries, total, next: linkedNext(response, mapping) };
			const { length } = entries;
			if (length === 0) return { entries, total, next: [] };
			const step = paging === 'offset' ? length : 1;
			const here = Number(position ?? first);
			// If all pages are as long as this one.
			const end = ((here - first) / step + 1) * length;
			const left = total === undefined ? 1 : Math.max(1, Math.ceil((total - end) / length));
			return { entries, total, next: positionsFrom(here + step, left, step) };
		},
	};
}

/** A redial may have the ID of its first call, so the key includes the time. */
function keyOf({ call_id: callId, created_at: createdAt }: JsonObject): string | undefined {
	return typeof callId === 'string' ? JSON.stringify([callId, createdAt]) : undefined;
}
