import { MAX_OUTPUT_ROWS } from '../../../nodes/PushCampaignContacts/file/fileRows';
import { engineHarness } from '../../engine';
import {
	accepted,
	respondWith,
	breaking,
	fileItem,
	jsonOf,
	phone,
	runPush,
	sizes,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();

const csv = (over: NodeParameters = {}): NodeParameters => ({ contactsFrom: 'csv', ...over });
const fileOf = (name: string, first: number, count: number) =>
	fileItem(
		name,
		`phone\n${Array.from({ length: count }, (_, row) => `${phone(first + row)}\n`).join('')}`,
	);

describe('before anything is sent, a push stops', () => {
	test.each([false, true])(
		'if One Item per Row would return more rows than n8n can store (dry run: %s)',
		async (dryRun) => {
			const file = fileOf('a.csv', 0, MAX_OUTPUT_ROWS + 1);
			const { error } = await runPush(
				harness,
				[file],
				csv({ options: { output: 'rows', dryRun } }),
			);
			expect(error?.message).toMatch(
				/^The file has 500,001 rows, but with 'Output' set to 'One Item per Row', a file can have at most 500,000\. Nothing was sent/,
			);
			expect(error?.description).toContain("'One Summary Item', or split the file.");
		},
	);

	test('if Rejected would return more rows than n8n can store', async () => {
		const text = `phone\n${phone(0)}\n${'x\n'.repeat(MAX_OUTPUT_ROWS + 1)}`;
		const { error } = await runPush(harness, [fileItem('a.csv', text)], csv());
		expect(error?.message).toMatch(/^More than 500,000 rows can't be pushed .*Nothing was sent/);
		expect(error?.description).toMatch(
			/Remove these rows from the file, .* The first reason: "x" isn't a phone number/,
		);
	});
});

test('after a stop, Rejected has one item for consecutive rows if there are too many', async () => {
	const files = [fileOf('a.csv', 0, 30_000), fileOf('b.csv', 30_000, MAX_OUTPUT_ROWS - 10_000 + 1)];
	const bodies = breaking('ECONNRESET', respondWith([200, accepted(10_000)]));
	const { error, rejected, pushed } = await runPush(harness, files, csv(), {
		onError: 'continueRegularOutput',
	});
	expect(error).toBeUndefined();
	expect(sizes(bodies)).toEqual([10_000, 10_000]);
	expect(pushed[0]?.json.totals).toMatchObject({
		pushed: 10_000,
		unknown: 10_000,
		not_sent: MAX_OUTPUT_ROWS + 1,
	});
	const inB = {
		source_file: 'b.csv',
		source_row: 2,
		source_row_last: MAX_OUTPUT_ROWS - 10_000 + 2,
	};
	expect(jsonOf(rejected)).toMatchObject([
		{ rejection_status: 'unknown', source_row: 10_002, source_row_last: 20_001 },
		{ rejection_status: 'not_sent', source_row: 20_002, source_row_last: 30_001 },
		{ rejection_status: 'not_sent', ...inB },
	]);
	expect(rejected.map(({ json }) => Object.keys(json))).toEqual(
		rejected.map(() => [
			'rejection_status',
			'rejection_reason',
			'source_file',
			'source_row',
			'source_row_last',
		]),
	);
	expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual([0, 0, 1].map((item) => ({ item })));
});
