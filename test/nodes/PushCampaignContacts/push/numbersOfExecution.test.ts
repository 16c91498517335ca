import { isLinear } from '../../../growth/linear';
import { RowsNotPushed } from '../../../../nodes/PushCampaignContacts/push/outcome';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import {
	isNumbersRecord,
	MAX_NUMBERS_KEPT,
	NumbersOfExecution,
} from '../../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import { phone } from './scripted';

const numbered = (from: number) => (row: number) => Number(`91${phone(from + row)}`);

test('recognizes as many numbers as are stored, and has no room for a push of a model beyond them', () => {
	const record = { count: 0, lists: {}, runs: {} };
	const add = (from: number, count: number) => {
		const rows = Array.from({ length: count }, (_, row) => row);
		const keys = numbered(from);
		const pushed = [{ rows: RowSet.of(rows), response: {}, unmatched: [] }];
		new NumbersOfExecution(record, 42).add(
			{ received: count, pushed, notPushed: new RowsNotPushed(), enqueue: false },
			keys,
		);
	};
	const isKnown = (number: number) => {
		const keys = numbered(number);
		const prepared = { notPushed: new RowsNotPushed(), unknownBefore: new Set<number>() };
		const left = new NumbersOfExecution(record, 42).leaveOut([0], keys, prepared);
		return left.length === 0;
	};
	add(0, MAX_NUMBERS_KEPT);
	const numbers = new NumbersOfExecution(record, 42);
	expect(() => numbers.requireRoom(0)).not.toThrow();
	expect(() => numbers.requireRoom(1)).toThrow(/so nothing was sent$/);
	expect(isKnown(MAX_NUMBERS_KEPT - 1)).toBe(true);
	add(MAX_NUMBERS_KEPT, 1);
	expect(isKnown(MAX_NUMBERS_KEPT)).toBe(false);
	expect(isKnown(0)).toBe(true);
});

test('a loop with another number in each iteration takes time in proportion to its iterations', async () => {
	const loop = (rounds: number) => () => {
		const record = { count: 0, lists: {}, runs: {} };
		for (let round = 0; round < rounds; round++) {
			const notPushed = new RowsNotPushed();
			const pushed = [{ rows: RowSet.of([0]), response: {}, unmatched: [] }];
			const keys = numbered(round);
			const numbers = new NumbersOfExecution(record, 42);
			const prepared = { notPushed, unknownBefore: new Set<number>() };
			expect(numbers.leaveOut([0], keys, prepared)).toHaveLength(1);
			numbers.add({ received: 1, pushed, notPushed, enqueue: false }, keys);
		}
	};
	expect(await isLinear(loop, 10_000)).toBe(true);
});

test.each([null, 'sent', [], {}, { count: 0, lists: {} }, { count: 0, lists: 1, runs: {} }])(
	"%j isn't a record of numbers",
	(stored) => {
		expect(isNumbersRecord(stored)).toBe(false);
	},
);
