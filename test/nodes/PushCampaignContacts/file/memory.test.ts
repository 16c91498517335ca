import range from 'lodash/range';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { ItemRows } from '../../../../nodes/PushCampaignContacts/push/rows';
import { collectGarbage, heapInUse } from '../../../engine/heap';
import { columns, contactItems } from '../push/scripted';

/** Bytes in typed arrays and buffers. */
function bytesOutsideHeap(): number {
	// Memory that the first one frees is no longer counted after the second one.
	collectGarbage();
	collectGarbage();
	return process.memoryUsage().arrayBuffers;
}

const PIECES = 400;
const NOTE = 'x'.repeat(60_000);

/** Rows of 60 kB without a phone number, one per piece. */
async function* pieces(): AsyncGenerator<Uint8Array> {
	yield Buffer.from('phone,note\n');
	for (let piece = 0; piece < PIECES; piece++) {
		yield Buffer.from(`ask at the reception ${piece},${NOTE}\n`);
	}
}

test('keeps nothing else of the file in memory', async () => {
	const source = { name: 'a.csv', open: () => pieces() };
	const rows = await FileRows.open(source);
	const before = heapInUse();
	const prepared = await prepareRows(rows, [columns]);
	const kept = heapInUse() - before;
	expect(prepared.rows.size + prepared.notPushed.size).toBe(PIECES);
	expect(kept).toBeLessThan((PIECES * NOTE.length) / 4);
});

/** Five copies of each number. */
async function* copies(count: number): AsyncGenerator<Uint8Array> {
	yield Buffer.from('phone,person_name,city\n');
	for (let start = 0; start < count; start += 1_000) {
		const rows = range(start, start + 1_000).map((row) => {
			const number = row % (count / 5);
			return `${9_000_000_000 + number},Person ${number},Pune ${row}\n`;
		});
		yield Buffer.from(rows.join(''));
	}
}

test('a duplicate takes little memory until its reason is needed', async () => {
	const count = 40_000;
	const source = { name: 'a.csv', open: () => copies(count) };
	const bytesPerDuplicate = async () => {
		const rows = await FileRows.open(source);
		const before = heapInUse();
		const { notPushed } = await prepareRows(rows, [columns]);
		const kept = heapInUse() - before;
		expect(notPushed.size).toBe((4 / 5) * count);
		return kept / notPushed.size;
	};
	// The heap also contains what other work of the process leaves behind, so the smallest figure counts.
	const figures = [await bytesPerDuplicate(), await bytesPerDuplicate(), await bytesPerDuplicate()];
	expect(Math.min(...figures)).toBeLessThan(150);
});

test('frees the lookup tables after the rows are checked', async () => {
	const count = 250_000;
	const items = contactItems(count);
	const rows = new ItemRows(items);
	const before = bytesOutsideHeap();
	const prepared = await prepareRows(rows, [columns]);
	const kept = bytesOutsideHeap() - before;
	expect(prepared.rows.size).toBe(count);
	// The phone of each row, in eight bytes.
	expect(kept).toBeLessThan(1.2 * 8 * count);
});
