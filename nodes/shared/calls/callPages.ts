import type { ListReader, Reading } from '../api/completeList';
import { listCalls, type Additions } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import type { ApiResponse, Query, QueryValue } from '../api/http';
import { Totals, type Page, type PageReader } from '../api/paging';
import type { ApiClient } from '../api/client';
import {
	pageAcross,
	pagesAcross,
	sizeOfReading,
	startOf,
	type SizedPage,
} from '../api/staggeredPages';
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
	| { index: number; size?: number }
	| { offset: number }
	| { cursor: QueryValue }
	/** A complete link from the service. */
	| { link: string };

/** The pages of the call list according to the API mapping. */
export function callPages(
	client: ApiClient,
	request: CallPagesRequest,
	mapping: ApiMapping,
): ListReader<CallPage, ApiResponse> {
	const layout = readLayout(mapping);
	const totals = new Totals();
	const pagesOf = (reading: Reading): PageReader<CallPage, ApiResponse> => {
		const pages = new PagesOfReading(layout, reading, totals);
		const fetch = async (page: CallPage | undefined, signal: AbortSignal) => {
			if (page !== undefined && 'link' in page) return await listCalls(client, page, {}, signal);
			const filters = sizedQuery(request, pages.sizeOf(page) ?? request.pageSize, mapping);
			const query = { ...filters, ...pages.parametersOf(page) };
			return await listCalls(client, { query }, request.additions, signal);
		};
		const { compact } = request;
		const parse = (response: ApiResponse, page: CallPage | undefined, found: number) => {
			const parsed = pages.pageOf(response, page, found);
			if (compact === undefined) return parsed;
			const entries = parsed.entries.map((entry) =>
				isJsonObject(entry) && keyOf(entry) !== undefined ? compact(entry) : entry,
			);
			return { ...parsed, entries };
		};
		return { fetch, parse };
	};
	return { pagesOf, keyOf, staggeredBy: staggeringOf(layout) };
}

function staggeringOf({ paging, sizeName }: CallListLayout): 'pageSize' | 'offset' | undefined {
	if (paging === 'offset') return 'offset';
	return sizeName === undefined ? undefined : 'pageSize';
}

const FIRST_NUMBERS: { [paging: string]: number } = { pageFromZero: 0, pageFromOne: 1 };

/**
 * Requests the pages of a reading and finds the next ones. Pages of a staggered reading overlap with those of the first
 * one: they have other sizes, offsets that go back by one call, or cursors after a shorter first page.
 */
class PagesOfReading {
	/** The number of the first page, if pages have numbers. */
	private readonly firstNumber: number | undefined;

	constructor(
		private readonly layout: CallListLayout,
		private readonly reading: Reading,
		private readonly totals: Totals,
	) {
		this.firstNumber = FIRST_NUMBERS[layout.paging];
	}

	/** The page size for a staggered reading. Undefined to use the chosen one. */
	sizeOf(page: CallPage | undefined): number | undefined {
		const { reading, layout } = this;
		if (!reading.isStaggered || staggeringOf(layout) === 'offset') return undefined;
		if (page !== undefined) return 'index' in page ? page.size : reading.firstPageLength;
		return this.firstNumber === undefined ? sizeOfReading(reading) : pageAcross(0, reading).size;
	}

	parametersOf(page: CallPage | undefined): Query {
		if (page === undefined || 'link' in page) return {};
		const { positionName } = this.layout;
		if ('index' in page) return { [positionName]: page.index + (this.firstNumber ?? 0) };
		return { [positionName]: 'offset' in page ? page.offset : page.cursor };
	}

	pageOf({ body, url }: ApiResponse, page: CallPage | undefined, found: number): Page<CallPage> {
		const entries = entriesOf(body, this.layout);
		const { length } = entries;
		const { totalPath } = this.layout;
		const given = totalPath === undefined ? undefined : valueAt(body, totalPath);
		const total = this.totals.read(given, length);
		const end = this.startOf(page, found) + length;
		// The service may ignore the requested size, so such a page doesn't show the length of the list.
		const current = { entries, total, end: page !== undefined && isSized(page) ? Infinity : end };
		if (total !== undefined && end >= total) return current;
		const isNumeric = this.firstNumber !== undefined || this.layout.paging === 'offset';
		if (isNumeric && length === 0) return current;
		const next = this.numericNext(page, end, length) ?? linkedNext(body, this.layout, url);
		if (next === undefined) return current;
		if (total === undefined || length === 0) return { ...current, next };
		return { ...current, next, further: this.further(next, { end, length, total }) };
	}

	/** Number of calls before a page. */
	private startOf(page: CallPage | undefined, found: number): number {
		if (page === undefined) return 0;
		if ('offset' in page) return page.offset;
		return isSized(page) ? startOf(page) : found;
	}

	/** The page after one that ends at `end`, if pages have numbers or offsets. */
	private numericNext(
		page: CallPage | undefined,
		end: number,
		length: number,
	): CallPage | undefined {
		const { isStaggered } = this.reading;
		if (this.layout.paging === 'offset')
			return { offset: isStaggered && length > 1 ? end - 1 : end };
		if (this.firstNumber === undefined) return undefined;
		if (isStaggered && this.layout.sizeName !== undefined) return pageAcross(end, this.reading);
		return { index: page !== undefined && 'index' in page ? page.index + 1 : 1 };
	}

	/** The pages after `next`, if pages have numbers or offsets. */
	private *further(
		next: CallPage,
		{ end, length, total }: { end: number; length: number; total: number },
	): Generator<CallPage> {
		if (isSized(next)) {
			yield* pagesAcross(next, total, this.reading);
			return;
		}
		const step = length - ('offset' in next ? end - next.offset : 0);
		let page: CallPage | undefined = next;
		for (let covered = end + step; covered < total; covered += step) {
			page = this.numericNext(page, covered, length);
			if (page === undefined) return;
			yield page;
		}
	}
}

function isSized(page: CallPage): page is SizedPage {
	return 'index' in page && page.size !== undefined;
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
