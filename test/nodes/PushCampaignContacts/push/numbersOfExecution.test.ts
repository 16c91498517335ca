import { isLinear } from '../../../growth/linear';
import { countWith, groupByStatus } from '../../../../nodes/PushCampaignContacts/push/outcome';
import {
	MAX_NUMBERS_KEPT,
	NumbersOfExecution,
	type NumbersMemory,
} from '../../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import { ItemRow, settle, type Table } from '../../../../nodes/PushCampaignContacts/push/rows';

const table: Table = {
	names: new Set(),
	repeated: new Set(),
	filled: new Set(),
	hasPath: () => false,
	first: [],
};

/** Pushes the numbers that no earlier push of the execution has. @returns how many they are */
async function push(
	record: NumbersMemory,
	first: number,
	count: number,
	unknown = 0,
): Promise<number> {
	const numbers = new NumbersOfExecution(record, 42);
	const rows = Array.from({ length: count }, (_, index) => {
		const row = new ItemRow(index, {}, table, index);
		return Object.assign(row, { phone: String(9_000_000_000 + first + index) });
	});
	const markedUnknown = new Set<string>();
	const emptied = { count: 0, examples: [] };
	const prepared = { rows, markedUnknown, hasNames: false, emptied, withoutConsent: 0 };
	const left = numbers.leaveOut(rows, prepared);
	for (const [at, row] of left.entries()) settle(row, at < unknown ? 'unknown' : 'pushed');
	const input = { rows, tables: [table], hints: [], maxOutputRows: Infinity, legend: '' };
	const byStatus = await groupByStatus(rows);
	const outcome = { input, requests: [], byStatus, hasRejections: false, enqueue: false };
	numbers.add(outcome);
	return countWith(outcome, 'pushed');
}
const newRecord = (): NumbersMemory => ({ count: 0, lists: {}, runs: {} });

test('an execution knows as many numbers as n8n stores, and then those', async () => {
	const record = newRecord();
	await push(record, 0, MAX_NUMBERS_KEPT);
	await push(record, MAX_NUMBERS_KEPT, 1);
	expect(await push(record, MAX_NUMBERS_KEPT - 1, 2)).toBe(1);
});

test('an execution knows unknown numbers also if the sent ones are too many', async () => {
	const record = newRecord();
	await push(record, 0, MAX_NUMBERS_KEPT + 3, 2);
	expect(await push(record, 0, 3)).toBe(1);
});

test('a loop with another number in each iteration takes time in proportion to its iterations', async () => {
	const loop = (rounds: number) => async () => {
		const record = newRecord();
		for (let round = 0; round < rounds; round++) await push(record, round, 1);
	};
	expect(await isLinear(loop, 10_000)).toBe(true);
});
