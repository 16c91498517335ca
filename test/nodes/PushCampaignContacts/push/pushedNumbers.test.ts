import { NumbersOfExecution } from '../../../../nodes/core/ledger/numbersOfExecution';
import type { JsonObject } from '../../../../nodes/core/values/json';
import { isLinear } from '../../../growth/linear';
import { RowsByStatus } from '../../../../nodes/PushCampaignContacts/push/outcome';
import {
	MAX_NUMBERS_KEPT,
	PushedNumbers,
	type PushMemory,
} from '../../../../nodes/PushCampaignContacts/push/pushedNumbers';
import { ItemRow, settle, type Table } from '../../../../nodes/PushCampaignContacts/push/rows';
import { columns } from './scripted';

const table: Table = {
	names: new Set(),
	repeated: new Set(),
	filled: new Set(),
	hasPath: () => false,
	first: [],
};

/** What n8n stores with the execution. */
type Stored = { memory: PushMemory; done: JsonObject; open: JsonObject };

/** Pushes the numbers that no earlier push of the execution has. @returns how many they are */
async function push(
	{ memory, done, open }: Stored,
	first: number,
	count: number,
	unknown = 0,
): Promise<number> {
	const numbers = new PushedNumbers(
		memory,
		new NumbersOfExecution({ done, unknown: open, run: 0 }),
	);
	const rows = Array.from({ length: count }, (_, index) => {
		const row = new ItemRow(index, {}, table, index);
		return Object.assign(row, { phone: String(9_000_000_000 + first + index) });
	});
	const markedUnknown = new Set<string>();
	const emptied = { count: 0, examples: [] };
	const input = { rows, tables: [table], hints: [], maxOutputRows: Infinity, legend: '' };
	const prepared = {
		input,
		columnsOf: () => columns,
		rows,
		markedUnknown,
		hasNames: false,
		emptied,
		withoutConsent: 0,
	};
	const left = await numbers.leaveOut(rows, prepared);
	for (const [at, row] of left.entries()) settle(row, at < unknown ? 'unknown' : 'pushed');
	const byStatus = await RowsByStatus.of(rows);
	await numbers.add(byStatus);
	return byStatus.count('pushed');
}
const newRecord = (): Stored => ({ memory: { count: 0, runs: {} }, done: {}, open: {} });

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

test('the first push of an execution looks up none of its numbers, and the next one each of them', async () => {
	const lookUps = jest.spyOn(NumbersOfExecution.prototype, 'isDone');
	const record = newRecord();
	await push(record, 0, 3);
	expect(lookUps).not.toHaveBeenCalled();
	await push(record, 0, 4);
	expect(lookUps).toHaveBeenCalledTimes(4);
	lookUps.mockRestore();
});

test('a loop with another number in each iteration takes time in proportion to its iterations', async () => {
	const loop = (rounds: number) => async () => {
		const record = newRecord();
		for (let round = 0; round < rounds; round++) await push(record, round, 1);
	};
	expect(await isLinear(loop, 10_000)).toBe(true);
});
