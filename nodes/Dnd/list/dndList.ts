import { listDndNumbers, type Additions } from '../../shared/api/endpoints';
import { OutcomeUnknown } from '../../shared/api/errors';
import { asText } from '../../shared/api/identifiers';
import {
	isJsonObject,
	type JsonObject,
	type JsonValue,
	numberIn,
	outlineOf,
} from '../../shared/json';
import type { Turn } from '../../shared/inTurn';
import type { ApiMapping } from '../../shared/apiMapping';
import { queryOf } from '../../shared/apiMapping/placeValues';
import { readParts, type Part } from '../../shared/api/paging';
import { comparedDigits } from './phoneMatch';
import type { ApiClient } from '../../shared/api/client';

export type DndListRequest = {
	agentUuid: string;
	/** Digits that an entry's number must contain. */
	phone?: string | undefined;
	/** Infinity for every entry. */
	limit: number;
	/** At most 100; the service's own number where it is not set. */
	pageSize?: number | undefined;
	additions?: Additions;
	/** Told how many entries the list has, by each page. */
	onCount?: (count: number) => void;
	inTurn?: Turn;
};

const PAGE_NAME = 'dndListPageName';

/** A page as `meta` numbers it. Which number the first has, 0 or 1, is open: the first answer tells. */
type Page = {
	number: number;
	first: number;
	/** By how much the number that the request takes is smaller than the one that `meta` shows. */
	shift: number;
};

/** With the page as it had to be asked for. */
type AnsweredPage = { body: JsonValue; page: Page | undefined };

/**
 * The entries of an agent's list, page by page as `meta` tells.
 *
 * @throws MissingMapping before anything is sent
 */
export async function readDndList(
	client: ApiClient,
	{ agentUuid, phone, limit, pageSize, additions = {}, onCount, inTurn }: DndListRequest,
	details: ApiMapping,
): Promise<JsonObject[]> {
	const values = [
		{ detail: 'dndListAgentName', value: agentUuid },
		{ detail: 'dndListPhoneName', value: phone },
		{ detail: 'dndListPerPageName', value: pageSize },
	] as const;
	const given = values.flatMap(({ detail, value }) =>
		value === undefined ? [] : [{ detail, value }],
	);
	details.require(given.map(({ detail }) => detail));
	const named = given.map(({ detail, value }) => ({ name: details.required(detail), value }));

	const checkPageName = `${details.advice(PAGE_NAME)} The service seems not to know the parameter.`;
	const ask = async (page: Page | undefined, signal: AbortSignal): Promise<AnsweredPage> => {
		const position =
			page === undefined
				? []
				: [{ name: details.required(PAGE_NAME), value: page.number - page.shift }];
		const { body } = await listDndNumbers(
			client,
			queryOf([...named, ...position]),
			additions,
			signal,
		);
		const count = numberIn(metaOf(body).total_count);
		if (count !== undefined) onCount?.(count);
		const off = page === undefined ? 0 : (shownPage(body) ?? page.number) - page.number;
		if (page === undefined || off === 0) return { body, page };
		// A service may number its pages from 1 and take them from 0.
		if (page.shift === 0 && off > 0) return await ask({ ...page, shift: off }, signal);
		throw new OutcomeUnknown('The service gave another page than it was asked for', checkPageName);
	};
	const entries = await readParts<Page, AnsweredPage>(
		{ ask, read: ({ body, page }, _asked, found) => pagePart(body, page, found, limit) },
		{ limit, inTurn, sameAgain: checkPageName },
	);
	return entries.map((entry) => (isJsonObject(entry) ? entry : { value: entry }));
}

function pagePart(
	body: JsonValue,
	asked: Page | undefined,
	found: number,
	limit: number,
): Part<Page> {
	const data = isJsonObject(body) ? body.data : undefined;
	if (!Array.isArray(data)) {
		throw new OutcomeUnknown(
			'The answer holds no list of numbers',
			`Check Base URL in the credential: the service’s document has the list in data. The answer holds ${outlineOf(body)}.`,
		);
	}
	const { total_pages, total_count } = metaOf(body);
	const pages = numberIn(total_pages);
	const together = found + data.length;
	const isWhole =
		data.length === 0 || (pages !== undefined && pages < 2) || together === numberIn(total_count);
	if (isWhole || together >= limit) return { entries: data };
	const number = asked?.number ?? shownPage(body);
	if (number === undefined || pages === undefined) {
		throw new OutcomeUnknown(
			'The answer does not tell whether the list has more pages',
			'The service’s document promises meta with current_page and total_pages. Ask whoever provides your service.',
		);
	}
	const { first, shift } = asked ?? { first: number, shift: 0 };
	const last = first + pages - 1;
	if (number >= last) return { entries: data };
	const next = { number: number + 1, first, shift };
	// How pages are asked for is sure when one was.
	return { entries: data, next, ...(asked && { further: pagesAfter(next, last) }) };
}

function* pagesAfter(page: Page, last: number): Generator<Page> {
	for (let number = page.number + 1; number <= last; number++) yield { ...page, number };
}

function metaOf(body: JsonValue): JsonObject {
	return isJsonObject(body) && isJsonObject(body.meta) ? body.meta : {};
}

function shownPage(body: JsonValue): number | undefined {
	return numberIn(metaOf(body).current_page);
}

export type DndCheck = {
	listed: boolean;
	/** The entry of this number. */
	entry: JsonObject | null;
	/** Entries that contain the same digits among others. */
	similar: JsonObject[];
};

/** The filter matches parts of numbers, so the entries found are compared digit by digit. */
export function findEntry(phone: string, entries: JsonObject[]): DndCheck {
	const key = comparedDigits(phone);
	const entry =
		entries.find((candidate) => comparedDigits(asText(candidate.phone)) === key) ?? null;
	return {
		listed: entry !== null,
		entry,
		similar: entries.filter((candidate) => candidate !== entry),
	};
}
