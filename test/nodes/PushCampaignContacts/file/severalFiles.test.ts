import fc from 'fast-check';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import { SeveralFiles } from '../../../../nodes/PushCampaignContacts/file/severalFiles';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { plainText } from '../../../../nodes/shared/values';

/** A file with this many rows, each with the name of the file and its number. */
async function fileOf(name: string, count: number, item: number): Promise<FileRows> {
	const rows = Array.from({ length: count }, (_, row) => `${name},${row}\n`);
	const text = Buffer.from(`of,number\n${rows.join('')}`);
	return await FileRows.open({ name, open: () => [text] }, item);
}

async function severalOf(counts: number[]) {
	const files: FileRows[] = [];
	for (const [at, count] of counts.entries()) files.push(await fileOf(`f${at}`, count, at));
	const rows = new SeveralFiles(files);
	const all: Array<{ of: string; number: string; file: number }> = [];
	await rows.each((row, index) => {
		expect(index).toBe(all.length);
		all.push({ of: plainText(row.of), number: plainText(row.number), file: rows.tableOf(index) });
	});
	return { rows, all };
}

test('are read one after the other, and their rows in any order', async () => {
	const counts = fc.array(fc.nat({ max: 4 }), { minLength: 2, maxLength: 5 });
	await fc.assert(
		fc.asyncProperty(counts, fc.array(fc.nat(), { maxLength: 12 }), async (sizes, wanted) => {
			const { rows, all } = await severalOf(sizes);
			const expected = sizes.flatMap((size, file) =>
				Array.from({ length: size }, (_, row) => ({ of: `f${file}`, number: String(row), file })),
			);
			expect(all).toEqual(expected);
			expect(rows.count).toBe(expected.length);
			if (expected.length === 0) return;
			const some = wanted.map((row) => row % expected.length);
			const picked: string[] = [];
			await rows.pick(some, ({ of: file, number }, index) => {
				picked.push(`${index} ${plainText(file)} ${plainText(number)}`);
			});
			expect(picked).toEqual(
				some.map((row) => `${row} ${expected[row]?.of} ${expected[row]?.number}`),
			);
			expect(await rows.output(some)).toEqual(
				some.map((row) => ({
					of: expected[row]?.of,
					number: expected[row]?.number,
					source_file: expected[row]?.of,
					source_row: Number(expected[row]?.number) + 2,
				})),
			);
			expect(some.map((row) => rows.inputOf(row))).toEqual(some.map((row) => expected[row]?.file));
			const set = RowSet.of([...new Set(some)].sort((a, b) => a - b));
			const files = new Set([...set].map((row) => expected[row]?.file));
			expect(rows.inputsOf(set)).toEqual([...files]);
			await rows.close();
		}),
		{ numRuns: 200 },
	);
});

test('are named with the rows of each', async () => {
	const { rows } = await severalOf([2, 0, 3]);
	expect([rows.names.one(1), rows.names.one(2)]).toEqual(['row 3 of "f0"', 'row 2 of "f2"']);
	expect(rows.names.several(RowSet.of([0, 1, 3, 4]))).toBe(
		'rows 2 to 3 of "f0", rows 3 to 4 of "f2"',
	);
	expect((await rows.columns()).map(({ file }) => file)).toEqual(['f0', 'f1', 'f2']);
});

test('are open one at a time', async () => {
	let open = 0;
	let most = 0;
	async function* opened() {
		most = Math.max(most, ++open);
		try {
			for (let piece = 0; piece < 50; piece++) yield Buffer.from(piece === 0 ? 'a,b\n' : '1,2\n');
		} finally {
			open--;
		}
	}
	const files: FileRows[] = [];
	for (let at = 0; at < 5; at++)
		files.push(await FileRows.open({ name: `f${at}`, open: () => opened() }));
	const rows = new SeveralFiles(files);
	await rows.each(() => undefined);
	// The first rows of each file, so that none is read to its end.
	const firsts = [0, 1, 49, 50, 98, 147, 196];
	await rows.pick(firsts, () => {});
	await rows.output(firsts);
	await rows.close();
	expect([open, most]).toEqual([0, 1]);
});
