import { isLinear } from '../../../growth/linear';
import { RowsNotPushed } from '../../../../nodes/PushCampaignContacts/push/outcome';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import {
	MAX_NUMBERS_KEPT,
	NumbersOfExecution,
	type NumbersRecord,
} from '../../../../nodes/PushCampaignContacts/push/numbersOfExecution';

/** Pushes the numbers that no earlier push of the execution has. @returns how many they are */
function push(record: NumbersRecord, first: number, count: number): number {
	const numbers = new NumbersOfExecution(record, 42);
	const notPushed = new RowsNotPushed();
	const all = Array.from({ length: count }, (_, row) => row);
	const keyOf = (row: number) => 919_000_000_000 + first + row;
	const rows = numbers.leaveOut(all, keyOf, { notPushed, unknownBefore: new Set() });
	const pushed = [{ rows: RowSet.of(rows), response: {}, unmatched: [] }];
	numbers.add({ received: count, pushed, notPushed, enqueue: false }, keyOf);
	return rows.length;
}
const newRecord = (): NumbersRecord => ({ count: 0, lists: {}, runs: {} });

test('an execution knows as many numbers as n8n stores, and then those', () => {
	const record = newRecord();
	push(record, 0, MAX_NUMBERS_KEPT);
	push(record, MAX_NUMBERS_KEPT, 1);
	expect(push(record, MAX_NUMBERS_KEPT - 1, 2)).toBe(1);
});

test('a loop with another number in each iteration takes time in proportion to its iterations', async () => {
	const loop = (rounds: number) => () => {
		const record = newRecord();
		for (let round = 0; round < rounds; round++) push(record, round, 1);
	};
	expect(await isLinear(loop, 10_000)).toBe(true);
});
