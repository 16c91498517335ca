import sumBy from 'lodash/sumBy';
import type { JsonValue } from '../json';

/** A page as the service gave it. Moments are counted by {@link ListProof.tick}. */
export type SeenPage = {
	entries: JsonValue[];
	sentAt: number;
	receivedAt: number;
	/** How many entries the list has, if the response says so. */
	total: number | undefined;
	/** How many entries the list has up to the end of this page. */
	end: number;
	isFirst: boolean;
};

/** With its entries as indexes. */
type IndexedPage = Omit<SeenPage, 'entries'> & {
	reading: number;
	indexes: number[];
	/** Whether the reading came to the end of the list with it. */
	isLast: boolean;
};

/** What is known of an entry: it was in the list from the moment at which it was received first to that at which it was asked for last. */
type KnownEntry = {
	/** As it was given last. */
	entry: JsonValue;
	firstReceived: number;
	lastSent: number;
	/** Entries that were seen directly after it, by index. */
	followers: Set<number>;
};

/**
 * Proves that no entry is missing that was in the list all the time, however the list changed while its pages were
 * read. Two things can hide an entry: it moves to a page that was read already because an earlier one leaves, or it
 * moves there itself.
 *
 * - **Counted**: of one moment it is known which entries the list had. As many as the service counted were seen both
 *   before and after it. This takes for granted that an entry that left doesn't come back as the same entry.
 * - **Linked**: from the first entry to the last one, each was seen directly after another on one page, so nothing can
 *   be between them. This takes for granted that entries keep their order, and nothing else.
 *
 * Both are asked for, and each covers what the other takes for granted. Links over the ends of pages need pages that
 * overlap. If there is no way to ask for them, the totals must have stayed the same instead.
 */
export class ListProof {
	private time = 0;
	private reading = 0;
	private pending: SeenPage[] = [];
	private isEnded = false;
	private readonly pages: IndexedPage[] = [];
	private readonly known: KnownEntry[] = [];
	private readonly indexByKey = new Map<string, number>();

	/** @param keyOf the same for an entry in every reading, and for no other entry; where there is none, the whole entry is compared */
	constructor(private readonly keyOf: (entry: JsonValue) => string | undefined) {}

	/** Each moment at which a request leaves or a response arrives has a number of its own. */
	tick(): number {
		return ++this.time;
	}

	/** @param reading from 1 */
	begin(reading: number): void {
		this.indexPages();
		this.reading = reading;
		this.isEnded = false;
	}

	/** The reading under way came to the end of the list. */
	end(): void {
		this.isEnded = true;
	}

	/** How many entries the first page had. */
	get firstPageLength(): number {
		return this.pages[0]?.indexes.length ?? 0;
	}

	add(page: SeenPage): void {
		this.pending.push(page);
	}

	/** Whether the reading under way shows one total on all its pages, or none: a quick look, and no proof. */
	get seemsUnchanged(): boolean {
		return new Set(totalsOf(this.pending)).size < 2;
	}

	/** Whether the reading under way has fewer entries than the service counts. */
	get isShort(): boolean {
		const total = Math.max(0, ...new Set(totalsOf(this.pending)));
		return sumBy(this.pending, ({ entries }) => entries.length) < total;
	}

	/**
	 * @param canLink whether pages can overlap
	 * @param needsTotal whether a list without totals can't do without links: it may only seem that pages can't overlap
	 */
	holds({ canLink, needsTotal }: { canLink: boolean; needsTotal: boolean }): boolean {
		this.indexPages();
		if (!this.isCounted) return false;
		if (this.isLinked) return true;
		if (canLink) return false;
		const totals = this.recentTotals;
		return totals.size === 1 || (totals.size === 0 && !needsTotal);
	}

	/** Whether the first page of the reading under way ends elsewhere than that of the first reading, or has the whole list. */
	get hasOtherPages(): boolean {
		const [first, second] = this.pending;
		return second === undefined || first?.entries.length !== this.firstPageLength;
	}

	/** Whether the reading under way was given a page. */
	get isBegun(): boolean {
		return this.pending.length > 0;
	}

