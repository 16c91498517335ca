import sumBy from 'lodash/sumBy';
import type { JsonValue } from '../json';

/** A page as received. `sentAt` and `receivedAt` are ticks, see {@link ListProof.tick}. */
export type SeenPage = {
	entries: JsonValue[];
	sentAt: number;
	receivedAt: number;
	/** Number of entries in the list, if the response has it. */
	total: number | undefined;
	/** Number of entries in the list up to the end of this page. */
	end: number;
	isFirst: boolean;
};

/** A page with the indexes of its entries. */
type IndexedPage = Omit<SeenPage, 'entries'> & {
	reading: number;
	indexes: number[];
	/** Whether the reading reached the end of the list with this page. */
	isLast: boolean;
};

/** An entry that was in the list at least from its first response to its last request. */
type KnownEntry = {
	/** As received last. */
	entry: JsonValue;
	firstReceived: number;
	lastSent: number;
	/** Indexes of entries that were seen directly after it. */
	successors: Set<number>;
};

/**
 * Proves that the readings of a list contain every entry that was in it all the time, even if the list changed in
 * between. An entry can go unseen if it moves to a page that was already read, on its own or because an earlier entry
 * is removed.
 *
 * - **Counted**: at one point in time, the list had as many entries as were seen both before and after it. Assumes
 *   that a removed entry doesn't come back.
 * - **Linked**: from the first entry to the last, each was seen directly after another one on a page, so nothing can
 *   be between them. Assumes that entries keep their order.
 *
 * The proof needs both, because each covers the assumption of the other. Links across pages need overlapping pages. If
 * pages can't overlap, the totals must be unchanged instead.
 */
export class ListProof {
	private time = 0;
	private reading = 0;
	private pending: SeenPage[] = [];
	private isEnded = false;
	private readonly pages: IndexedPage[] = [];
	private readonly known: KnownEntry[] = [];
	private readonly indexByKey = new Map<string, number>();

	/** @param keyOf identifies an entry in every reading. If undefined, the whole entry is compared. */
	constructor(private readonly keyOf: (entry: JsonValue) => string | undefined) {}

	/** Numbers each request and response in order. */
	tick(): number {
		return ++this.time;
	}

	/** @param reading its number, from 1 */
	beginReading(reading: number): void {
		this.indexPages();
		this.reading = reading;
		this.isEnded = false;
	}

	/** The current reading reached the end of the list. */
	endReading(): void {
		this.isEnded = true;
	}

	/** Number of entries on the first page. */
	get firstPageLength(): number {
		return this.pages[0]?.indexes.length ?? 0;
	}

	add(page: SeenPage): void {
		this.pending.push(page);
	}

	/** Whether all pages of the current reading have the same total, or none. A quick check, not a proof. */
	get seemsUnchanged(): boolean {
		return new Set(totalsOf(this.pending)).size < 2;
	}

	/** Whether the current reading has fewer entries than the total. */
	get isShort(): boolean {
		const total = Math.max(0, ...new Set(totalsOf(this.pending)));
		return sumBy(this.pending, ({ entries }) => entries.length) < total;
	}

	/**
	 * @param canLink whether pages can overlap
	 * @param needsTotal whether unlinked pages need a total, because it isn't certain that pages can't overlap
	 */
	isProven({ canLink, needsTotal }: { canLink: boolean; needsTotal: boolean }): boolean {
		this.indexPages();
		if (!this.isCounted) return false;
		if (this.isLinked) return true;
		if (canLink) return false;
		const totals = this.recentTotals;
		return totals.size === 1 || (totals.size === 0 && !needsTotal);
	}

	/** Whether the first page of the current reading ends elsewhere than that of the first reading, or has the whole list. */
	get hasOtherPages(): boolean {
		const [first, second] = this.pending;
		return second === undefined || first?.entries.length !== this.firstPageLength;
	}

	/** Whether the current reading has received a page. */
	get hasPages(): boolean {
		return this.pending.length > 0;
	}

	/** All entries that were seen. Those of the last reading come first, in order. */
	entries(): JsonValue[] {
		this.indexPages();
		const last = this.pages.filter(({ reading }) => reading === this.reading);
		const indexes = new Set(last.flatMap((page) => page.indexes));
		for (const index of this.known.keys()) indexes.add(index);
		return [...indexes].map((index) => this.known[index]?.entry ?? null);
	}

	/** Delayed, because most lists are accepted after one reading. */
	private indexPages(): void {
		for (const [position, { entries, ...page }] of this.pending.entries()) {
			const indexes = entries.map((entry) => this.indexOf(entry, page));
			const isLast = this.isEnded && position === this.pending.length - 1;
			this.pages.push({ ...page, reading: this.reading, indexes, isLast });
			for (const [at, index] of indexes.entries()) {
				const next = indexes[at + 1];
				if (next !== undefined) this.known[index]?.successors.add(next);
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
			successors: before?.successors ?? new Set(),
		};
		return index;
	}

	/** For one page, as many entries are known as the list had when the page was sent. */
	private get isCounted(): boolean {
		return this.pages.some((page) => {
			if (!page.isFirst && !page.isLast) return false;
			const count = page.total ?? (page.isLast ? page.end : Infinity);
			return this.countAt(page) >= count;
		});
	}

	/** Number of entries that were certainly in the list when this page was sent. */
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
		const lasts = new Set(this.pages.map((page, at) => this.lastEntryOf(page, at)));
		const reached = new Set(firsts.flatMap(({ indexes }) => indexes.slice(0, 1)));
		for (const index of reached) {
			if (lasts.has(index)) return true;
			for (const follower of this.known[index]?.successors ?? []) reached.add(follower);
		}
		return false;
	}

	/** The last entry of the list according to a page. Undefined if entries could follow on a later page. */
	private lastEntryOf({ isLast, reading, indexes }: IndexedPage, at: number): number | undefined {
		const last = indexes.at(-1);
		if (isLast) return last;
		if (!this.isEmptyFrom(at + 1)) return undefined;
		const first = this.pages.find((page) => page.isFirst && page.reading === reading);
		return indexes.length < (first?.indexes.length ?? 0) ? last : undefined;
	}

	/** Whether all pages from this index on are empty, up to the end of the list. */
	private isEmptyFrom(at: number): boolean {
		for (let page = this.pages[at]; page?.indexes.length === 0; page = this.pages[++at]) {
			if (page.isLast) return true;
		}
		return false;
	}

	/** The totals of the last two readings. */
	private get recentTotals(): Set<number> {
		const recent = this.pages.filter(({ reading }) => reading >= this.reading - 1);
		return new Set(totalsOf(recent));
	}
}

function totalsOf(pages: ReadonlyArray<Pick<SeenPage, 'total'>>): number[] {
	return pages.map(({ total }) => total).filter((total) => total !== undefined);
}
