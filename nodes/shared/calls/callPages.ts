import { listCalls, type Additions } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import type { ApiResponse, Query, QueryValue } from '../api/http';
import { Totals, type Page, type PageReader } from '../api/paging';
import type { ApiClient } from '../api/client';
import type { ApiMapping, MappingName } from '../apiMapping';
import { withValue } from '../apiMapping/placeValues';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
	valueAt,
} from '../json';

export type CallPagesRequest = {
	query: Query;
	/** Calls per request. The service's own page size if not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	/** What to keep of each call with an ID, to save memory. Everything by default. Must keep what `keyOf` reads. */
	compact?: (call: JsonObject) => JsonObject;
};

/** The layout of the service's call list, from the API mapping. */
type CallListLayout = {
	path: string;
	/** If the calls are in an object: the field for the key of each call. */
	keyName: string | undefined;
	itemPath: string | undefined;
	totalPath: string | undefined;
	paging: string;
	/** The parameter that selects the page. Empty if there is one page or the response has a link. */
	positionName: string;
	sizeName: string | undefined;
	cursorPath: string;
	/** What to do if some of these values are wrong. */
	resolution: ApiMapping['resolution'];
};

/** The position of a page after the first one. */
type CallPage =
	/** A page number, from 0. */
	| { index: number }
	| { offset: number }
	| { cursor: QueryValue }
	/** A complete link from the service. */
	| { link: string };

/** The pages of the call list according to the API mapping. */
export function callPages(
	client: ApiClient,
	request: CallPagesRequest,
	mapping: ApiMapping,
): PageReader<CallPage, ApiResponse> {
	const layout = readLayout(mapping);
	const totals = new Totals();
	const { compact, pageSize, additions } = request;
	return {
		keyOf,
		fetch: async (page, signal) => {
			if (page !== undefined && 'link' in page) return await listCalls(client, page, {}, signal);
			const sized = sizedQuery(request, pageSize, mapping);
			const query = { ...sized, ...positionOf(page, layout) };
			return await listCalls(client, { query }, additions, signal);
		},
		parse: (response, page, found) => {
			const parsed = pageOf(response, { page, found, layout, totals });
			if (compact === undefined) return parsed;
			const entries = parsed.entries.map((entry) =>
				isJsonObject(entry) && keyOf(entry) !== undefined ? compact(entry) : entry,
			);
			return { ...parsed, entries };
		},
	};
}

const FIRST_NUMBERS: { [paging: string]: number } = { pageFromZero: 0, pageFromOne: 1 };

/** The query parameter that selects a page after the first one. */
function positionOf(
	page: Exclude<CallPage, { link: string }> | undefined,
	{ paging, positionName }: CallListLayout,
): Query {
	if (page === undefined) return {};
	if ('index' in page) return { [positionName]: page.index + (FIRST_NUMBERS[paging] ?? 0) };
	return { [positionName]: 'offset' in page ? page.offset : page.cursor };
}

type PageContext = {
	page: CallPage | undefined;
	found: number;
	layout: CallListLayout;
	totals: Totals;
};

function pageOf(
	{ body, url }: ApiResponse,
	{ page, found, layout, totals }: PageContext,
): Page<CallPage> {
	const entries = entriesOf(body, layout);
	const { length } = entries;
	const given = layout.totalPath === undefined ? undefined : valueAt(body, layout.totalPath);
	const total = totals.read(given, length);
	const end = found + length;
	if (total !== undefined && end >= total) return { entries, total };
	const isNumbered = FIRST_NUMBERS[layout.paging] !== undefined || layout.paging === 'offset';
	if (isNumbered && length === 0) return { entries, total };
	if (!isNumbered) {
		const next = linkedNext(body, layout, url);
		return next === undefined ? { entries, total } : { entries, total, next };
	}
	const index = page !== undefined && 'index' in page ? page.index : 0;
	const pageAfter = (pages: number): CallPage =>
		layout.paging === 'offset' ? { offset: end + (pages - 1) * length } : { index: index + pages };
	const further = total === undefined ? 0 : Math.ceil((total - end) / length) - 1;
	return { entries, total, next: pageAfter(1), further: pagesAfter(pageAfter, further) };
}

function* pagesAfter(pageAfter: (pages: number) => CallPage, count: number): Generator<CallPage> {
	for (let pages = 2; pages < count + 2; pages++) yield pageAfter(pages);
}

/** The filters with the page size, if any. */
export function sizedQuery(
	{ query }: CallPagesRequest,
	size: number | undefined,
	mapping: ApiMapping,
): Query {
	if (size === undefined) return query;
	return withValue(query, mapping.required('callListPageSizeName'), size);
}