	/** Everything that was seen: first what the last reading gave, in its order. */
	entries(): JsonValue[] {
		this.indexPages();
		const last = this.pages.filter(({ reading }) => reading === this.reading);
		const indexes = new Set(last.flatMap((page) => page.indexes));
		for (const index of this.known.keys()) indexes.add(index);
		return [...indexes].map((index) => this.known[index]?.entry ?? null);
	}

	/** Not done at once, as most lists are accepted after one reading. */
	private indexPages(): void {
		for (const [place, { entries, ...page }] of this.pending.entries()) {
			const indexes = entries.map((entry) => this.indexOf(entry, page));
			const isLast = this.isEnded && place === this.pending.length - 1;
			this.pages.push({ ...page, reading: this.reading, indexes, isLast });
			for (const [at, index] of indexes.entries()) {
				const next = indexes[at + 1];
				if (next !== undefined) this.known[index]?.followers.add(next);
			}
		}
		this.pending = [];
	}

	private indexOf(entry: JsonValue, { sentAt, receivedAt }: Omit<SeenPage, 'entries'>): number {
		const key = this.keyOf(entry) ?? JSON.stringify(entry);
		const index = this.indexByKey.get(key) ?? this.known.length;
		const before = this.known[index];
		this.indexByKey.set(key, index);
		this.known[index] = {
			entry,
			firstReceived: Math.min(before?.firstReceived ?? Infinity, receivedAt),
			lastSent: Math.max(before?.lastSent ?? -Infinity, sentAt),
			followers: before?.followers ?? new Set(),
		};
		return index;
	}

	/** Of one page it is known how many entries the list had when it was given, and as many are known. */
	private get isCounted(): boolean {
		return this.pages.some((page) => {
			if (!page.isFirst && !page.isLast) return false;
			const count = page.total ?? (page.isLast ? page.end : Infinity);
			return this.countAt(page) >= count;
		});
	}

	/** How many entries are known to have been in the list when it gave this page. */
	private countAt({ indexes, sentAt, receivedAt }: IndexedPage): number {
		const onPage = new Set(indexes);
		const around = this.known.filter(
			({ firstReceived, lastSent }, index) =>
				firstReceived < sentAt && lastSent > receivedAt && !onPage.has(index),
		);
		return onPage.size + around.length;
	}

	private get isLinked(): boolean {
		const firsts = this.pages.filter(({ isFirst }) => isFirst);
		if (firsts.some(({ isLast, indexes }) => isLast && indexes.length === 0)) return true;
		const lasts = new Set(this.pages.map((page, at) => this.lastShownBy(page, at)));
		const reached = new Set(firsts.flatMap(({ indexes }) => indexes.slice(0, 1)));
		for (const index of reached) {
			if (lasts.has(index)) return true;
			for (const follower of this.known[index]?.followers ?? []) reached.add(follower);
		}
		return false;
	}

	/** The entry that a page shows to have been the last one: no other follows it on the page, and none could on a later one. */
	private lastShownBy({ isLast, reading, indexes }: IndexedPage, at: number): number | undefined {
		const last = indexes.at(-1);
		if (isLast) return last;
		if (!this.isEndedBy(at + 1)) return undefined;
		const first = this.pages.find((page) => page.isFirst && page.reading === reading);
		return indexes.length < (first?.indexes.length ?? 0) ? last : undefined;
	}

	/** Whether nothing comes from that page on. */
	private isEndedBy(at: number): boolean {
		for (let page = this.pages[at]; page?.indexes.length === 0; page = this.pages[++at]) {
			if (page.isLast) return true;
		}
		return false;
	}

	/** What the last two readings were told. */
	private get recentTotals(): Set<number> {
		const recent = this.pages.filter(({ reading }) => reading >= this.reading - 1);
		return new Set(totalsOf(recent));
	}
}

function totalsOf(pages: ReadonlyArray<Pick<SeenPage, 'total'>>): number[] {
	return pages.map(({ total }) => total).filter((total) => total !== undefined);
}
