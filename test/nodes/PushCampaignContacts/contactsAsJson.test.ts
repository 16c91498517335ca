import type { IDataObject } from 'n8n-workflow';
import { isJsonObject, type JsonObject } from '../../../nodes/shared/json';
import {
	newExecutionData,
	engineHarness,
	engineTool,
	inlineTool,
	mcpTool,
	type CallTool,
} from '../../engine';
import {
	accepted,
	respondWith,
	contactsOf,
	runPush,
	pushNode,
	jsonOf,
	phone,
	phonesOf,
	rejection,
	rowsOf,
} from './pushHarness';

const harness = engineHarness();
const ASHA = { phone: '9876543210', person_name: 'Asha', city: 'Pune' };
const RAVI = { phone: '+91 98765-43211', person_name: 'Ravi' };
const asJson = (contacts: unknown) => ({
	contactsFrom: 'json',
	contacts: typeof contacts === 'string' ? contacts : JSON.stringify(contacts),
});

describe('in a workflow', () => {
	test.each<[string, unknown]>([
		['a list', [ASHA, RAVI]],
		['a list of an expression', '={{ [$json.one, $json.two] }}'],
		['JSON of an expression', '={{ JSON.stringify([$json.one, $json.two]) }}'],
	])('pushes %s like rows', async (_how, contacts) => {
		const bodies = respondWith([200, accepted(2)]);
		const input = rowsOf({ one: ASHA, two: RAVI, row_number: 7 });
		const { error, pushed, rejected } = await runPush(harness, input, asJson(contacts));
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([ASHA, { ...RAVI, phone: '+919876543211' }]);
		expect(pushed).toMatchObject([{ json: { totals: { pushed: 2 } }, pairedItem: [{ item: 0 }] }]);
		expect(rejected).toEqual([]);
	});

	test('accepts a single contact', async () => {
		const bodies = respondWith([200, accepted(1)]);
		await runPush(harness, rowsOf({}), asJson(ASHA));
		expect(contactsOf(bodies[0])).toEqual([ASHA]);
	});

	test('pushes fixed contacts once for any number of items', async () => {
		const bodies = respondWith([200, accepted(1)]);
		const { error } = await runPush(harness, rowsOf({}, {}, {}), asJson([ASHA]));
		expect(error).toBeUndefined();
		expect(phonesOf(bodies[0])).toEqual([ASHA.phone]);
	});

	test('pushes the contacts of each item, paired with the item', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const input = rowsOf({ list: [{ phone: '12' }, ASHA] }, { list: [] }, { list: [RAVI] });
		const { pushed, rejected } = await runPush(harness, input, asJson('={{ $json.list }}'));
		expect(phonesOf(bodies[0])).toEqual([ASHA.phone, '+919876543211']);
		expect(pushed).toMatchObject([{ pairedItem: [{ item: 0 }, { item: 2 }] }]);
		expect(rejected).toMatchObject([
			{ json: { phone: '12', rejection_status: 'rejected' }, pairedItem: { item: 0 } },
		]);
	});

	test('One Item per Row returns the contact, not its input item', async () => {
		respondWith([200, accepted(2)]);
		const { pushed } = await runPush(harness, rowsOf({ a: 1 }, { b: 2 }), {
			...asJson('={{ $itemIndex === 0 ? [] : ' + JSON.stringify([ASHA, RAVI]) + ' }}'),
			options: { output: 'rows' },
		});
		expect(jsonOf(pushed)).toMatchObject([
			{ ...ASHA, push_status: 'pushed' },
			{ ...RAVI, push_status: 'pushed' },
		]);
		expect(pushed.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 1 }]);
	});

	test('no contacts is a valid input', async () => {
		const { error, pushed, hints } = await runPush(harness, rowsOf({}), asJson('={{ [] }}'));
		expect(error).toBeUndefined();
		expect(pushed).toEqual([]);
		expect(hints).toEqual(['No rows to push. Nothing was sent.']);
	});

	test.each(['', ' ', '={{ $json.none }}', '={{ "" }}'])('%j is empty', async (contacts) => {
		const { error } = await runPush(harness, rowsOf({ id: 1 }), asJson(contacts));
		expect(error).toMatchObject({
			message: "'Contacts' is empty. Nothing was sent",
			description:
				'Enter a JSON array such as [{ "phone": "9876543210", "person_name": "Asha Rao" }].',
		});
	});

	const many = (count: number) => Array.from({ length: count }, (_, i) => ({ phone: phone(i) }));
	const isNoList = "'Contacts' must be a JSON array of objects. Nothing was sent";
	test.each<[string, unknown, string]>([
		['text', 'Asha 9876543210', isNoList],
		['a list of numbers', ['9876543210'], isNoList],
		['a list in a list', [[ASHA]], isNoList],
		['a number', '={{ 9876543210 }}', isNoList],
		[
			'a list inside an object',
			{ people: [ASHA] },
			'The contacts are inside the field "people", so nothing was sent',
		],
		['no phone', [{ who: 'Asha' }], 'The contacts have no field "phone", so nothing was sent'],
		[
			'too many',
			many(1_001),
			"'Contacts' has 1,001 contacts, but JSON input is limited to 1,000. Nothing was sent",
		],
	])('%s: nothing is sent', async (_how, contacts, message) => {
		const { error } = await runPush(harness, rowsOf({ id: 1 }), asJson(contacts));
		expect(error?.message).toBe(message);
	});

	test('with Continue, Rejected lists the input items if the contacts cannot be read', async () => {
		const { rejected } = await runPush(harness, rowsOf({ id: 1 }), asJson('none'), {
			onError: 'continueRegularOutput',
		});
		expect(rejected).toMatchObject([{ json: { id: 1, rejection_status: 'not_sent' } }]);
	});

	test('accepts a thousand contacts', async () => {
		const bodies = respondWith([200, accepted(1_000)]);
		const { error } = await runPush(harness, rowsOf({}), asJson(many(1_000)));
		expect(error).toBeUndefined();
		expect(phonesOf(bodies[0])).toHaveLength(1_000);
	});
});

