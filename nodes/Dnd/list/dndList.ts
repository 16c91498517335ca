import { listDndNumbers, type Additions } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isSameId } from '../../shared/api/envelope';
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
import {
	MAX_READINGS,
	readPages,
	readWholeList,
	Totals,
	type Page,
	type PageReader,
} from '../../shared/api/paging';
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
	const { entries, isComplete } = await readPages(new DndPages(client, request, mapping), {
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
	const entries = await readWholeList(
		new DndPages(client, { ...request, limit: Infinity }, mapping),
		{ limiter, loopAdvice: checkName(mapping, PAGE_NAME) },
		() =>
			new OutcomeUnknown(
				`Numbers may be missing, because the do-not-disturb list changed in each of ${MAX_READINGS} readings, or has fewer numbers than the service counts`,
				{
					onScreen:
						'Execute the node again when fewer numbers are added and removed. No number was treated as not listed.',
					forModel: 'Try again later. No number was treated as not listed.',
				},
			),
	);
	return entries.map(asRecord);
}

function checkName(mapping: ApiMapping, name: typeof PAGE_NAME | typeof AGENT_NAME): string {
	return `${mapping.resolution(name)} The service probably doesn't know this parameter.`;
}

/** A number that is removed and added again is a new entry. */
function keyOf(entry: JsonValue): string | undefined {
	if (!isJsonObject(entry) || entry.id === undefined) return undefined;
	return JSON.stringify([entry.id, entry.phone, entry.created_at]);
}

/**
 * The pages of an agent's list, by their index from 0. The document doesn't say whether pages count from 0 or 1, so the
 * first response decides.
 */
class DndPages implements PageReader<number, JsonValue> {
	private firstNumber = 0;
	/** The difference between the page number in `meta` and in the request. */
	private shift = 0;
	/** Whether a later page had the expected number. */
	private isNumberingKnown = false;
	private readonly totals = new Totals();
	readonly keyOf = keyOf;

	constructor(
		private readonly client: ApiClient,
		private readonly request: Omit<DndListRequest, 'limiter'>,
		private readonly mapping: ApiMapping,
	) {
		mapping.require(this.values.map(({ detail }) => detail));
	}

	readonly fetch = async (index: number | undefined, signal: AbortSignal): Promise<JsonValue> => {
		const values = this.values.map(({ detail, value }) => ({
			name: this.mapping.required(detail),
			value,
		}));
		const number = this.firstNumber + (index ?? 0);
		const position =
			index === undefined
				? []
				: [{ name: this.mapping.required(PAGE_NAME), value: number - this.shift }];
		const query = queryOf([...values, ...position]);
		const { body } = await listDndNumbers(this.client, query, this.request.additions, signal);
		if (index === undefined) return body;
		const off = (shownPage(body) ?? number) - number;
		if (off > 0 && this.shift === 0 && !this.isNumberingKnown) {
			// The service may count from 1 in `meta`, but from 0 in the request.
			this.shift = off;
			return await this.fetch(index, signal);
		}
		if (off !== 0) {
			throw new OutcomeUnknown(
				'The service returned another page than requested',
				onScreenOnly(checkName(this.mapping, PAGE_NAME)),
			);
		}
		this.isNumberingKnown = true;
		return body;
	};

	readonly parse = (body: JsonValue, index: number | undefined, found: number): Page<number> => {
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
		const end = found + data.length;
		const page = { entries: data, total };
		const isOnlyPage = pages === undefined ? data.length === 0 : pages < 2;
		if (isOnlyPage || end === total || end >= this.request.limit) return page;
		const firstNumber = index === undefined ? shownPage(body) : this.firstNumber;
		if (firstNumber === undefined || pages === undefined) {
			throw new OutcomeUnknown(
				"The response doesn't show whether the list has more pages",
				onScreenOnly(
					'According to its documentation, the service returns meta with current_page and total_pages. Ask your service provider.',
				),
			);
		}
		this.firstNumber = firstNumber;
		const next = (index ?? 0) + 1;
		if (next >= pages) return page;
		return {
			...page,
			next,
			...(this.isNumberingKnown && { further: indexesFrom(next + 1, pages) }),
		};
	};

	private get values() {
		const { agentUuid, phone, pageSize } = this.request;
		const values = [
			{ detail: AGENT_NAME, value: agentUuid },
			{ detail: 'dndListPhoneName', value: phone },
			{ detail: 'dndListPerPageName', value: pageSize },
		] as const;
		return values.flatMap(({ detail, value }) => (value === undefined ? [] : [{ detail, value }]));
	}
}

/** One by one, because the service may claim any number of pages. */
function* indexesFrom(first: number, end: number): Generator<number> {
	for (let index = first; index < end; index++) yield index;
}

function metaOf(body: JsonValue): JsonObject {
	return isJsonObject(body) && isJsonObject(body.meta) ? body.meta : {};
}

function shownPage(body: JsonValue): number | undefined {
	return numberIn(metaOf(body).current_page);
}
