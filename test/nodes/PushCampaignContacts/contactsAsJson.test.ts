import { engineHarness } from '../../engine';
import {
	accepted,
	respondWith,
	contactsOf,
	runPush,
	jsonOf,
	phone,
	phonesOf,
	rowsOf,
} from './pushHarness';

engineHarness();
const ASHA = { phone: '9876543210', person_name: 'Asha', city: 'Pune' };
const RAVI = { phone: '+91 98765-43211', person_name: 'Ravi' };
const asJson = (contacts: unknown) => ({
	contactsFrom: 'json',
	contacts: typeof contacts === 'string' ? contacts : JSON.stringify(contacts),
});

test.each<[string, unknown]>([
	['a list', [ASHA, RAVI]],
	['a list of an expression', '={{ [$json.one, $json.two] }}'],
	['JSON of an expression', '={{ JSON.stringify([$json.one, $json.two]) }}'],
])('pushes %s like rows', async (_how, contacts) => {
	const bodies = respondWith([200, accepted(2)]);
	const input = rowsOf({ one: ASHA, two: RAVI, row_number: 7 });
	const { error, pushed, rejected } = await runPush(input, asJson(contacts));
	expect(error).toBeUndefined();
	expect(contactsOf(bodies[0])).toEqual([ASHA, { ...RAVI, phone: '+919876543211' }]);
	expect(pushed).toMatchObject([{ json: { totals: { pushed: 2 } }, pairedItem: [{ item: 0 }] }]);
	expect(rejected).toEqual([]);
});

test('pushes a single fixed contact once for any number of items', async () => {
	const bodies = respondWith([200, accepted(1)]);
	const { error } = await runPush(rowsOf({}, {}, {}), asJson(ASHA));
	expect(error).toBeUndefined();
	expect(contactsOf(bodies[0])).toEqual([ASHA]);
});

test('pushes the contacts of each item, paired with the item', async () => {
	const bodies = respondWith([200, accepted(2)]);
	const input = rowsOf({ list: [{ phone: '12' }, ASHA] }, { list: [] }, { list: [RAVI] });
	const { pushed, rejected } = await runPush(input, asJson('={{ $json.list }}'));
	expect(phonesOf(bodies[0])).toEqual([ASHA.phone, '+919876543211']);
	expect(pushed).toMatchObject([{ pairedItem: [{ item: 0 }, { item: 2 }] }]);
	expect(rejected).toMatchObject([
		{ json: { phone: '12', rejection_status: 'rejected' }, pairedItem: { item: 0 } },
	]);
});

test('One Item per Row returns the contact, not its input item', async () => {
	respondWith([200, accepted(2)]);
	const { pushed } = await runPush(rowsOf({ a: 1 }, { b: 2 }), {
		...asJson('={{ $itemIndex === 0 ? [] : ' + JSON.stringify([ASHA, RAVI]) + ' }}'),
		options: { output: 'rows' },
	});
	expect(jsonOf(pushed)).toMatchObject([
		{ ...ASHA, push_status: 'pushed' },
		{ ...RAVI, push_status: 'pushed' },
	]);
	expect(pushed.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 1 }]);
});

test.each(['', ' ', '={{ $json.none }}', '={{ "" }}'])('%j is empty', async (contacts) => {
	const { error } = await runPush(rowsOf({ id: 1 }), asJson(contacts));
	expect(error).toMatchObject({
		message: "'Contacts' is empty. Nothing was sent",
		description:
			'Enter a JSON array such as [{ "phone": "9876543210", "person_name": "Asha Rao" }].',
	});
});

const many = (count: number) => Array.from({ length: count }, (_, i) => ({ phone: phone(i) }));
const HAS_NO_PHONE = 'The contacts have no field "phone", so nothing was sent';
const isNoList = "'Contacts' must be a JSON array of objects. Nothing was sent";
test.each<[string, unknown, string]>([
	['text', 'Asha 9876543210', isNoList],
	['a list of numbers', ['9876543210'], isNoList],
	['a list in a list', [[ASHA]], isNoList],
	['a number', '={{ 9876543210 }}', isNoList],
	['a list inside an object', { people: [ASHA] }, HAS_NO_PHONE],
	['no phone', [{ who: 'Asha' }], HAS_NO_PHONE],
	[
		'too many',
		many(1_001),
		"'Contacts' has 1,001 contacts, but JSON input is limited to 1,000. Nothing was sent",
	],
])('%s: nothing is sent', async (_how, contacts, message) => {
	const { error } = await runPush(rowsOf({ id: 1 }), asJson(contacts));
	expect(error?.message).toBe(message);
});

test.each<[string, string]>([
	['not json', `In row 2, ${isNoList}`],
	['', "In row 2, 'Contacts' is empty. Nothing was sent"],
])('%j in one of several items: nothing is sent, and the item is named', async (bad, message) => {
	const items = rowsOf({ list: [ASHA] }, { list: bad }, { list: [RAVI] });
	const { error } = await runPush(items, asJson('={{ $json.list }}'));
	expect(error?.message).toBe(message);
});

test('accepts a thousand contacts', async () => {
	const bodies = respondWith([200, accepted(1_000)]);
	const { error } = await runPush(rowsOf({}), asJson(many(1_000)));
	expect(error).toBeUndefined();
	expect(phonesOf(bodies[0])).toHaveLength(1_000);
});
