import isEqual from 'lodash/isEqual';
import times from 'lodash/times';
import pLimit from 'p-limit';
import type { JsonObject } from '../values/json';
import type { Limiter } from '../values/keyedMutex';
import { OutcomeUnknown, unusable } from './errors';
import { READS_AT_ONCE } from './limits';
import type { Explanation } from './explanation';

/** A page of a list. Its position is a number, an offset, a cursor, or a link. */
export type Page<Position> = {
	entries: JsonObject[];
	/**
	 * The positions of the next pages, as far as they're known. Empty at the end of the list. An empty page may have a next
	 * one, because a service may filter its pages. Only called if a next page is needed.
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
	/** @param position undefined for the first page */
	read: (position: Position | undefined) => Promise<Page<Position>>;
	/** Identifies an entry in every reading. If undefined, the whole entry does. */
	keyOf: (entry: JsonObject) => string | undefined;
	/** Limits parallel requests, also across lists. */
	limiter?: Limiter | undefined;
	/**
	 * What a person can do if the pages repeat: check the place of the page in the profile, or for a documented one, "Ask your
	 * service provider why every page is the same."
	 */
	loopAdvice: string;
	/** The error if the list changes in each of three readings, or has fewer entries than its total. */
	keepsChanging: Explanation;
};

/** Readings of a whole list until it counts as changing all the time. */
export const MAX_READINGS = 3;

/** Empty pages in a row that end the list. Some services always return a next page. */
const MAX_EMPTY_PAGES = 10;

/**
 * Reads a list in the order of its pages, up to the limit or the end of the list, and each entry once. A list that ends
 * before the limit is read again if an entry came twice or the total changed, because another entry may have moved to a page
 * that was already read.
 *
 * @param limit Infinity for all entries
 * @throws OutcomeUnknown if the list keeps changing, or the service repeats a page or its position, so that the list would
 * never end, or if it isn't known whether there is a next page
 */
export async function readPages<Position extends string | number>(
	list: PagedList<Position>,
	limit: number,
): Promise<JsonObject[]> {
	for (let reading = 1; reading <= MAX_READINGS; reading++) {
		const { entries, isStable } = await readOnce(list, limit);
		if (isStable || entries.length >= limit) return entries;
	}
	throw new OutcomeUnknown(list.keepsChanging.message, list.keepsChanging.resolution);
}

/**
 * Reads it once. Pages with known positions are requested together, and used in order.
 *
 * @returns `isStable`: false if an entry came twice, the total changed, or entries are missing
 */
export async function readOnce<Position extends string | number>(
	{ read, keyOf, limiter = pLimit(READS_AT_ONCE), loopAdvice }: PagedList<Position>,
	limit: number,
): Promise<{ entries: JsonObject[]; isStable: boolean }> {
	const found = new FoundEntries(keyOf);
	const seen = new Set<Position>();
	let together: Array<Position | undefined> = [undefined];
	let maxTogether = READS_AT_ONCE;
	for (;;) {
		const requests = together.map(
			async (position) => await limiter(async () => await read(position)),
		);
		const results = await Promise.allSettled(requests);
		for (const [at, result] of results.entries()) {
			// A failure counts when the list reaches its page, if it ever does.
			if (result.status === 'rejected') throw result.reason;
			const { value: page } = result;
			const isEmpty = page.entries.length === 0;
			if (!found.add(page)) throw repeatedPage(loopAdvice);
			const count = found.entries.length;
			// The total may be that of a moment ago, or capped. So a named next page is read until one is empty.
			const isAtTotal = count > 0 && count === page.total && (isEmpty || page.saysNext !== true);
			if (count >= limit || isAtTotal || found.emptyPages >= MAX_EMPTY_PAGES)
				return found.upTo(limit);
			const positions = page.next();
			const [next] = positions;
			if (next === undefined || (isEmpty && seen.has(next))) return found.upTo(limit);
			if (seen.has(next)) throw repeatedPage(loopAdvice);
			seen.add(next);
			if (next === together[at + 1]) continue;
			// The pages vary in length. Further guesses would cost up to ten requests per page.
			if (at + 1 < together.length) maxTogether = 1;
			const wanted = Math.ceil((limit - count) / Math.max(1, page.entries.length));
			together = positions.slice(0, Math.min(wanted, maxTogether));
			break;
		}
	}
}

function repeatedPage(advice: string): OutcomeUnknown {
	return unusable('The service returned the same page of the list again', advice);
}

/** The entries of the pages so far, each once. */
class FoundEntries {
	readonly entries: JsonObject[] = [];
	/** How many of the last pages were empty. */
	emptyPages = 0;
	private previous: JsonObject[] = [];
	private readonly known = new Map<string, JsonObject>();
	private hasMoved = false;
	private total = 0;
	private hasOtherTotal = false;

	constructor(private readonly keyOf: PagedList<string>['keyOf']) {}

	/** @returns false if the page is the same as the one before */
	add({ entries, total = 0 }: Pick<Page<unknown>, 'entries' | 'total'>): boolean {
		const isEmpty = entries.length === 0;
		this.emptyPages = isEmpty ? this.emptyPages + 1 : 0;
		if (!isEmpty && isEqual(entries, this.previous)) return false;
		this.previous = entries;
		// Some services count only for the first page, or not at all, and return 0.
		this.hasOtherTotal ||= this.total > 0 && total > 0 && total !== this.total;
		this.total = Math.max(this.total, total);
		for (const entry of entries) this.addEntry(entry);
		return true;
	}

	private addEntry(entry: JsonObject): void {
		const key = this.keyOf(entry);
		// It moved to this page while the list was read.
		const isKnown = key !== undefined && isEqual(this.known.get(key), entry);
		this.hasMoved ||= isKnown;
		if (!isKnown) this.entries.push(entry);
		if (key !== undefined) this.known.set(key, entry);
	}

	upTo(limit: number) {
		const { entries, hasMoved, hasOtherTotal, total } = this;
		const isStable = !hasMoved && !hasOtherTotal && entries.length >= Math.min(limit, total);
		return { entries: entries.slice(0, limit), isStable };
	}
}

/** The positions of the next pages, no more than are requested together, because a service may claim any number of pages. */
export function positionsFrom(next: number, pages: number, step = 1): number[] {
	return times(Math.min(pages, READS_AT_ONCE), (page) => next + page * step);
}
