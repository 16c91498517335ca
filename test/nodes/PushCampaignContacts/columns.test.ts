/** Which columns a push reads, and what of them the service receives. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/core/values/json';
import { engineHarness, engineTool } from '../../engine';
import {
	contactsOf,
	fileItem,
	ok,
	phone,
	pushNode,
	respondWith,
	rowsOf,
	runPush,
	sent,
	type NodeParameters,
} from './pushHarness';

engineHarness();
const RIGHT = '9876543210';
const OTHER = '9123456789';

/** The contacts that the service receives for these rows. */
async function contactsFor(parameters: NodeParameters, ...rows: JsonObject[]) {
	return (await sent(parameters, ...rows)).flatMap(contactsOf);
}

const listed = (columnsToSend: string): NodeParameters => ({ options: { columnsToSend } });

describe('the phone column', () => {
	test.each<[string, JsonObject, phoneColumn?: string]>([
		['of this name', { phone: RIGHT, Phone: OTHER, Mobile: OTHER }],
		['with spaces and a mark', { '\ufeff PHONE ': RIGHT }],
		['before any synonym', { Mobile: OTHER, PHONE: RIGHT }],
		['by a synonym in another case', { mobile_no: RIGHT }],
		['by a synonym in another spacing', { ' MobileNo.': RIGHT }],
		['by a synonym, not by another heading', { WhatsApp: OTHER, Mobile: RIGHT }],
		['as entered, in another case', { WhatsApp: RIGHT, phone: OTHER }, 'whatsapp'],
		['in brackets', { 'Mobile No.': RIGHT }, "['Mobile No.']"],
		['nested, in brackets', { properties: { 'a b': RIGHT } }, "properties['a b']"],
		['nested in a list', { list: [OTHER, { n: RIGHT }] }, 'list[1].n'],
		['with a dot, before a nested one', { 'a.b': RIGHT, a: { b: OTHER } }, 'a.b'],
		['nested, before one with a similar name', { 'A B': OTHER, a: { b: RIGHT } }, 'a.b'],
	])('is found %s', async (_how, row, phoneColumn = 'phone') => {
		const contacts = await contactsFor({ phoneColumn, ...listed('') }, row);
		expect(contacts.map((contact) => contact.phone)).toEqual([RIGHT]);
	});

	test.each<[JsonObject, reason: RegExp]>([
		[{ Phone: 'landline', Mobile: OTHER }, /^"landline" isn't a phone number/],
		[{ phone: '', Mobile: '' }, /^The phone column of this row is empty/],
	])('of %j is not replaced by another one', async (row, reason) => {
		const { rejected } = await runPush(rowsOf(row));
		expect(rejected.map(({ json }) => json.rejection_reason)).toEqual([
			expect.stringMatching(reason),
		]);
	});
});

describe('names', () => {
	test.each<[string, JsonObject, NodeParameters, JsonObject]>([
		['the default column', { person_name: ' Asha ' }, {}, { person_name: 'Asha' }],
		['a synonym', { 'Full Name': 'Asha' }, {}, { person_name: 'Asha' }],
		['a call record', { caller_name: 'Asha' }, {}, { person_name: 'Asha' }],
		[
			'an entered column',
			{ person_name: 'x', Lead: 'Asha' },
			{ personNameColumn: 'lead' },
			{ person_name: 'Asha' },
		],
		['no column if the field is empty', { person_name: 'Asha' }, { personNameColumn: '' }, {}],
		['a number', { person_name: 7 }, {}, { person_name: '7' }],
		['white space', { person_name: '\u00a0' }, {}, {}],
		['a word for no name', { person_name: 'null' }, {}, {}],
	])('are read from %s', async (_from, row, parameters, contact) => {
		expect(await contactsFor(parameters, { phone: RIGHT, ...row })).toEqual([
			{ phone: RIGHT, ...contact },
		]);
	});

	test('are never inherited from any object', async () => {
		const rows: JsonObject[] = [{ phone: RIGHT, toString: 'Asha' }, { phone: OTHER }];
		const parameters = { personNameColumn: 'toString', ...listed('') };
		expect(await contactsFor(parameters, ...rows)).toEqual([
			{ phone: RIGHT, person_name: 'Asha' },
			{ phone: OTHER },
		]);
	});

	const nameless = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: phone(1), city: 'Delhi' });
	const release = { whatToDo: 'release' };

	test('without them, people are released only if that is chosen', async () => {
		const { error } = await runPush(nameless, release);
		expect(error).toMatchObject({
			message: 'The input has no column "person_name", so nothing was sent',
			description: expect.stringMatching(
				/Empty it to push without names\..* has: "phone", "city"\.$/,
			),
		});
		const bodies = respondWith(ok(2));
		const chosen = await runPush(nameless, { ...release, personNameColumn: '' });
		expect(chosen.error).toBeUndefined();
		expect(bodies.flatMap(contactsOf)).toHaveLength(2);
	});

	test('without them, a single person is released, and a list is added to wait', async () => {
		respondWith(ok(1), ok(2));
		const { error } = await runPush(nameless.slice(0, 1), release);
		const { error: ofList } = await runPush(nameless);
		expect([error, ofList]).toEqual([undefined, undefined]);
	});
});

