import {
	MAX_READINGS,
	readList,
	readProvenList,
	type ListReader,
	type Reading,
} from '../../shared/api/completeList';
import { listDndNumbers, type Additions } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isSameId } from '../../shared/api/successChecks';
import { onScreenOnly } from '../../shared/api/resolution';
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
import { Totals, type Page, type PageReader } from '../../shared/api/paging';
import { pageAcross, pagesAcross, startOf, type SizedPage } from '../../shared/api/staggeredPages';
import type { ApiClient } from '../../shared/api/client';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. */
	limit: number;
	/** At most 100. The service's default if omitted. */
	pageSize?: number | undefined;
	additions?: Additions;
	limiter?: Limiter;
};

const PAGE_NAME = 'dndListPageName';
const AGENT_NAME = 'dndListAgentName';

/** A page by its index among pages of the same size. `size` defaults to the page size of the request. */
type PageRequest = { index: number; size?: number };

/**
 * Reads the entries of an agent's list, page by page.
 *
 * @returns `isComplete`: false if entries of a whole list may be missing
 * @throws MissingMapping before anything is sent
 */
export async function readDndList(
	client: ApiClient,
	{ limiter, ...request }: DndListRequest,
	mapping: ApiMapping,
): Promise<{ entries: JsonObject[]; isComplete: boolean }> {
	const { entries, isComplete } = await readList(dndPages(client, request, mapping), {
		limit: request.limit,
		limiter,
		loopAdvice: checkName(mapping, PAGE_NAME),
	});
	return { entries: entries.map(asRecord), isComplete };
}

/**
 * Reads all entries of an agent's list, for decisions about numbers that aren't on it.
 *
 * @throws MissingMapping before anything is sent
 * @throws OutcomeUnknown if entries may be missing
 */
export async function readAllDndEntries(
	client: ApiClient,
	{ limiter, ...request }: Omit<DndListRequest, 'limit'>,
	mapping: ApiMapping,
): Promise<JsonObject[]> {
	const pages = dndPages(client, { ...request, limit: Infinity }, mapping);
	const entries = await readProvenList(pages, {
		limiter,
		loopAdvice: checkName(mapping, PAGE_NAME),
		notProven: () =>
			new OutcomeUnknown(
				`Numbers may be missing. In ${MAX_READINGS} attempts, the do-not-disturb list changed while it was read, or it had fewer numbers than the service counts or than fit on a page`,
				{
					onScreen:
						'Execute the node again when fewer numbers are added and removed. No number was treated as not listed.',
					forModel: 'Try again later. No number was treated as not listed.',
				},
			),
	});
	return entries.map(asRecord);
}

function checkName(mapping: ApiMapping, name: typeof PAGE_NAME | typeof AGENT_NAME): string {
	return `${mapping.resolution(name)} The service probably doesn't know this parameter.`;
}

function dndPages(
	client: ApiClient,
	request: Omit<DndListRequest, 'limiter'>,
	mapping: ApiMapping,
): ListReader<PageRequest, JsonValue> {
	const pages = new DndPages(client, request, mapping);
	return {
		pagesOf: (reading) => pages.of(reading),
		keyOf,
		staggeredBy: mapping.optional('dndListPerPageName') === undefined ? undefined : 'pageSize',
	};
}

/** A number that is removed and added again is a new entry. */
function keyOf(entry: JsonValue): string | undefined {
	if (!isJsonObject(entry) || entry.id === undefined) return undefined;
	return JSON.stringify([entry.id, entry.phone, entry.created_at]);
}

/** Reads pages. The document doesn't say whether pages count from 0 or 1, so the first response decides. */
class DndPages {
	private firstNumber = 0;
	/** The difference between the page number in `meta` and in the request. */
	private shift = 0;
	/** Whether a later page had the expected number. */
	private isNumberingKnown = false;
	private readonly totals = new Totals();

	constructor(
		private readonly client: ApiClient,
		private readonly request: Omit<DndListRequest, 'limiter'>,
		private readonly mapping: ApiMapping,
	) {
		mapping.require(this.valuesOf(request.pageSize).map(({ detail }) => detail));
	}

