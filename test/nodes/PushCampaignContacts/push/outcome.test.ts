import fc from 'fast-check';
import { RowsNotPushed, ROW_STATUSES } from '../../../../nodes/PushCampaignContacts/push/outcome';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';

/** The reason with which each row is added. */
const rows = fc.array(fc.constantFrom('alone', 'a', 'b', 'not at all'), { maxLength: 30 });
const STATUS = { alone: 'rejected', a: 'unknown', b: 'not_sent' } as const;

test('has each row once and in order, whether it was added alone or with others', () => {
	fc.assert(
		fc.property(rows, (list) => {
			const rejected = new RowsNotPushed();
			const rowsOf = (reason: string) => [...list.keys()].filter((index) => list[index] === reason);
			for (const index of rowsOf('alone').toReversed()) {
				rejected.add(index, STATUS.alone, 'alone');
			}
			for (const reason of ['b', 'a'] as const) {
				rejected.addAll(RowSet.of(rowsOf(reason)), STATUS[reason], reason);
			}
			const expected = list.flatMap((reason, index) =>
				reason === 'not at all' ? [] : [{ index, status: STATUS[reason], reason }],
			);
			expect([...rejected]).toEqual(expected);
			expect(rejected.size).toBe(expected.length);
			for (const status of ROW_STATUSES) {
				const own = expected.filter((row) => row.status === status).map(({ index }) => index);
				expect([...rejected.rowsWith(status)]).toEqual(own);
				expect(rejected.count(status)).toBe(own.length);
			}
		}),
		{ numRuns: 500 },
	);
});
