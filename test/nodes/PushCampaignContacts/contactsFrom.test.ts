/** Pasted Rows, and a choice that only tools have. */
import { engineHarness } from '../../engine';
import { contactsOf, jsonOf, ok, respondWith, rowsOf, runPush } from './pushHarness';

engineHarness();

test('in a workflow, JSON is refused, which only tools have', async () => {
	const contacts = JSON.stringify([{ phone: '9876543210' }]);
	const { error } = await runPush(rowsOf({}), { contactsFrom: 'json', contacts });
	expect(error).toMatchObject({
		message: `'Contacts From' must be 'CSV File', 'Input Items', or 'Pasted Rows' (got "json"), so nothing was sent`,
		description: "In n8n, choose 'CSV File', 'Input Items', or 'Pasted Rows'.",
	});
});

describe('pasted rows', () => {
	const pasted = (pastedRows: string) => ({ contactsFrom: 'pasted', pastedRows });

	test.each([
		['cells copied in a spreadsheet program', '\t', '\n'],
		['the text of a CSV file', ',', '\r\n'],
	])('pushes %s once for any number of items, with one item per row', async (_what, cell, line) => {
		const table = [
			['Mobile No', 'Name', 'City'],
			['98765 43210', 'Asha Rao', '"Pune\nWest"'],
			['022 1234', 'Ravi', ''],
		];
		const text = table.map((cells) => cells.join(cell)).join(line) + line;
		const bodies = respondWith(ok());
		const parameters = { ...pasted(text), options: { output: undefined } };
		const { error, pushed, rejected } = await runPush(rowsOf({}, {}), parameters);
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([
			{ phone: '9876543210', person_name: 'Asha Rao', City: 'Pune\nWest' },
		]);
		expect(jsonOf([...pushed, ...rejected])).toMatchObject([
			{ 'Mobile No': '98765 43210', push_status: 'pushed' },
			{ 'Mobile No': '022 1234', push_status: 'rejected' },
		]);
	});

	test.each([
		['a byte order mark', '\uFEFF"phone","person_name"\n"9876543210","Asha"\n"9876543211",""'],
		['an empty first heading', '\tphone\tperson_name\n1\t9876543210\tAsha\n2\t9876543211\t'],
		['empty last cells', 'phone\tperson_name\n9876543210\tAsha\n9876543211\t'],
	])('can have %s', async (_what, text) => {
		const bodies = respondWith(ok(2));
		const { error, rejected } = await runPush(rowsOf({}), pasted(text));
		expect([error, rejected]).toEqual([undefined, []]);
		expect(contactsOf(bodies[0])).toEqual([
			{ phone: '9876543210', person_name: 'Asha' },
			{ phone: '9876543211' },
		]);
	});

	test('can have single quotes around cells, which names are sent without', async () => {
		const bodies = respondWith(ok(2));
		const text = "Mobile No,Name\n'9876543210','Ann'\n'9876543211','Asha O'Brien'\n";
		const { error } = await runPush(rowsOf({}), pasted(text));
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([
			{ phone: '9876543210', person_name: 'Ann' },
			{ phone: '9876543211', person_name: "Asha O'Brien" },
		]);
	});

	test.each([
		[' \n', "'Rows' is empty, so nothing was sent", /^Copy the rows/],
		['Asha\n9876543210', /no column "phone"/, /has: "Asha" with phone numbers\.$/],
		['9876543210\tAsha', /no column "phone"/, /The first row of a sheet or file must name/],
	])(
		'of %j, says what is wrong and what to do, and sends nothing',
		async (text, message, advice) => {
			const { error } = await runPush(rowsOf({}), pasted(text));
			expect(error?.message).toMatch(message);
			expect(error?.description).toMatch(advice);
		},
	);

	test.each([
		['phone\n"9876543210', "'Rows' has a quote in row 2 that isn't closed"],
		['phone\tphone\n9876543210\t9876543211', 'Several columns match "phone"'],
		[
			`phone${',a'.repeat(20_000)}\n${'9876543210\n'.repeat(20_000)}`,
			'The input has more than 200 MB or 100,000,000 cells',
		],
	])('of %#, the message calls the text by its field', async (text, message) => {
		const { error } = await runPush(rowsOf({}), pasted(text));
		expect(error?.message).toContain(message);
		expect(`${error?.message} ${error?.description}`).not.toMatch(/\bfile\b/);
	});
});
