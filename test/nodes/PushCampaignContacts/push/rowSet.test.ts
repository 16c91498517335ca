import fc from 'fast-check';
import chunk from 'lodash/chunk';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { MANY_RUNS } from '../../../fuzz/runs';

const rows = fc
	.array(fc.nat(60), { maxLength: 40 })
	.map((numbers) => [...new Set(numbers)].sort((one, other) => one - other));

test('has the same rows as a sorted array', () => {
	fc.assert(
		fc.property(rows, fc.integer({ min: 1, max: 63 }), (list, size) => {
			const set = RowSet.of(list);
			expect([...set]).toEqual(list);
			expect(set.size).toBe(list.length);
			expect([...set.lists(size)]).toEqual(chunk(list, size));
		}),
		{ numRuns: 2 * MANY_RUNS },
	);
});

test('joins overlapping ranges in any order', () => {
	const range = fc.tuple(fc.nat(60), fc.nat(9)).map(([first, length]) => [first, first + length]);
	fc.assert(
		fc.property(fc.array(range), rows, (ranges, others) => {
			const all = new Set(others);
			for (const [first = 0, last = 0] of ranges) {
				for (let row = first; row <= last; row++) all.add(row);
			}
			const set = RowSet.ofRanges([...ranges.flat(), ...RowSet.of(others).toRanges()]);
			expect([...set]).toEqual([...all].sort((one, other) => one - other));
			expect(set.size).toBe(all.size);
		}),
		{ numRuns: 2 * MANY_RUNS },
	);
});
