import { engineHarness } from '../../engine';
import { contactsOf, jsonOf, ok, rejection, respondWith, rowsOf, runPush } from './pushHarness';

engineHarness();
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
		{ 'Mobile No': '98765 43210', push_status: 'pushed', source_file: 'Rows', source_row: 2 },
		{ 'Mobile No': '022 1234', rejection_status: 'rejected', source_row: 3 },
	]);
});

test('the text of a file may begin with a byte order mark', async () => {
	const bodies = respondWith(ok());
	await runPush(rowsOf({}), pasted('\uFEFF"phone","person_name"\n"9876543210","Asha"'));
	expect(contactsOf(bodies[0])).toEqual([{ phone: '9876543210', person_name: 'Asha' }]);
});

test('the first heading and the last cells may be empty', async () => {
	const bodies = respondWith(ok(2));
	const text = '\tphone\tperson_name\tcity\n1\t9876543210\tAsha\tPune\n2\t9876543211\t\t';
	const { error, rejected } = await runPush(rowsOf({}), pasted(text));
	expect([error, rejected]).toEqual([undefined, []]);
	expect(contactsOf(bodies[0]).map(({ phone }) => phone)).toEqual(['9876543210', '9876543211']);
});

test.each([
	[' \n', "'Rows' is empty, so nothing was sent", /^Copy the rows/],
	['Asha\n9876543210', /^'Rows' has no column "phone"/, /enter "Asha", which has phone numbers/],
	['9876543210\tAsha', /no column "phone"/, /Add a row with their names above it/],
])('of %j, says what is wrong and what to do, and sends nothing', async (text, message, advice) => {
	const { error } = await runPush(rowsOf({}), pasted(text));
	expect(error?.message).toMatch(message);
	expect(error?.description).toMatch(advice);
});

test.each([
	['phone\n"9876543210', "'Rows' has a quote in row 2 that isn't closed"],
	['phone\tphone\n9876543210\t9876543211', 'The header has more than one column "phone"'],
	[
		`phone${',a'.repeat(2_000)}\n${'9876543210\n'.repeat(2_000)}`,
		"The header of 'Rows' has 2,001 columns",
	],
	[`phone\n${'9'.repeat(20_000_000)}`, "'Rows' has more than "],
])('of %#, the message calls the text by its field', async (text, message) => {
	const { error } = await runPush(rowsOf({}), pasted(text));
	expect(error?.message).toContain(message);
	expect(`${error?.message} ${error?.description}`).not.toMatch(/\bfile\b/);
});

test('hints, and the message of a push that stopped, call it by its field', async () => {
	respondWith([409, rejection('archived')]);
	const { error } = await runPush(rowsOf({}), pasted('phone,person_name\n9876543210,Ash\uFFFD'));
	expect(error?.description).toContain("Row numbers of 'Rows' are as in a spreadsheet program");
	const bodies = respondWith(ok());
	const { hints } = await runPush(rowsOf({}), pasted('phone,person_name\n9876543210,Ash\uFFFD'));
	expect(hints).toContainEqual(
		expect.stringMatching(/^Some characters of 'Rows' can't be read, so they became /),
	);
	expect(contactsOf(bodies[0])).toEqual([{ phone: '9876543210', person_name: 'Ash\uFFFD' }]);
});
