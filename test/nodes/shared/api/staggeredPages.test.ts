import fc from 'fast-check';
import range from 'lodash/range';
import {
	endOf,
	pageAcross,
	pagesAcross,
	sizeOfReading,
	startOf,
} from '../../../../nodes/shared/api/staggeredPages';

const readingOf = (number: number, firstPageLength: number) => ({
	number,
	firstPageLength,
	isStaggered: true,
});

test.each([
	[100, [100, 99, 98, 97, 96]],
	[6, [6, 5, 4, 3, 2]],
	[5, [5, 6, 7, 8, 9]],
	[1, [1, 2, 3, 4, 5]],
])('after a first page of %i, the readings have pages of %p', (length, sizes) => {
	expect(range(1, 6).map((number) => sizeOfReading(readingOf(number, length)))).toEqual(sizes);
});

test('the pages of a later reading cover all entries, and never end where pages of the first one end', () => {
	const usual = fc.integer({ min: 15, max: 120 });
	const readings = fc.integer({ min: 2, max: 5 });
	const totals = fc.integer({ min: 1, max: 3_000 });
	fc.assert(
		fc.property(usual, readings, totals, (length, number, total) => {
			const reading = readingOf(number, length);
			const first = pageAcross(0, reading);
			const pages = [first, ...pagesAcross(first, total, reading)];
			let covered = 0;
			for (const page of pages) {
				expect(startOf(page)).toBeLessThanOrEqual(covered);
				expect(endOf(page)).toBeGreaterThan(covered);
				expect(page.size).toBeLessThan(length);
				expect(endOf(page) % length).not.toBe(0);
				covered = endOf(page);
			}
			expect(covered).toBeGreaterThanOrEqual(total);
		}),
	);
});

test.each([
	[20, 10_000, 553],
	[50, 10_000, 208],
	[100, 5_000, 51],
	[100, 100_000, 1_020],
])(
	'with pages of %i, another reading of a list of %i takes %i requests',
	(length, total, requests) => {
		const reading = readingOf(2, length);
		const first = pageAcross(0, reading);
		expect([first, ...pagesAcross(first, total, reading)]).toHaveLength(requests);
	},
);

test('if a page has one entry, pages of two are requested', () => {
	expect(pageAcross(0, readingOf(2, 1))).toEqual({ index: 0, size: 2 });
	expect(pageAcross(3, readingOf(2, 1))).toEqual({ index: 1, size: 2 });
});