describe('a column that is missing', () => {
	test.each<[string[], NodeParameters, name: string, field: string]>([
		[['Mobile'], { phoneColumn: 'whatsapp' }, 'whatsapp', 'Phone Column'],
		[['properties'], { phoneColumn: 'properties.mobile' }, 'properties.mobile', 'Phone Column'],
		[['Phone?'], {}, 'phone', 'Phone Column'],
		// Its phone_number is that of the person who was asked.
		[['answer', 'asked', 'phone_number'], {}, 'phone', 'Phone Column'],
		[['phone'], listed('city'), 'city', 'Columns to Send'],
		[['phone', 'Grade A*'], listed('Grade A'), 'Grade A', 'Columns to Send'],
	])('of %j with %j: nothing is sent', async (columns, parameters, name, field) => {
		const row = Object.fromEntries(columns.map((column) => [column, 'x']));
		const { error } = await runPush(rowsOf(row), parameters);
		expect(error).toMatchObject({
			message: `The input has no column "${name}", so nothing was sent`,
			description: `Name the column "${name}", or in '${field}', enter the name of a column, not a value of it. The first row of a sheet or file must name the columns. The input has: "${columns.join('", "')}".`,
		});
	});

	const cells = (...row: Array<string | number>) =>
		Object.fromEntries(row.map((cell, index) => [`c${index}`, cell]));
	const file = (text: string) => [fileItem('a.csv', text)];

	test.each<[string, INodeExecutionData[], columns: string]>([
		[
			'those with phone numbers first',
			rowsOf(cells('Asha', RIGHT, 1), cells('Bela', '', Number(RIGHT)), cells('x', OTHER, 3)),
			'"c1" with phone numbers, "c0", "c2"',
		],
		[
			'those of all rows, in order of appearance, up to the twentieth',
			rowsOf({ a: 1, b0: 1 }, { b1: 1, a: 1 }, cells(...Array.from({ length: 22 }, () => 'x'))),
			`"a", "b0", "b1", ${Array.from({ length: 17 }, (_, i) => `"c${i}"`).join(', ')}, and 5 more`,
		],
		['those of a file', file('a,,name.first\n1,2\n'), '"a", "name.first"'],
		['the cells of a first person', file(`${RIGHT},Bela\n`), `"${RIGHT}", "Bela"`],
	])('lists the columns: %s', async (_what, input, columns) => {
		const contactsFrom = input[0]?.binary === undefined ? 'items' : 'csv';
		const { error } = await runPush(input, { contactsFrom });
		expect(error?.message).toBe('The input has no column "phone", so nothing was sent');
		expect(error?.description).toContain(` The input has: ${columns}.`);
	});

	test('is also one that a file without a header seems to have: its first person', async () => {
		const parameters = { contactsFrom: 'csv', phoneColumn: RIGHT };
		const { error } = await runPush(file(`${RIGHT},Bela\n${OTHER},Asha\n`), parameters);
		expect(error?.message).toBe(`The input has no column "${RIGHT}", so nothing was sent`);
	});
});

test.each<[JsonObject, NodeParameters, name: string, columns: string, field: string]>([
	[{ phone: RIGHT, City: 1, CITY: 2 }, listed('city'), 'city', '"City", "CITY"', 'Columns to Send'],
	[{ Mobile: RIGHT, 'Phone No': OTHER }, {}, 'phone', '"Mobile", "Phone No"', 'Phone Column'],
])('if several columns of %j match, nothing is sent', async (row, given, name, columns, field) => {
	const { error } = await runPush(rowsOf(row), given);
	expect(error).toMatchObject({
		message: `Several columns match "${name}": ${columns}. Nothing was sent`,
		description: `Name only one of them "${name}", or in '${field}', enter the exact name of the column.`,
	});
});

