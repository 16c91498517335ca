import isEqual from 'lodash/isEqual';
import times from 'lodash/times';
import pLimit from 'p-limit';
import { DONE } from '../clock';
import type { JsonObject } from '../json';
import type { Limiter } from '../keyedMutex';
import { forEachWithPauses } from '../pauses';
import { OutcomeUnknown, ServiceRejection } from './errors';
import { READS_AT_ONCE } from './limits';
import { onScreenOnly, type Explanation } from './resolution';

/** A page of a list. Its position is a number, an offset, a cursor, or a link. */
export type Page<Position> = {
	entries: JsonObject[];
	/**
	 * The positions of the next pages, as far as they're known. All but the first are read ahead. Empty at the end of the
	 * list. An empty page may have a next one, because a service may filter its pages. Only called if a next page is needed.
	 *
	 * @throws OutcomeUnknown if it isn't known whether there is one
	 */
	next: () => Position[];
	/** Number of entries in the list, if the response has it. */
	total?: number | undefined;
	/** Whether the response says if there is a next page. Otherwise, its total ends the list. */
	saysNext?: boolean;
};

/** A list that the service returns in pages. */
export type PagedList<Position extends string | number> = {
	/**
	 * @param position undefined for the first page
	 * @param signal aborted when the page isn't needed anymore
	 */
	read: (position: Position | undefined, signal: AbortSignal) => Promise<Page<Position>>;
	/** Identifies an entry in every reading. If undefined, the whole entry does. */
	keyOf: (entry: JsonObject) => string | undefined;
	/** Limits parallel requests, also across lists. */
	limiter?: Limiter | undefined;
	/** What a person can do if the pages repeat. */
	loopAdvice: string;
};

/** One reading of a list. */
export type Reading = {
	entries: JsonObject[];
	/** False if an entry moved, or the total changed or is larger than the number of entries. */
	isComplete: boolean;
	pages: number;
};

/** Repeats of a page that end the list. After one, as many entries may have been added as a page has. */
const MAX_REPEATS = 2;

/** Empty pages in a row that end the list. Some services always return a next page. */
const MAX_EMPTY_PAGES = 10;

/**
 * Reads a list once, page by page, up to the limit or the end of the list, and each entry once. Pages with known
 * positions are requested ahead, and used in order.
 *
 * @param limit Infinity for all entries
 * @throws OutcomeUnknown if the service repeats a page or its position, so that the list would never end, or if it isn't
 * known whether there is a next page
 */
