import {
	MAX_READINGS,
	readList,
	readProvenList,
	type ListReader,
	type Reading,
} from '../../shared/api/completeList';
import { listDndNumbers, type Additions } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/modelAdvice';
import {
	asRecord,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
} from '../../shared/json';
import type { Limiter } from '../../shared/keyedMutex';
import type { ApiMapping } from '../../shared/apiMapping';
import { queryOf } from '../../shared/apiMapping/placeValues';
import type { Page, PageReader } from '../../shared/api/paging';
import { pageAcross, pagesAcross, startOf, type SizedPage } from '../../shared/api/staggeredPages';
import type { ApiClient } from '../../shared/api/client';
import { Totals } from '../../shared/api/totals';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. */
	limit: number;
	/** At most 100; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	limiter?: Limiter;
};

const PAGE_NAME = 'dndListPageName';

/** A page by its place, counted from 0, among those of its size; of the usual size where none is given. */
type PageRequest = { index: number; size?: number };

/**
 * The entries of an agent's list, page by page as `meta` tells, for a person to see.
 *
 * @returns whether a whole list showed no sign that entries are missing
 * @throws MissingMapping before anything is sent
 */
export async function readDndList(
	client: ApiClient,
	{ limiter, ...request }: DndListRequest,
	details: ApiMapping,
): Promise<{ entries: JsonObject[]; isComplete: boolean }> {
	const { entries, isComplete } = await readList(dndPages(client, request, details), {
		limit: request.limit,
		limiter,
		loopAdvice: checkPageName(details),
	});
	return { entries: entries.map(asRecord), isComplete };
}

/**
 * All entries of an agent's list, for a decision that rests on who is not on it.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if entries may be missing
 */
export async function readAllDndEntries(
	client: ApiClient,
	{ limiter, ...request }: Omit<DndListRequest, 'limit'>,
	details: ApiMapping,
): Promise<JsonObject[]> {
	const pages = dndPages(client, { ...request, limit: Infinity }, details);
	const entries = await readProvenList(pages, {
		limiter,
		loopAdvice: checkPageName(details),
		notProven: () =>
			new OutcomeUnknown(
				`Numbers may be missing: the do-not-disturb list changed each of the ${MAX_READINGS} times it was read, has fewer numbers than the service counts, or has too few numbers on a page`,
				{
					onScreen:
						'Run this again while fewer numbers are added and removed. No number was treated as not listed.',
					forModel: 'Ask again later. No number was treated as not listed.',
				},
			),
	});
	return entries.map(asRecord);
}

function checkPageName(details: ApiMapping): string {
	return `${details.resolution(PAGE_NAME)} The service seems not to know the parameter.`;
}

function dndPages(
	client: ApiClient,
	request: Omit<DndListRequest, 'inTurn'>,
	details: ApiMapping,
): ListReader<PageRequest, JsonValue> {
	const pages = new DndPages(client, request, details);
	return {
		pagesOf: (reading) => pages.of(reading),
		keyOf,
		staggeredBy: details.optional('dndListPerPageName') === undefined ? undefined : 'pageSize',
	};
}

/** A number that comes onto the list again is another entry. */
function keyOf(entry: JsonValue): string | undefined {
	if (!isJsonObject(entry) || entry.id === undefined) return undefined;
	return JSON.stringify([entry.id, entry.phone, entry.created_at]);
}

/** Asks for pages, and finds out how the service numbers them: from 0 or 1 is open, and the first response tells. */
class DndPages {
	private firstNumber = 0;
	/** By how much the number that a request takes is smaller than the one that `meta` shows. */
	private shift = 0;
	/** A page after the first one was given as it was asked for. */
	private isSure = false;
	private readonly totals = new Totals();

	constructor(
		private readonly client: ApiClient,
		private readonly request: Omit<DndListRequest, 'inTurn'>,
		private readonly details: ApiMapping,
	) {
		details.require(this.valuesOf(request.pageSize).map(({ detail }) => detail));
	}