describe.each<[string, (call: { data: ReturnType<typeof newExecutionData> }) => CallTool]>([
	['run by the engine', (run) => engineTool(harness.credentials, toolNode(), run)],
	['run by the agent', (run) => inlineTool(harness.credentials, toolNode(), run)],
	['run for an MCP client', () => mcpTool(harness.credentials, toolNode(), 'json contacts')],
])('as a tool %s', (name, make) => {
	const start = () => {
		const call = make({ data: newExecutionData() });
		// Fields that the agent adds to its row aren't part of a contact.
		return async (contacts: unknown) => {
			const args: IDataObject = { chatInput: 'call them', sessionId: name };
			return await call({ ...args, contacts: isList(contacts) ? contacts : [] });
		};
	};

	test('pushes the contacts once, without the fields that n8n adds', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const push = start();
		const contacts = [
			{ ...ASHA, phone: `9876${name.length}0001` },
			{ ...RAVI, phone: `9876${name.length}0002`, action: 'renew', sessionId: 'of Ravi' },
		];
		expect(await push(contacts)).toMatchObject({
			outcome: 'done',
			id: 501,
			result: { totals: { received: 2, pushed: 2 }, rejected: [] },
		});
		expect(contactsOf(bodies[0])).toEqual(contacts);
		expect(await push(contacts)).toMatchObject({ outcome: 'already_done', id: 501 });
	});

	test('returns rejected contacts beside the pushed ones', async () => {
		const push = start();
		respondWith([200, accepted(1)]);
		const good = { phone: `9866${name.length}0001`, person_name: 'Good' };
		expect(await push([{ phone: '12' }, good])).toMatchObject({
			outcome: 'partly_done',
			result: { totals: { pushed: 1, rejected: 1 }, rejected: [{ phone: '12' }] },
		});
	});

	test('reports a rejection and an empty list', async () => {
		const push = start();
		respondWith([409, rejection('Campaign is archived')]);
		const contact = { phone: `9867${name.length}0001` };
		expect(await push([contact])).toMatchObject({ outcome: 'rejected' });
		expect(await push([])).toMatchObject({
			outcome: 'not_sent',
			what_happened: 'No contact was given, so nothing was sent.',
		});
	});
});

const toolNode = () =>
	pushNode(harness, { contactsFrom: 'json', contacts: "={{ $fromAI('contacts', '', 'json') }}" });

const isList = (value: unknown): value is JsonObject[] =>
	Array.isArray(value) && value.every(isJsonObject);
