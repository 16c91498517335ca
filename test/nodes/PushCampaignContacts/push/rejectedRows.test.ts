import fc from 'fast-check';
import {
	RejectedRows,
	ROW_STATUSES,
} from '../../../../nodes/PushCampaignContacts/push/rejectedRows';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';

/** Of each row: how it's added, and its status. */
const rows = fc.array(
	fc.record({
		group: fc.constantFrom('alone', 'group 1', 'group 2', 'not at all'),
		status: fc.constantFrom(...ROW_STATUSES),
	}),
	{ maxLength: 30 },
);

test('has each row once and in order, whether it was added alone or with others', () => {
	fc.assert(
		fc.property(rows, (list) => {
			const rejected = new RejectedRows();
			const statusOf = (group: string) => list.find((row) => row.group === group)?.status;
			const expected = list.flatMap((row, index) => {
				if (row.group === 'not at all') return [];
				const isAlone = row.group === 'alone';
				const status = (isAlone ? row.status : statusOf(row.group)) ?? row.status;
				return { index, status, reason: isAlone ? `row ${index}` : row.group };
			});
			for (const row of expected.toReversed()) {
				if (row.reason.startsWith('row')) rejected.add(row);
			}
			for (const group of ['group 2', 'group 1']) {
				const own = expected.filter(({ reason }) => reason === group);
				const status = own[0]?.status ?? 'unknown';
				const ofGroup = RowSet.of(own.map(({ index }) => index));
				rejected.addAll({ rows: ofGroup, status, reason: group });
			}
			expect([...rejected]).toEqual(expected);
			expect(rejected.size).toBe(expected.length);
			expect([...rejected.rowsWith()]).toEqual(expected.map(({ index }) => index));
			for (const status of ROW_STATUSES) {
				const own = expected.filter((row) => row.status === status).map(({ index }) => index);
				expect([...rejected.rowsWith(status)]).toEqual(own);
				expect(rejected.count(status)).toBe(own.length);
			}
		}),
		{ numRuns: 2_000 },
	);
});
