/** A large push leaves memory and time to the rest of n8n. */
import range from 'lodash/range';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { ItemRows, type RowSource } from '../../../../nodes/PushCampaignContacts/push/rows';
import { collectGarbage, heapInUse } from '../../../engine/heap';
import { columns, contactItems } from '../push/scripted';

/** Bytes in the heap, typed arrays, and buffers. */
function memoryInUse(): number {
	// Memory that the first one frees is no longer counted after the second one.
	collectGarbage();
	const heap = heapInUse();
	return heap + process.memoryUsage().arrayBuffers;
}

/** A file of batches of rows. */
function* fileOf(rows: number, batch: number, rowOf: (row: number) => string) {
	yield Buffer.from('phone,person_name,note\n');
	for (let first = 0; first < rows; first += batch) {
		yield Buffer.from(
			range(first, first + batch)
				.map(rowOf)
				.join(''),
		);
	}
}

const NOTE = 'x'.repeat(60_000);
const noPhones = () => fileOf(200, 1, (row) => `ask at the reception ${row},,${NOTE}\n`);
const copies = () =>
	fileOf(40_000, 1_000, (row) => `${9_000_000_000 + (row % 8_000)},Person ${row},Pune\n`);
const items = contactItems(250_000);

test.each<[string, number, number, () => Promise<RowSource>]>([
	// Its reason, and no more of the file.
	[
		'row of 60 kB without a number',
		200,
		15_000,
		async () => await FileRows.open({ name: '', open: noPhones }),
	],
	// Until its reason is needed.
	[
		'row of a number that others have, too',
		40_000,
		150,
		async () => await FileRows.open({ name: '', open: copies }),
	],
	// The phone, in eight bytes.
	['row that is sent', 250_000, 10, async () => await Promise.resolve(new ItemRows(items))],
])('a %s takes little memory', async (_what, count, most, open) => {
	// The heap also contains what other work of the process leaves behind, so the smallest figure counts.
	const figures: number[] = [];
	for (let round = 0; round < 2; round++) {
		const rows = await open();
		const before = memoryInUse();
		const prepared = await prepareRows(rows, [columns]);
		figures.push((memoryInUse() - before) / count);
		expect(prepared.rows.size + prepared.notPushed.size).toBe(count);
	}
	expect(Math.min(...figures)).toBeLessThan(most);
});

/** How many rows are visited at most before other work of the process can continue, if a row takes this long. */
async function maxRowsTogether(
	msPerRow: number,
	read: (visit: () => void) => Promise<void>,
): Promise<number> {
	let [rows, max, work] = [0, 0, 0];
	const time = jest.spyOn(performance, 'now').mockImplementation(() => work);
	let turn: NodeJS.Immediate;
	const onTurn = () => {
		rows = 0;
		turn = setImmediate(onTurn);
	};
	turn = setImmediate(onTurn);
	await read(() => {
		max = Math.max(max, ++rows);
		work += msPerRow;
	});
	clearImmediate(turn);
	time.mockRestore();
	return max;
}

const openFile = async () =>
	await FileRows.open({ name: '', open: () => fileOf(400, 400, (row) => `${row}\n`) });

test.each<[string, number, number, () => Promise<RowSource>]>([
	['a file', 0.1, 150, openFile],
	['a file with thousands of cells in a row', 5, 3, openFile],
	['items', 0.1, 150, async () => await Promise.resolve(new ItemRows(items.slice(0, 400)))],
])('pauses after 10 ms of work while it reads %s', async (_what, msPerRow, most, open) => {
	const rows = await open();
	for (const read of [
		async (visit: () => void) => await rows.each(visit),
		async (visit: () => void) => await rows.pick(range(400), visit),
	]) {
		expect(await maxRowsTogether(msPerRow, read)).toBeLessThanOrEqual(most);
	}
});
