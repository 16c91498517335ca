/** Contacts that are written into the form: as JSON, and as pasted rows. */
import range from 'lodash/range';
import { engineHarness } from '../../engine';
import {
	ARCHIVED,
	contactsOf,
	jsonOf,
	ok,
	phone,
	phonesOf,
	respondWith,
	rowsOf,
	runPush,
} from './pushHarness';

engineHarness();
const ASHA = { phone: '9876543210', person_name: 'Asha', city: 'Pune' };
const RAVI = { phone: '+91 98765-43211', person_name: 'Ravi' };

describe('JSON', () => {
	const asJson = (contacts: unknown) => ({
		contactsFrom: 'json',
		contacts: typeof contacts === 'string' ? contacts : JSON.stringify(contacts),
	});

	test.each<[string, unknown]>([
		['a list', [ASHA, RAVI]],
		['a list of an expression', '={{ [$json.one, $json.two] }}'],
		['JSON of an expression', '={{ JSON.stringify([$json.one, $json.two]) }}'],
	])('pushes %s like rows', async (_how, contacts) => {
		const bodies = respondWith(ok(2));
		const input = rowsOf({ one: ASHA, two: RAVI, row_number: 7 });
		const { error, pushed, rejected } = await runPush(input, asJson(contacts));
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([ASHA, { ...RAVI, phone: '+919876543211' }]);
		expect(pushed).toMatchObject([{ json: { totals: { pushed: 2 } }, pairedItem: [{ item: 0 }] }]);
		expect(rejected).toEqual([]);
	});

	test('pushes a single fixed contact once for any number of items', async () => {
		const bodies = respondWith(ok());
		const { error } = await runPush(rowsOf({}, {}, {}), asJson(ASHA));
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([ASHA]);
	});

	const ofItems = rowsOf({ list: [{ phone: '12' }, ASHA] }, { list: [] }, { list: [RAVI] });

	test('pushes the contacts of each item, paired with the item', async () => {
		const bodies = respondWith(ok(2));
		const { pushed, rejected } = await runPush(ofItems, asJson('={{ $json.list }}'));
		expect(phonesOf(bodies[0])).toEqual([ASHA.phone, '+919876543211']);
		expect(pushed).toMatchObject([{ pairedItem: [{ item: 0 }, { item: 2 }] }]);
		expect(rejected).toMatchObject([
			{ json: { phone: '12', push_status: 'rejected' }, pairedItem: { item: 0 } },
		]);
	});

	test('with One Item per Row, returns the contact, not its input item', async () => {
		respondWith(ok(2));
		const parameters = { ...asJson('={{ $json.list }}'), options: { output: 'rows' } };
		const { pushed } = await runPush(ofItems, parameters);
		expect(pushed).toMatchObject([
			{ json: { ...ASHA, push_status: 'pushed' }, pairedItem: { item: 0 } },
			{ json: { ...RAVI, push_status: 'pushed' }, pairedItem: { item: 2 } },
		]);
		expect(jsonOf(pushed)).not.toContainEqual(expect.objectContaining({ list: expect.anything() }));
	});

	test('accepts a thousand contacts', async () => {
		const bodies = respondWith(ok(1_000));
		const contacts = range(1_000).map((row) => ({ phone: phone(row) }));
		const { error } = await runPush(rowsOf({}), asJson(contacts));
		expect(error).toBeUndefined();
		expect(phonesOf(bodies[0])).toHaveLength(1_000);
	});

	const EXAMPLE = '[{ "phone": "9876543210", "person_name": "Asha Rao" }].';
	const EMPTY = [
		"'Contacts' is empty. Nothing was sent",
		`Enter a JSON array such as ${EXAMPLE}`,
	] as const;
	const NO_LIST = [
		"'Contacts' must be a JSON array of objects. Nothing was sent",
		`Write each contact as an object with its phone number, such as ${EXAMPLE}`,
	] as const;
	const NO_PHONE = [
		'The input has no column "phone", so nothing was sent',
		`Name the column "phone", or in 'Phone Column', enter the name of a column, not a value of it. The first row of a sheet or file must name the columns. The input has: "people".`,
	] as const;

	test.each<[string, unknown, message: string, advice: string]>([
		['white space', ' ', ...EMPTY],
		['a field that the item lacks', '={{ $json.none }}', ...EMPTY],
		['text', 'Asha 9876543210', ...NO_LIST],
		['a list of numbers', ['9876543210'], ...NO_LIST],
		['a list in a list', [[ASHA]], ...NO_LIST],
		['a list inside an object', { people: [ASHA] }, ...NO_PHONE],
		[
			'too many',
			range(1_001).map((row) => ({ phone: phone(row) })),
			"'Contacts' has 1,001 contacts, but JSON input is limited to 1,000. Nothing was sent",
			'Send at most 1,000 at a time, or use input items with one row each.',
		],
	])('%s: nothing is sent', async (_how, contacts, message, description) => {
		const { error } = await runPush(rowsOf({ id: 1 }), asJson(contacts));
		expect(error).toMatchObject({ message, description });
	});

	test.each([
		['not json', `In row 2, ${NO_LIST[0]}`],
		['', `In row 2, ${EMPTY[0]}`],
	])('%j in one of several items: nothing is sent, and the item is named', async (bad, message) => {
		const items = rowsOf({ list: [ASHA] }, { list: bad }, { list: [RAVI] });
		const { error } = await runPush(items, asJson('={{ $json.list }}'));
		expect(error?.message).toBe(message);
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
		[
			'several byte order marks, as joined files have them',
			'\uFEFF\uFEFF"phone","person_name"\n\uFEFF"9876543210","Asha"\n"9876543211",',
		],
		[
			'them before a row that names the delimiter',
			'\uFEFF\uFEFFsep=|\n"phone"|person_name\n9876543210|Asha\n9876543211|',
		],
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
		['phone\n"9876543210', "'Rows' has no end of row 2"],
		[`phone;note\n9876543210;5" pipe\n9876543211;"C`, "'Rows' has no end of row 3"],
		['phone\tphone\n9876543210\t9876543211', 'The header has more than one column "phone"'],
		[
			`phone${',a'.repeat(20_000)}\n${'9876543210\n'.repeat(20_000)}`,
			'The input has more than 200,000,000 characters or 100,000,000 cells',
		],
		[`phone\n${'9'.repeat(2_000_000)}`, "'Rows' has no end of row 2"],
	])('of %#, the message calls the text by its field', async (text, message) => {
		const { error } = await runPush(rowsOf({}), pasted(text));
		expect(error?.message).toContain(message);
		expect(`${error?.message} ${error?.description}`).not.toMatch(/\bfile\b/);
	});

	test('are called by their field in the message of a push that stopped', async () => {
		respondWith(ARCHIVED);
		const { error } = await runPush(rowsOf({}), pasted('phone\n9876543210'));
		expect(error?.description).toContain("Row numbers of 'Rows' are as in a spreadsheet program");
	});
});
