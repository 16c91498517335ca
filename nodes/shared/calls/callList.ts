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

type CallListRequest = {
	query: Query;
	/** Infinity for every call. */
	limit: number;
	/** Calls per request. The service's own page size if not set. */
	pageSize?: number | undefined;
	/**
	 * For a decision that needs every call: what a person can do if the list keeps changing. The list is then read until two
	 * readings agree.
	 */
	ifChanging?: string | undefined;
	additions?: Additions;
	limiter?: Limiter;
	/** What to keep of each call with an ID, to save memory. Everything by default. Must keep what `keyOf` reads. */
	compact?: (call: JsonObject) => JsonObject;
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
 * @throws OutcomeUnknown if the response has no list of calls, or if calls may be missing although every call is needed
 */
export async function readCalls(
	client: ApiClient,
	request: CallListRequest,
	mapping: ApiMapping,
): Promise<CallList> {
	const { limit, ifChanging, additions } = request;
	mapping.require(requiredForList(request, mapping));
	if (readsFirstPageOnly(limit, mapping)) {
		const { body } = await listCalls(client, { query: sized(request, mapping) }, additions);
		return { calls: onlyListIn(body, mapping).slice(0, limit), isComplete: true };
	}
	const list = callList(client, request, mapping);
	if (ifChanging === undefined) {
		const { entries, isComplete } = await readPages(list, limit);
		return { calls: entries, isComplete };
	}
	const calls = await readWholeList(list, {
		message: `Calls may be missing, because the call list changed in each of ${MAX_READINGS} readings, or has fewer calls than its total`,
		resolution: onScreenOnly(
			`${ifChanging} If that doesn't help: ${mapping.resolution('callListTotalPath')}`,
		),
	});
	return { calls, isComplete: true };
}

/** The filters with the page size, if any. */
export function sized(
	{ query, pageSize }: Pick<CallListRequest, 'query' | 'pageSize'>,
	mapping: ApiMapping,
): Query {
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
	request: CallListRequest,
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
