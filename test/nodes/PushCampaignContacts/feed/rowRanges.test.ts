import {
	describeRows,
	rangesOf,
	rowsIn,
} from '../../../../nodes/PushCampaignContacts/feed/rowRanges';

test.each<[number[], number[]]>([
	[[], []],
	[[3], [3, 3]],
	[
		[0, 1, 2, 5],
		[0, 2, 5, 5],
	],
	[
		[4, 2, 3],
		[4, 4, 2, 3],
	],
])('the rows %j are kept as the ranges %j, and come back as they were', (rows, ranges) => {
	expect(rangesOf(rows)).toEqual(ranges);
	expect(rowsIn(ranges)).toEqual(rows);
});

test.each<[number[], string]>([
	[[7], 'item 7'],
	[[3, 4, 5], 'items 3 to 5'],
	[[9, 1, 0, 2], 'items 0 to 2, 9'],
])('the rows %j are told as %s', (rows, words) => {
	expect(describeRows(rows)).toBe(words);
});

test('of more than a hundred ranges the first hundred are told, and how far the others go', () => {
	const every = (count: number) => Array.from({ length: count }, (_, index) => 2 * index);
	expect(describeRows(every(100))).toMatch(/, 196, 198$/);
	expect(describeRows(every(103))).toMatch(/, 196, 198, and further ones up to 204$/);
	expect(describeRows([...every(102), 203])).toMatch(/, 198, and further ones up to 203$/);
});