export async function readPages<Position extends string | number>(
	{ read, keyOf, limiter = pLimit(READS_AT_ONCE), loopAdvice }: PagedList<Position>,
	limit: number,
): Promise<Reading> {
	const found: JsonObject[] = [];
	/** By key, with the page on which it was last seen. */
	const known = new Map<string, { entry: JsonObject; page: number }>();
	let hasMoved = false;
	const totals = new Set<number>();
	const seenPositions = new Set<Position>();
	const end = new AbortController();
	/** The next page, and those that are requested ahead. */
	const requested = new Map<Position | undefined, Promise<Page<Position>>>();
	const request = async (at: Position | undefined): Promise<Page<Position>> => {
		const reading = async () => {
			end.signal.throwIfAborted();
			return await read(at, end.signal);
		};
		const page = requested.get(at) ?? limiter(reading);
		requested.set(at, page);
		return await page;
	};
	const repeatedPage = () =>
		new OutcomeUnknown(
			'The service returned the same page of the list again',
			onScreenOnly(loopAdvice),
		);

	let canReadAhead = true;
	let position: Position | undefined;
	let previous: JsonObject[] = [];
	let emptyPages = 0;
	let repeats = 0;
	let isAtTotal = false;
	let pages = 0;
	try {
		for (;;) {
			const page = await request(position).catch((error: unknown) => {
				// A page after the last one.
				if (isAtTotal && error instanceof ServiceRejection) return undefined;
				throw error;
			});
			if (page === undefined) break;
			const { entries, total, saysNext = false } = page;
			requested.delete(position);
			pages++;
			const isEmpty = entries.length === 0;
			const isRepeated = !isEmpty && isEqual(entries, previous);
			// If all pages are equal, the service ignores their numbers. Some return the last page for each later one.
			if (isRepeated && (saysNext || pages <= 2)) throw repeatedPage();
			repeats = isRepeated ? repeats + 1 : 0;
			if (repeats >= MAX_REPEATS) break;
			for (const entry of isRepeated ? [] : entries) {
				const key = keyOf(entry);
				const earlier = key === undefined ? undefined : known.get(key);
				// It moved to this page while the list was read.
				const isMoved =
					earlier !== undefined && earlier.page < pages && isEqual(earlier.entry, entry);
				hasMoved ||= isMoved;
				if (!isMoved) found.push(entry);
				if (key !== undefined) known.set(key, { entry, page: pages });
			}
			// Some services count only for the first page, or not at all, and return 0.
			if (total !== undefined && total >= found.length) totals.add(total);
			emptyPages = isEmpty ? emptyPages + 1 : 0;
			isAtTotal = found.length > 0 && found.length === total;
			// The total may be that of a moment ago, or capped. So a named next page is read until one is empty.
			const hasTotal = isAtTotal && (isEmpty || !saysNext);
			if (found.length >= limit || hasTotal || emptyPages >= MAX_EMPTY_PAGES) break;
			const next = page.next();
			[position] = next;
			if (position === undefined) break;
			if ((isEmpty || isAtTotal) && seenPositions.has(position)) break;
			if (seenPositions.has(position)) throw repeatedPage();
			seenPositions.add(position);
			if (requested.size > 0 && !requested.has(position)) {
				// The pages vary in length. Further guesses would cost up to ten requests per page.
				canReadAhead = false;
				requested.clear();
			}
			const wanted = Math.ceil((limit - found.length) / Math.max(1, entries.length));
			for (const ahead of canReadAhead ? next : [position]) {
				if (requested.size >= Math.min(wanted, READS_AT_ONCE)) break;
				// A failure counts when the list reaches this page, if it ever does.
				request(ahead).catch(() => undefined);
			}
			previous = entries;
		}
	} finally {
		end.abort(DONE);
	}
	const hasAll = !hasMoved && totals.size < 2 && found.length >= Math.max(0, ...totals);
	return {
		entries: found.slice(0, limit),
		isComplete: hasAll || (limit !== Infinity && !hasMoved),
		pages,
	};
}

/** The positions of the next pages, no more than are requested ahead, because a service may claim any number of pages. */
export function positionsFrom(next: number, pages: number, step = 1): number[] {
	return times(Math.min(pages, READS_AT_ONCE), (page) => next + page * step);
}

/** Readings of a whole list until it counts as changing all the time. */
export const MAX_READINGS = 3;

/**
 * Reads a whole list for a decision that depends on missing entries, until two readings in a row have the same entries.
 * In one reading, an entry goes unseen if it moves to a page that was already read. A list of one page can't change
 * between its pages, so it's read once.
 *
 * @param keepsChanging the error if no two of three readings agree, or the list has fewer entries than its total
 */
export async function readWholeList<Position extends string | number>(
	list: PagedList<Position>,
	keepsChanging: Explanation,
): Promise<Reading> {
	let before = new Set<string>();
	for (let reading = 1; reading <= MAX_READINGS; reading++) {
		const read = await readPages(list, Infinity);
		const { entries, isComplete, pages } = read;
		if (isComplete && pages === 1) return read;
		const keys = new Set<string>();
		await forEachWithPauses(entries, (entry) =>
			keys.add(list.keyOf(entry) ?? JSON.stringify(entry)),
		);
		const isSame = keys.size === before.size && [...keys].every((key) => before.has(key));
		if (isComplete && isSame) return read;
		before = keys;
	}
	throw new OutcomeUnknown(keepsChanging.message, keepsChanging.resolution);
}