/** A redial may have the ID of its first call, so the key includes the time. */
function keyOf(call: JsonValue): string | undefined {
	if (!isJsonObject(call) || typeof call.call_id !== 'string') return undefined;
	return JSON.stringify([call.call_id, call.created_at]);
}

function readLayout(mapping: ApiMapping): CallListLayout {
	return {
		path: mapping.required('callListPath'),
		keyName: mapping.optional('callListKeyName'),
		itemPath: mapping.optional('callListItemPath'),
		totalPath: mapping.optional('callListTotalPath'),
		paging: mapping.required('callListPaging'),
		positionName: mapping.optional('callListPageName') ?? '',
		sizeName: mapping.optional('callListPageSizeName'),
		cursorPath: mapping.optional('callListCursorPath') ?? '',
		resolution: (...names) => mapping.resolution(...names),
	};
}

/**
 * Checks that each path of the API mapping leads somewhere in the first response. A wrong path may otherwise go
 * unnoticed.
 *
 * @returns why a path couldn't be checked. Undefined if all could.
 * @throws OutcomeUnknown that names the first wrong path
 */
export function requirePaths(response: ApiResponse, mapping: ApiMapping): string | undefined {
	const layout = readLayout(mapping);
	const { body, url } = response;
	const { path, itemPath, totalPath, keyName, cursorPath, paging, resolution } = layout;
	const entries = entriesOf(body, { ...layout, itemPath: undefined });
	const missing = (message: string, field: MappingName): OutcomeUnknown =>
		new OutcomeUnknown(
			message,
			onScreenOnly(`${resolution(field)} The response contains ${outlineOf(body)}.`),
		);
	if (keyName !== undefined && Array.isArray(valueAt(body, path))) {
		throw missing(`The calls are in a list at "${path}", so they have no keys`, 'callListKeyName');
	}
	if (itemPath !== undefined && entries.length > 0) {
		const isFound = entries.some((entry) => isJsonObject(valueAt(entry, itemPath) ?? null));
		if (!isFound) throw missing(`No entry has a call at "${itemPath}"`, 'callListItemPath');
	}
	const total = totalPath === undefined ? undefined : numberIn(valueAt(body, totalPath));
	if (totalPath !== undefined && total === undefined) {
		throw missing(`The response has no number at "${totalPath}"`, 'callListTotalPath');
	}
	const isLinked = paging === 'cursor' || paging === 'nextLink';
	if (!isLinked || linkedNext(body, layout, url) !== undefined) return undefined;
	if (valueAt(body, cursorPath) !== undefined) return undefined;
	if (total !== undefined && total > entries.length) {
		throw missing(`The response has nothing at "${cursorPath}"`, 'callListCursorPath');
	}
	return `the first response has nothing at "${cursorPath}", so it's the last page or the path is wrong`;
}

function entriesOf(
	body: JsonValue,
	{ path, keyName, itemPath, resolution }: CallListLayout,
): JsonValue[] {
	const list = valueAt(body, path);
	const inEntry = (entry: JsonValue) =>
		itemPath === undefined ? entry : (valueAt(entry, itemPath) ?? entry);
	if (Array.isArray(list)) return list.map(inEntry);
	if (isJsonObject(list) && keyName !== undefined) {
		return Object.entries(list).map(([key, entry]) => ({
			...asRecord(inEntry(entry)),
			[keyName]: key,
		}));
	}
	const next = isJsonObject(list)
		? `It has an object there. If the object has one call per key: ${resolution('callListKeyName')}`
		: resolution('callListPath');
	throw new OutcomeUnknown(
		`The response has no list of calls at "${path}"`,
		onScreenOnly(`${next} The response contains ${outlineOf(body)}.`),
	);
}

/** The next page according to the response. */
function linkedNext(
	body: JsonValue,
	{ paging, cursorPath, resolution }: CallListLayout,
	url: string | undefined,
): CallPage | undefined {
	if (paging === 'whole') return undefined;
	const cursor = valueAt(body, cursorPath) ?? false;
	if (cursor === false || (typeof cursor === 'string' && cursor.trim() === '')) return undefined;
	const isText = typeof cursor === 'string' || typeof cursor === 'number';
	if (isText && paging !== 'nextLink') return { cursor };
	if (isText && URL.canParse(String(cursor), url)) {
		return { link: new URL(String(cursor), url).href };
	}
	// Not treated as the end of the list, because calls would be missing.
	throw new OutcomeUnknown(
		paging === 'nextLink'
			? `The response has no link to the next page at "${cursorPath}"`
			: `The value at "${cursorPath}" in the response isn't a cursor`,
		onScreenOnly(resolution('callListPaging', 'callListCursorPath')),
	);
}
