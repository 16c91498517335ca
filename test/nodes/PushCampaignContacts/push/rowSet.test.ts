import fc from 'fast-check';
import chunk from 'lodash/chunk';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { MANY_RUNS } from '../../../fuzz/runs';

const rows = fc
	.array(fc.nat(60), { maxLength: 40 })
	.map((numbers) => [...new Set(numbers)].sort((one, other) => one - other));
const place = fc.integer({ min: -1, max: 62 });

test('has the same rows as a sorted array', () => {
	fc.assert(
		fc.property(rows, place, place, (list, one, other) => {
			const set = RowSet.of(list);
			const [start, end] = [Math.max(0, Math.min(one, other)), Math.max(0, one, other)];
			expect([...set]).toEqual(list);
			expect(set.size).toBe(list.length);
			expect([...set.lists(end + 1)]).toEqual(chunk(list, end + 1));
			expect([...set.within(start, end)]).toEqual(list.filter((row) => row >= start && row <= end));
		}),
		{ numRuns: 2 * MANY_RUNS },
	);
});

test('joins sets and overlapping ranges in any order', () => {
	const range = fc.tuple(fc.nat(60), fc.nat(9)).map(([first, length]) => [first, first + length]);
	fc.assert(
		fc.property(fc.array(range), rows, (ranges, others) => {
			const all = new Set(others);
			for (const [first = 0, last = 0] of ranges) {
				for (let row = first; row <= last; row++) all.add(row);
			}
			const set = RowSet.union([RowSet.ofRanges(ranges.flat()), RowSet.of(others)]);
			expect([...set]).toEqual([...all].sort((one, other) => one - other));
			expect(set.size).toBe(all.size);
		}),
		{ numRuns: 2 * MANY_RUNS },
	);
});
