/** Rows by their place in the feed, as first and last of each run: `[0, 9, 12, 12]` is 0 to 9 and 12. */
export type RowRanges = number[];

export function rangesOf(rows: Iterable<number>): RowRanges {
	const ranges: RowRanges = [];
	let last: number | undefined;
	for (const row of rows) {
		if (last !== undefined && row === last + 1) ranges[ranges.length - 1] = row;
		else ranges.push(row, row);
		last = row;
	}
	return ranges;
}

export function rowsIn(ranges: RowRanges): number[] {
	const rows: number[] = [];
	for (const [first, last] of pairsOf(ranges)) {
		for (let row = first; row <= last; row++) rows.push(row);
	}
	return rows;
}

const SHOWN_RANGES = 100;

/** "items 0 to 9999, 10004": n8n numbers items from 0. */
export function describeRows(rows: readonly number[]): string {
	const pairs = pairsOf(rangesOf([...rows].sort((one, other) => one - other)));
	const shown = pairs
		.slice(0, SHOWN_RANGES)
		.map(([first, last]) => (first === last ? String(first) : `${first} to ${last}`));
	const left = pairs.slice(SHOWN_RANGES);
	const more = left.length === 0 ? '' : `, and further ones up to ${left.at(-1)?.[1]}`;
	return `${rows.length === 1 ? 'item' : 'items'} ${shown.join(', ')}${more}`;
}

function pairsOf(ranges: RowRanges): Array<[first: number, last: number]> {
	const pairs: Array<[number, number]> = [];
	for (let i = 0; i + 1 < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
	return pairs;
}