	of(reading: Reading): PageReader<PageRequest, JsonValue> {
		return {
			fetch: async (page, signal) => await this.fetch(reading, page, signal),
			parse: (body, page, found) => this.toPage(body, reading, { page, found }),
		};
	}

	private async fetch(
		reading: Reading,
		page: PageRequest | undefined,
		signal: AbortSignal,
	): Promise<JsonValue> {
		const usual = reading.isStaggered ? pageAcross(0, reading).size : this.request.pageSize;
		const values = this.valuesOf(page?.size ?? usual).map(({ detail, value }) => ({
			name: this.mapping.required(detail),
			value,
		}));
		const number = this.firstNumber + (page?.index ?? 0);
		const position =
			page === undefined
				? []
				: [{ name: this.mapping.required(PAGE_NAME), value: number - this.shift }];
		const query = queryOf([...values, ...position]);
		const { body } = await listDndNumbers(this.client, query, this.request.additions, signal);
		if (page === undefined) return body;
		const off = (shownPage(body) ?? number) - number;
		if (off > 0 && this.shift === 0 && !this.isNumberingKnown) {
			// The service may count from 1 in `meta`, but from 0 in the request.
			this.shift = off;
			return await this.fetch(reading, page, signal);
		}
		if (off !== 0) {
			throw new OutcomeUnknown(
				'The service returned another page than requested',
				onScreenOnly(checkName(this.mapping, PAGE_NAME)),
			);
		}
		this.isNumberingKnown = true;
		return body;
	}

	private valuesOf(size: number | undefined) {
		const { agentUuid, phone } = this.request;
		const values = [
			{ detail: AGENT_NAME, value: agentUuid },
			{ detail: 'dndListPhoneName', value: phone },
			{ detail: 'dndListPerPageName', value: size },
		] as const;
		return values.flatMap(({ detail, value }) => (value === undefined ? [] : [{ detail, value }]));
	}

	private toPage(
		body: JsonValue,
		reading: Reading,
		{ page, found }: { page: PageRequest | undefined; found: number },
	): Page<PageRequest> {
		const data = isJsonObject(body) ? body.data : undefined;
		if (!Array.isArray(data)) {
			throw new OutcomeUnknown(
				'The response has no list of numbers',
				onScreenOnly(
					`Check 'Base URL' in the credential. According to its documentation, the service returns the list in data. The response has ${outlineOf(body)}.`,
				),
			);
		}
		const isOfAgent = (entry: JsonValue) =>
			!isJsonObject(entry) || isSameId(entry.agent_uuid, this.request.agentUuid);
		if (!data.every(isOfAgent)) {
			throw new OutcomeUnknown(
				'The service returned numbers of another agent than the requested one',
				onScreenOnly(checkName(this.mapping, AGENT_NAME)),
			);
		}
		const { total_pages, total_count } = metaOf(body);
		const pages = numberIn(total_pages);
		const total = this.totals.read(total_count, data.length);
		const end = (page !== undefined && isSized(page) ? startOf(page) : found) + data.length;
		// The service may not support every page size, so these pages don't prove the length of the list.
		const part = { entries: data, total, end: reading.isStaggered ? Infinity : end };
		const isOnlyPage = pages === undefined ? data.length === 0 : pages < 2;
		const isWhole = isOnlyPage || end === total;
		if (isWhole || end >= this.request.limit) return part;
		const firstNumber = page === undefined ? shownPage(body) : this.firstNumber;
		if (firstNumber === undefined || pages === undefined) {
			throw new OutcomeUnknown(
				"The response doesn't show whether the list has more pages",
				onScreenOnly(
					'According to its documentation, the service returns meta with current_page and total_pages. Ask your service provider.',
				),
			);
		}
		this.firstNumber = firstNumber;
		const index = page?.index ?? 0;
		if (index >= pages - 1) return part;
		if (reading.isStaggered) {
			const next = pageAcross(end, reading);
			return { ...part, next, further: pagesAcross(next, total ?? end, reading) };
		}
		const next = { index: index + 1 };
		return { ...part, next, ...(this.isNumberingKnown && { further: pagesAfter(next, pages) }) };
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