describe('other columns', () => {
	test.each<[NodeParameters, JsonObject]>([
		[{}, { city: 'Pune', plan: 'gold', age: 41, isMember: false }],
		[listed(''), {}],
		[listed('City, phone, person_name, plan'), { city: 'Pune', plan: 'gold' }],
		[listed('={{ ["age"] }}'), { age: 41 }],
	])('with %j', async (parameters, others) => {
		const row = { phone: RIGHT, city: 'Pune', plan: 'gold', age: 41, isMember: false };
		const contacts = await contactsFor(parameters, { ...row, person_name: 'Asha' });
		expect(contacts).toEqual([{ phone: RIGHT, person_name: 'Asha', ...others }]);
	});

	test('can be dragged: nested ones are sent by their last name, or by their path if it is used', async () => {
		const a = { City: 'Delhi', plan: 'x', phone: '1' };
		const row = { 'Plan new': 'gold', City: 'Pune', a };
		const parameters = listed("['Plan new'], city, a.City, a.plan, a.phone");
		expect(await contactsFor(parameters, { phone: RIGHT, ...row })).toEqual([
			{
				phone: RIGHT,
				'Plan new': 'gold',
				City: 'Pune',
				'a.City': 'Delhi',
				plan: 'x',
				'a.phone': '1',
			},
		]);
	});

	const ADDED = {
		push_status: 'x',
		rejection_reason: 'x',
		phone_key: 'x',
		campaign_upload_id: 1,
		'': 'x',
	};
	const TABLE = { id: 1, createdAt: 'x', updatedAt: 'x' };
	test.each<[string, JsonObject, JsonObject]>([
		['this node', ADDED, {}],
		['Google Sheets', { row_number: 2 }, {}],
		['a data table', TABLE, {}],
		// Only a data table has all three, so an ID of another source is sent.
		['another table', { id: 1, createdAt: 'x' }, { id: 1, createdAt: 'x' }],
		[
			'a chat, of which only a tool gets columns that AI Agent adds',
			{ sessionId: 1 },
			{ sessionId: 1 },
		],
	])('are not sent if they are added by %s', async (_source, columns, others) => {
		expect(await contactsFor({}, { phone: RIGHT, ...columns })).toEqual([
			{ phone: RIGHT, ...others },
		]);
	});

	test('that other nodes add are sent if they are listed, and those of this node never', async () => {
		const parameters = listed('row_number, id, push_status');
		const row = { phone: RIGHT, row_number: 2, ...TABLE, ...ADDED };
		expect(await contactsFor(parameters, row)).toEqual([{ phone: RIGHT, row_number: 2, id: 1 }]);
	});

	test('that Chat Trigger or AI Agent add to the row of a tool are not sent', async () => {
		const bodies = respondWith(ok());
		const row = {
			phone: RIGHT,
			city: 'Pune',
			toolCallId: 1,
			chatInput: 1,
			sessionId: 1,
			action: 1,
		};
		expect(await engineTool(pushNode(), { row })()).toMatchObject({ outcome: 'done' });
		expect(contactsOf(bodies[0])).toEqual([{ phone: RIGHT, city: 'Pune' }]);
	});

	test('have any value of JSON, and no word that stands for no value', async () => {
		const kept = {
			age: 4,
			isMember: false,
			tags: ['a'],
			a: { b: 1 },
			none: null,
			rating: '-',
			size: 'Na',
			offer: '50% off, 20% more',
		};
		const row = { phone: RIGHT, ...kept, city: '#REF!', plan: 'NULL', note: 'Hello [[name]]' };
		const contact = { phone: RIGHT, ...kept, city: '', plan: '', note: '' };
		expect(await contactsFor({}, row)).toEqual([contact]);
		expect(await contactsFor(listed('city, rating'), row)).toEqual([
			{ phone: RIGHT, city: '', rating: '-' },
		]);
	});

	test('without a value in JSON are left out, and inherited ones, too', async () => {
		const bodies = respondWith(ok(2));
		const own = { phone: phone(1), toString: 'x', properties: { toString: 'y' } };
		const odd = Object.assign({ phone: phone(0), properties: {} }, { b: () => 1 });
		const input = [...rowsOf(own), { json: odd }];
		const { error } = await runPush(input, listed('toString, properties.toString, b'));
		expect(error).toBeUndefined();
		const contacts: JsonObject[] = [
			{ phone: phone(1), toString: 'x', 'properties.toString': 'y' },
			{ phone: phone(0) },
		];
		expect(contactsOf(bodies[0])).toEqual(contacts);
	});

	test('can have any name but __proto__, which is left out', async () => {
		const others = '"constructor":"c","toString":"t"';
		const row: JsonObject = JSON.parse(`{"phone":"${RIGHT}","__proto__":{"phone":"1"},${others}}`);
		const [contact] = await contactsFor({}, row);
		expect(JSON.stringify(contact)).toBe(`{"phone":"${RIGHT}",${others}}`);
	});
});

test('a hint names the columns with other names than those entered', async () => {
	respondWith(ok());
	const row = { 'Mobile No.': phone(0), Name: 'Asha' };
	const { hints } = await runPush(rowsOf(row), { personNameColumn: 'name' });
	expect(hints[1]).toBe('Columns used: "Mobile No." as phone, "Name" as name.');
});
