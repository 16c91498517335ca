/** A large push leaves memory and time to the rest of n8n. */
import range from 'lodash/range';
import { rowsOfFiles } from '../../../../nodes/PushCampaignContacts/push/csv';
import {
	type PreparedRows,
	prepareRows,
} from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { type PushInput, rowsOfItems } from '../../../../nodes/PushCampaignContacts/push/rows';
import { Pauses } from '../../../../nodes/core/values/pauses';
import { collectGarbage, heapInUse } from '../../../engine/heap';
import { columns, contactItems } from './scripted';

/** Bytes in the heap, typed arrays, and buffers. */
function memoryInUse(): number {
	// Memory that the first one frees is no longer counted after the second one.
	collectGarbage();
	const heap = heapInUse();
	return heap + process.memoryUsage().arrayBuffers;
}

/** A file of batches of rows. */
function* fileOf(
	rows: number,
	batch: number,
	rowOf: (row: number) => string,
	header = 'phone,person_name,note',
) {
	yield Buffer.from(`${header}\n`);
	for (let first = 0; first < rows; first += batch) {
		yield Buffer.from(
			range(first, first + batch)
				.map(rowOf)
				.join(''),
		);
	}
}

const ofFile = async (pieces: () => Iterable<Uint8Array>) =>
	await rowsOfFiles([{ label: '', item: 0, open: () => Buffer.concat([...pieces()]) }]);
const people = () =>
	fileOf(5_000, 500, (row) => `${9_000_000_000 + row},Person Number ${row},Pune\n`);
/** 40 cells of 15 characters. */
const wide = () =>
	fileOf(
		1_000,
		500,
		(row) => `${9_000_000_000 + row}${',fifteen letters'.repeat(39)}\n`,
		['phone', ...range(39)].join(),
	);
const items = contactItems(5_000);

test.each<[string, number, number, () => Promise<PushInput>]>([
	['row of a file with three columns', 5_000, 230, async () => await ofFile(people)],
	['row of 634 characters', 1_000, 900, async () => await ofFile(wide)],
	// Not the row itself, which n8n has.
	['row of items', 5_000, 150, async () => await rowsOfItems(items)],
])('a %s takes little memory', async (_what, count, most, open) => {
	// The heap also contains what other work of the process leaves behind, so the smallest figure counts.
	const figures: number[] = [];
	// Otherwise, a round could free the rows of the one before, and take none.
	const rounds: PreparedRows[] = [];
	let before = memoryInUse();
	for (let round = 0; round < 2; round++) {
		rounds.push(await prepareRows(await open(), columns));
		const after = memoryInUse();
		figures.push((after - before) / count);
		before = after;
	}
	for (const { input, rows } of rounds)
		expect([input.rows.length, rows.length]).toEqual([count, count]);
	expect(Math.min(...figures)).toBeLessThan(most);
});

test('pauses after 10 ms of work while it checks rows', async () => {
	const input = await rowsOfItems(items.slice(0, 400));
	let work = 0;
	const time = jest.spyOn(performance, 'now').mockImplementation(() => work);
	const pause = jest.spyOn(Pauses.prototype, 'take');
	const slow = {
		...columns,
		get phone() {
			work += 0.25;
			return columns.phone;
		},
	};
	await prepareRows(input, slow);
	time.mockRestore();
	expect(pause.mock.calls.length).toBeGreaterThan(5);
});