	of(reading: Reading): PageReader<PageRequest, JsonValue> {
		return {
			fetch: async (page, signal) => await this.ask(reading, page, signal),
			parse: (body, page, found) => this.partOf(body, reading, { page, found }),
		};
	}

	private async ask(
		reading: Reading,
		page: PageRequest | undefined,
		signal: AbortSignal,
	): Promise<JsonValue> {
		const usual = reading.isStaggered ? pageAcross(0, reading).size : this.request.pageSize;
		const values = this.valuesOf(page?.size ?? usual).map(({ detail, value }) => ({
			name: this.details.required(detail),
			value,
		}));
		const number = this.firstNumber + (page?.index ?? 0);
		const position =
			page === undefined
				? []
				: [{ name: this.details.required(PAGE_NAME), value: number - this.shift }];
		const query = queryOf([...values, ...position]);
		const { body } = await listDndNumbers(this.client, query, this.request.additions, signal);
		if (page === undefined) return body;
		const off = (shownPage(body) ?? number) - number;
		if (off > 0 && this.shift === 0 && !this.isSure) {
			// A service may number its pages from 1 and take them from 0.
			this.shift = off;
			return await this.ask(reading, page, signal);
		}
		if (off !== 0) {
			throw new OutcomeUnknown(
				'The service gave another page than it was asked for',
				onScreenOnly(checkPageName(this.details)),
			);
		}
		this.isSure = true;
		return body;
	}

	private valuesOf(size: number | undefined) {
		const { agentUuid, phone } = this.request;
		const values = [
			{ detail: 'dndListAgentName', value: agentUuid },
			{ detail: 'dndListPhoneName', value: phone },
			{ detail: 'dndListPerPageName', value: size },
		] as const;
		return values.flatMap(({ detail, value }) => (value === undefined ? [] : [{ detail, value }]));
	}

	private partOf(
		body: JsonValue,
		reading: Reading,
		{ page, found }: { page: PageRequest | undefined; found: number },
	): Page<PageRequest> {
		const data = isJsonObject(body) ? body.data : undefined;
		if (!Array.isArray(data)) {
			throw new OutcomeUnknown(
				'The answer holds no list of numbers',
				onScreenOnly(
					`Check Base URL in the credential: the service’s document has the list in data. The answer holds ${outlineOf(body)}.`,
				),
			);
		}
		const { total_pages, total_count } = metaOf(body);
		const pages = numberIn(total_pages);
		const total = this.totals.read(total_count, data.length);
		const end = (page !== undefined && isSized(page) ? startOf(page) : found) + data.length;
		// Whether a service gives pages of any size shows only later, so they don't show how long the list is.
		const part = { entries: data, total, end: reading.isStaggered ? Infinity : end };
		const isWhole = data.length === 0 || (pages !== undefined && pages < 2) || end === total;
		if (isWhole || end >= this.request.limit) return part;
		const number = page === undefined ? shownPage(body) : this.firstNumber + page.index;
		if (number === undefined || pages === undefined) {
			throw new OutcomeUnknown(
				'The answer does not tell whether the list has more pages',
				onScreenOnly(
					'The service’s document promises meta with current_page and total_pages. Ask whoever provides your service.',
				),
			);
		}
		if (page === undefined) this.firstNumber = number;
		const index = page?.index ?? 0;
		if (index >= pages - 1) return part;
		if (reading.isStaggered) {
			const next = pageAcross(end, reading);
			return { ...part, next, further: pagesAcross(next, total ?? end, reading) };
		}
		const next = { index: index + 1 };
		return { ...part, next, ...(this.isSure && { further: pagesAfter(next, pages) }) };
	}
}

function* pagesAfter(page: PageRequest, pages: number): Generator<PageRequest> {
	for (let index = page.index + 1; index < pages; index++) yield { index };
}

function isSized(page: PageRequest): page is SizedPage {
	return page.size !== undefined;
}

function metaOf(body: JsonValue): JsonObject {
	return isJsonObject(body) && isJsonObject(body.meta) ? body.meta : {};
}

function shownPage(body: JsonValue): number | undefined {
	return numberIn(metaOf(body).current_page);
}
