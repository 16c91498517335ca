import isEqual from 'lodash/isEqual';
import times from 'lodash/times';
import pLimit from 'p-limit';
import { DONE } from '../clock';
import type { JsonObject } from '../json';
import type { Limiter } from '../keyedMutex';
import { forEachWithPauses } from '../pauses';
import { isAboutRequest, OutcomeUnknown } from './errors';
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
	const requests = new PageRequests(read, limiter);
	const found = new FoundEntries(keyOf);
	const seen = new Set<Position>();
	let position: Position | undefined;
	let isAtTotal = false;
	try {
		for (;;) {
			const page = await requests.read(position).catch((error: unknown) => {
				if (isAtTotal && isAboutRequest(error)) return undefined;
				throw error;
			});
			// The total was right, and the service rejects a page after the last one.
			if (page === undefined) break;
			const { entries, total, saysNext = false } = page;
			found.add(page);
			// If all pages are equal, the service ignores their numbers. Some return the last page for each later one.
			if (found.repeats > 0 && (saysNext || found.pages <= 2)) throw repeatedPage(loopAdvice);
			if (found.repeats >= MAX_REPEATS || found.emptyPages >= MAX_EMPTY_PAGES) break;
			const count = found.entries.length;
			isAtTotal = count > 0 && count === total;
			const isEmpty = entries.length === 0;
			// The total may be that of a moment ago, or capped. So a named next page is read until one is empty.
			if (count >= limit || (isAtTotal && (isEmpty || !saysNext))) break;
			const next = page.next();
			[position] = next;
			if (position === undefined) break;
			if (seen.has(position)) {
				if (isEmpty || isAtTotal) break;
				throw repeatedPage(loopAdvice);
			}
			seen.add(position);
			requests.readAhead(next, Math.ceil((limit - count) / Math.max(1, entries.length)));
		}
	} finally {
		requests.stop();
	}
	return found.upTo(limit);
}

function repeatedPage(advice: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The service returned the same page of the list again',
		onScreenOnly(advice),
	);
}

/** Requests pages, some of them before they're needed. */
class PageRequests<Position extends string | number> {
	/** The next page, and those that are requested ahead. */
	private readonly requested = new Map<Position | undefined, Promise<Page<Position>>>();
	private readonly end = new AbortController();
	private canReadAhead = true;

	constructor(
		private readonly readPage: PagedList<Position>['read'],
		private readonly limiter: Limiter,
	) {}

	async read(position: Position | undefined): Promise<Page<Position>> {
		const page = await this.request(position);
		this.requested.delete(position);
		return page;
	}

	/** @param wanted how many pages are probably needed */
	readAhead(positions: readonly Position[], wanted: number): void {
		const [next] = positions;
		if (this.requested.size > 0 && !this.requested.has(next)) {
			// The pages vary in length. Further guesses would cost up to ten requests per page.
			this.canReadAhead = false;
			this.requested.clear();
		}
		for (const position of this.canReadAhead ? positions : positions.slice(0, 1)) {
			if (this.requested.size >= Math.min(wanted, READS_AT_ONCE)) break;
			// A failure counts when the list reaches this page, if it ever does.
			this.request(position).catch(() => undefined);
		}
	}

	/** Cancels the pages that aren't needed. */
	stop(): void {
		this.end.abort(DONE);
	}

	private async request(position: Position | undefined): Promise<Page<Position>> {
		const { signal } = this.end;
		const page =
			this.requested.get(position) ??
			this.limiter(async () => {
				signal.throwIfAborted();
				return await this.readPage(position, signal);
			});
		this.requested.set(position, page);
		return await page;
	}
}

/** The entries of the pages so far, each once. */
class FoundEntries {
	readonly entries: JsonObject[] = [];
	pages = 0;
	/** How many of the last pages were empty. */
	emptyPages = 0;
	/** How often the last page was repeated. */
	repeats = 0;
	private previous: JsonObject[] = [];
	/** By key, with the page on which it was last seen. */
	private readonly known = new Map<string, { entry: JsonObject; page: number }>();
	private hasMoved = false;
	private readonly totals = new Set<number>();

	constructor(private readonly keyOf: PagedList<string>['keyOf']) {}

	add({ entries, total }: Pick<Page<unknown>, 'entries' | 'total'>): void {
		this.pages++;
		const isEmpty = entries.length === 0;
		this.emptyPages = isEmpty ? this.emptyPages + 1 : 0;
		this.repeats = !isEmpty && isEqual(entries, this.previous) ? this.repeats + 1 : 0;
		this.previous = entries;
		if (this.repeats === 0) for (const entry of entries) this.addEntry(entry);
		// Some services count only for the first page, or not at all, and return 0.
		if (total !== undefined && total >= this.entries.length) this.totals.add(total);
	}

	private addEntry(entry: JsonObject): void {
		const key = this.keyOf(entry);
		const earlier = key === undefined ? undefined : this.known.get(key);
		// It moved to this page while the list was read.
		const isMoved =
			earlier !== undefined && earlier.page < this.pages && isEqual(earlier.entry, entry);
		this.hasMoved ||= isMoved;
		if (!isMoved) this.entries.push(entry);
		if (key !== undefined) this.known.set(key, { entry, page: this.pages });
	}

	upTo(limit: number): Reading {
		const { entries, pages, hasMoved, totals } = this;
		const hasAll = totals.size < 2 && entries.length >= Math.max(0, ...totals);
		return {
			entries: entries.slice(0, limit),
			isComplete: !hasMoved && (hasAll || limit !== Infinity),
			pages,
		};
	}
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
