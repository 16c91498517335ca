import isEqual from 'lodash/isEqual';
import pLimit from 'p-limit';
import { OutcomeUnknown, type ExplainedError } from './errors';
import { onScreenOnly } from './resolution';
import { DONE } from '../clock';
import type { Limiter } from '../keyedMutex';
import { numberIn, type JsonValue } from '../json';
import { READS_AT_ONCE } from './limits';

/** A page of a list. */
export type Page<Position> = {
	entries: JsonValue[];
	/** The position of the next page. Undefined at the end of the list. An empty page may have one, because a service may filter its pages. */
	next?: Position;
	/** The positions of the pages after it, if they're already known. They're prefetched. */
	further?: Iterable<Position>;
	/** Number of entries in the list, if the response has it. */
	total?: number | undefined;
};

/** How to read the pages of a list. */
export type PageReader<Position, PageResponse> = {
	/**
	 * @param position undefined for the first page
	 * @param signal aborted when the response is no longer needed
	 */
	fetch: (position: Position | undefined, signal: AbortSignal) => Promise<PageResponse>;
	/** @param found number of entries before this page */
	parse: (response: PageResponse, position: Position | undefined, found: number) => Page<Position>;
	/** Identifies an entry in every reading. By default, the whole entry does. */
	keyOf?: (entry: JsonValue) => string | undefined;
};

export type PageOptions = {
	/** Infinity for all entries. */
	limit: number;
	/** Limits parallel requests, also across lists. */
	limiter?: Limiter | undefined;
	/** What a person can do if the pages repeat. */
	loopAdvice: string;
};

/** One reading of a list. */
export type Reading = {
	entries: JsonValue[];
	/** False if its total changed, or is larger than the number of entries. Always true if a limit is set. */
	isComplete: boolean;
	pages: number;
	/** The keys of its entries. */
	keys: Set<string>;
};

/** The service repeated a page or its position, so the list would never end. */
export class RepeatedPage extends OutcomeUnknown {
	constructor(resolution: string) {
		super('The service returned the same page of the list again', onScreenOnly(resolution));
	}
}

/** Empty pages in a row that end the list. Some services always return a next page. */
const MAX_EMPTY_PAGES = 10;

/**
 * Reads a list once, page by page, up to the limit or the end of the list. Pages with known positions are requested ahead,
 * and used in order.
 *
 * @throws RepeatedPage if the service repeats a page or its position
 */
export async function readPages<Position, PageResponse>(
	{ fetch, parse, keyOf = () => undefined }: PageReader<Position, PageResponse>,
	{ limit, limiter = pLimit(READS_AT_ONCE), loopAdvice }: PageOptions,
): Promise<Reading> {
	const found: JsonValue[] = [];
	const keys = new Set<string>();
	const totals = new Set<number>();
	const seenPositions = new Set<string>();
	const end = new AbortController();
	/** The next page, and those that are requested ahead. */
	let requested = new Map<string, Promise<PageResponse>>();
	const request = async (at: Position | undefined): Promise<PageResponse> => {
		const key = JSON.stringify(at);
		const read = async () => {
			end.signal.throwIfAborted();
			return await fetch(at, end.signal);
		};
		const response = requested.get(key) ?? limiter(read);
		requested.set(key, response);
		return await response;
	};

	let canReadAhead = true;
	let position: Position | undefined;
	let previous: JsonValue[] | undefined;
	let emptyPages = 0;
	let pages = 0;
	try {
		for (;;) {
			const response = await request(position);
			requested.delete(JSON.stringify(position));
			pages++;
			const { entries, next, total, further = [] } = parse(response, position, found.length);
			if (entries.length > 0 && isEqual(entries, previous)) throw new RepeatedPage(loopAdvice);
			if (total !== undefined) totals.add(total);
			for (const entry of entries) {
				found.push(entry);
				if (limit === Infinity) keys.add(keyOf(entry) ?? JSON.stringify(entry));
			}
			emptyPages = entries.length === 0 ? emptyPages + 1 : 0;
			if (next === undefined || emptyPages >= MAX_EMPTY_PAGES || found.length >= limit) break;
			const key = JSON.stringify(next);
			if (seenPositions.has(key) && emptyPages > 0) break;
			if (seenPositions.has(key)) throw new RepeatedPage(loopAdvice);
			seenPositions.add(key);
			if (requested.size > 0 && !requested.has(key)) {
				// The pages vary in length. Further guesses would cost up to ten requests per page.
				canReadAhead = false;
				requested = new Map();
			}
			const wanted = Math.ceil((limit - found.length) / Math.max(1, entries.length));
			for (const ahead of canReadAhead ? chain(next, further) : []) {
				if (requested.size >= Math.min(wanted, READS_AT_ONCE)) break;
				// A failure counts when the list reaches this page, if it ever does.
				request(ahead).catch(() => undefined);
			}
			position = next;
			previous = entries;
		}
	} finally {
		end.abort(DONE);
	}
	const hasAll = totals.size < 2 && found.length >= Math.max(0, ...totals);
	return {
		entries: found.slice(0, limit),
		isComplete: limit !== Infinity || hasAll,
		pages,
		keys,
	};
}

function* chain<T>(first: T, others: Iterable<T>): Generator<T> {
	yield first;
	yield* others;
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
export async function readWholeList<Position, PageResponse>(
	list: PageReader<Position, PageResponse>,
	options: Omit<PageOptions, 'limit'>,
	keepsChanging: () => ExplainedError,
): Promise<JsonValue[]> {
	let before = new Set<string>();
	for (let reading = 1; reading <= MAX_READINGS; reading++) {
		const { entries, isComplete, pages, keys } = await readPages(list, {
			...options,
			limit: Infinity,
		});
		const isSame = keys.size === before.size && [...keys].every((key) => before.has(key));
		if (isComplete && (isSame || pages === 1)) return entries;
		before = keys;
	}
	throw keepsChanging();
}

/**
 * The totals in the pages of a list. If a total is smaller than the number of entries on its page, such as 0 or -1,
 * the service doesn't count them. All later totals are then ignored, because an empty page would match a total of 0.
 */
export class Totals {
	private areUsable = true;

	/**
	 * @param entries number of entries on the page
	 * @returns the total, or undefined if there is no usable one
	 */
	read(value: JsonValue | undefined, entries: number): number | undefined {
		const total = numberIn(value);
		if (total === undefined) return undefined;
		this.areUsable &&= total >= entries;
		return this.areUsable ? total : undefined;
	}
}
