import type { ListReader, Reading } from '../api/completeList';
import { listCalls, type Additions } from '../api/endpoints';
import { OutcomeUnknown } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import type { ApiResponse, Query, QueryValue } from '../api/http';
import type { Page, PageReader } from '../api/paging';
import type { ApiClient } from '../api/client';
import { Totals } from '../api/totals';
import {
	pageAcross,
	pagesAcross,
	sizeOfReading,
	startOf,
	type SizedPage,
} from '../api/staggeredPages';
import type { ApiMapping, MappingName } from '../apiMapping';
import { withValue } from '../apiMapping/placeValues';
import { asRecord, isJsonObject, type JsonValue, numberIn, outlineOf, valueAt } from '../json';

export type CallPagesRequest = {
	query: Query;
	/** Calls asked for at once; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
};

/** How a service gives its call list, as the credential says. */
type CallListForm = {
	path: string;
	/** Takes the key of each call where they stand in an object. */
	keyName: string | undefined;
	itemPath: string | undefined;
	totalPath: string | undefined;
	paging: string;
	/** Parameter that chooses the part; none where the list comes at once or the answer gives an address. */
	positionName: string;
	sizeName: string | undefined;
	cursorPath: string;
	/** What to do where the credential turns out to be wrong about some of it. */
	advice: ApiMapping['advice'];
};

/** What asks for a page after the first one. */
type CallPage =
	/** By its number, counted from 0. */
	| { index: number; size?: number }
	| { offset: number }
	| { cursor: QueryValue }
	/** A link of the service, which is complete. */
	| { link: string };

/** The pages of the call list, read as the credential says. */
export function callPages(
	client: ApiClient,
	request: CallPagesRequest,
	details: ApiMapping,
): ListReader<CallPage, ApiResponse> {
	const form = readForm(details);
	const totals = new Totals();
	const pagesOf = (reading: Reading): PageReader<CallPage, ApiResponse> => {
		const pages = new PagesOfReading(form, reading, totals);
		const ask = async (page: CallPage | undefined, signal: AbortSignal) => {
			if (page !== undefined && 'link' in page) return await listCalls(client, page, {}, signal);
			const filters = sizedQuery(request, pages.sizeOf(page) ?? request.pageSize, details);
			const query = { ...filters, ...pages.parametersOf(page) };
			return await listCalls(client, { query }, request.additions, signal);
		};
		const read = (answer: ApiResponse, page: CallPage | undefined, found: number) =>
			pages.partOf(answer, page, found);
		return { ask, read };
	};
	return { pagesOf, keyOf, staggeredBy: staggeringOf(form) };
}

function staggeringOf({ paging, sizeName }: CallListForm): 'pageSize' | 'offset' | undefined {
	if (paging === 'offset') return 'offset';
	return sizeName === undefined ? undefined : 'pageSize';
}

const FIRST_NUMBERS: { [paging: string]: number } = { pageFromZero: 0, pageFromOne: 1 };

/**
 * How the pages of one reading are asked for, and how they follow each other. Pages of a staggered one overlap with
 * those of the first: numbered pages of other sizes, offsets that go back by one call, cursors after a shorter page.
 */
class PagesOfReading {
	/** The number of the first page, where pages have numbers. */
	private readonly firstNumber: number | undefined;

	constructor(
		private readonly form: CallListForm,
		private readonly reading: Reading,
		private readonly totals: Totals,
	) {
		this.firstNumber = FIRST_NUMBERS[form.paging];
	}

	/** The page size to ask for, if it isn't the one that the person chose. */
	sizeOf(page: CallPage | undefined): number | undefined {
		const { reading, form } = this;
		if (!reading.isStaggered || staggeringOf(form) === 'offset') return undefined;
		if (page !== undefined) return 'index' in page ? page.size : reading.firstPageLength;
		return this.firstNumber === undefined ? sizeOfReading(reading) : pageAcross(0, reading).size;
	}

	parametersOf(page: CallPage | undefined): Query {
		if (page === undefined || 'link' in page) return {};
		const { positionName } = this.form;
		if ('index' in page) return { [positionName]: page.index + (this.firstNumber ?? 0) };
		return { [positionName]: 'offset' in page ? page.offset : page.cursor };
	}

	partOf({ body, url }: ApiResponse, page: CallPage | undefined, found: number): Page<CallPage> {
		const entries = entriesOf(body, this.form);
		const { length } = entries;
		const { totalPath } = this.form;
		const shown = totalPath === undefined ? undefined : valueAt(body, totalPath);
		const total = this.totals.read(shown, length);
		const end = this.startOf(page, found) + length;
		// Whether a service gives pages of any size shows only later, so they don't show how long the list is.
		const part = { entries, total, end: page !== undefined && isSized(page) ? Infinity : end };
		if (total !== undefined && end >= total) return part;
		const isNumeric = this.firstNumber !== undefined || this.form.paging === 'offset';
		if (isNumeric && length === 0) return part;
		const next = this.numericNext(page, end, length) ?? linkedNext(body, this.form, url);
		if (next === undefined) return part;
		if (total === undefined || length === 0) return { ...part, next };
		return { ...part, next, further: this.further(next, { end, length, total }) };
	}

	/** How many calls come before a page. */
	private startOf(page: CallPage | undefined, found: number): number {
		if (page === undefined) return 0;
		if ('offset' in page) return page.offset;
		return isSized(page) ? startOf(page) : found;
	}

	/** The page after one that ends there, where pages have numbers or offsets. */
	private numericNext(
		page: CallPage | undefined,
		end: number,
		length: number,
	): CallPage | undefined {
		const { isStaggered } = this.reading;
		if (this.form.paging === 'offset') return { offset: isStaggered && length > 1 ? end - 1 : end };
		if (this.firstNumber === undefined) return undefined;
		if (isStaggered && this.form.sizeName !== undefined) return pageAcross(end, this.reading);
		return { index: page !== undefined && 'index' in page ? page.index + 1 : 1 };
	}

	/** Where positions are numbers, those of the later pages show before the next one is there. */
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

/** The filters, with the page size that is asked for, if any. */
export function sizedQuery(
	{ query }: CallPagesRequest,
	size: number | undefined,
	details: ApiMapping,
): Query {
	if (size === undefined) return query;
	return withValue(query, details.required('callListPageSizeName'), size);
}

/** A call is known by its ID and, as a redial may have the ID of its first call, by its time. */
function keyOf(call: JsonValue): string | undefined {
	if (!isJsonObject(call) || typeof call.call_id !== 'string') return undefined;
	return JSON.stringify([call.call_id, call.created_at]);
}

function readForm(details: ApiMapping): CallListForm {
	return {
		path: details.required('callListPath'),
		keyName: details.optional('callListKeyName'),
		itemPath: details.optional('callListItemPath'),
		totalPath: details.optional('callListTotalPath'),
		paging: details.required('callListPaging'),
		positionName: details.optional('callListPageName') ?? '',
		sizeName: details.optional('callListPageSizeName'),
		cursorPath: details.optional('callListCursorPath') ?? '',
		advice: (...names) => details.advice(...names),
	};
}

/**
 * Requires that each path of the credential leads somewhere in the first response: some of them would else have no
 * effect, without a word.
 *
 * @returns what can't be told from this response; undefined if nothing
 * @throws OutcomeUnknown naming the first path that leads nowhere
 */
export function requirePaths(response: ApiResponse, details: ApiMapping): string | undefined {
	const form = readForm(details);
	const { body, url } = response;
	const { path, itemPath, totalPath, keyName, cursorPath, paging, advice } = form;
	const entries = entriesOf(body, { ...form, itemPath: undefined });
	const missing = (what: string, field: MappingName): OutcomeUnknown =>
		new OutcomeUnknown(what, onScreenOnly(`${advice(field)} The answer holds ${outlineOf(body)}.`));
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
	const isLinked = paging === 'cursor' || paging === 'nextAddress';
	if (!isLinked || linkedNext(body, form, url) !== undefined) return undefined;
	if (valueAt(body, cursorPath) !== undefined) return undefined;
	if (total !== undefined && total > entries.length) {
		throw missing(`The response has nothing at "${cursorPath}"`, 'callListCursorPath');
	}
	return `the first response has nothing at "${cursorPath}", so it is the last page, or the path is wrong`;
}

function entriesOf(
	body: JsonValue,
	{ path, keyName, itemPath, advice }: CallListForm,
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
	const resolution = isJsonObject(list)
		? `An object is there. If it has the calls, each under a key: ${advice('callListKeyName')}`
		: advice('callListPath');
	throw new OutcomeUnknown(
		`The answer holds no list of calls at “${path}”`,
		onScreenOnly(`${resolution} The answer holds ${outlineOf(body)}.`),
	);
}

/** What the response itself says of the next page. */
function linkedNext(
	body: JsonValue,
	{ paging, cursorPath, advice }: CallListForm,
	url: string | undefined,
): CallPage | undefined {
	if (paging === 'whole') return undefined;
	const cursor = valueAt(body, cursorPath) ?? false;
	if (cursor === false || (typeof cursor === 'string' && cursor.trim() === '')) return undefined;
	const isText = typeof cursor === 'string' || typeof cursor === 'number';
	if (isText && paging !== 'nextAddress') return { cursor };
	if (isText && URL.canParse(String(cursor), url)) {
		return { link: new URL(String(cursor), url).href };
	}
	// It is not taken for the end of the list: calls would be missing.
	throw new OutcomeUnknown(
		paging === 'nextAddress'
			? `The answer holds no address of the next part at “${cursorPath}”`
			: `The response has no cursor at "${cursorPath}", but something else`,
		onScreenOnly(advice('callListPaging', 'callListCursorPath')),
	);
}
