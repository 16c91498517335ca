import chunk from 'lodash/chunk';

/** Row indexes as pairs of first and last: `[0, 9, 12, 12]` is 0 to 9 and 12. */
export type RowRanges = number[];

/** Rows in ascending order, stored as ranges. A million consecutive rows take as much memory as one. */
export class RowSet implements Iterable<number> {
	/** The first and the last row of each range. */
	private readonly firsts: number[] = [];
	private readonly lasts: number[] = [];
	/** The number of rows. */
	size = 0;

	/** @param rows in ascending order */
	static of(rows: Iterable<number>): RowSet {
		const set = new RowSet();
		for (const row of rows) set.addRange(row, row);
		return set;
	}

	/** @param ranges in any order. They may overlap. */
	static ofRanges(ranges: RowRanges): RowSet {
		const set = new RowSet();
		const pairs = chunk(ranges, 2).sort(([one = 0], [other = 0]) => one - other);
		for (const [first = 0, last = 0] of pairs) set.addRange(Math.max(first, set.last + 1), last);
		return set;
	}

	/** Adds rows after all others. Has no effect if `last` is before `first`. */
	addRange(first: number, last: number): void {
		if (last < first) return;
		if (this.firsts.length > 0 && first === this.last + 1) {
			this.lasts[this.lasts.length - 1] = last;
		} else {
			this.firsts.push(first);
			this.lasts.push(last);
		}
		this.size += last - first + 1;
	}

	/** The rows in order, in lists of this size. The last one may be shorter. */
	*lists(size: number): Generator<number[]> {
		let list: number[] = [];
		for (const [first, last] of this.ranges()) {
			for (let row = first; row <= last; row++) {
				if (list.push(row) < size) continue;
				yield list;
				list = [];
			}
		}
		if (list.length > 0) yield list;
	}

	/** The first and the last row of each range. */
	*ranges(): Generator<[first: number, last: number]> {
		for (const [range, first] of this.firsts.entries()) yield [first, this.lasts[range] ?? first];
	}

	/** As plain JSON. `ofRanges` restores the set. */
	toRanges(): RowRanges {
		return [...this.ranges()].flat();
	}

	*[Symbol.iterator](): Generator<number> {
		for (const [first, last] of this.ranges()) {
			for (let row = first; row <= last; row++) yield row;
		}
	}

	/** The last row, or -1. */
	private get last(): number {
		return this.lasts.at(-1) ?? -1;
	}
}
