/** What is sent for the rows, and what is returned for them. */
import sortBy from 'lodash/sortBy';
import type { INodeExecutionData } from 'n8n-workflow';
import nock from 'nock';
import type { JsonObject } from '../../../nodes/core/values/json';
import { plainText } from '../../../nodes/core/values/values';
import { engineHarness, output, runNode, service, storedCredentials } from '../../engine';
import {
	accepted,
	BROKEN,
	respondWith,
	contactsOf,
	fileItem,
	goOn,
	ok,
	runPush,
	jsonOf,
	manyRows,
	PATH,
	phone,
	phonesOf,
	rowsOf,
	rowsOfItems,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const byRow = { options: { output: 'rows' } };
/** The columns that are added to a row with a number that ends in this digit, or in none. */
const added = (last: string, status = 'pushed') => ({
	push_status: status,
	...(status !== 'pushed' && { rejection_reason: expect.any(String) }),
	...(last !== '' && { phone_key: `91900000000${last}` }),
	...(status === 'pushed' && { campaign_upload_id: 501 }),
});

test('sends rows as contacts, with one read of the credential', async () => {
	const bodies = respondWith(ok(2));
	const before = storedCredentials.reads;
	const { rejected, error, hints } = await runPush(
		rowsOf(
			{ phone: 9876543210, person_name: 'Asha Rao', city: 'Pune' },
			{ phone: '+91 91234 56789', person_name: '', city: 'Delhi' },
		),
	);
	expect([error, rejected]).toEqual([undefined, []]);
	expect(bodies).toEqual([
		{
			agent_uuid: 'agent_5f2c',
			enqueue: false,
			contacts: [
				{ phone: '9876543210', person_name: 'Asha Rao', city: 'Pune' },
				{ phone: '+919123456789', city: 'Delhi' },
			],
		},
	]);
	expect(hints).toEqual([`2 rows: 2 pushed. ${WAITING}`]);
	expect(storedCredentials.reads - before).toBe(1);
});

test('Additional Body Fields and Additional Query Fields replace no documented field', async () => {
	const body = { source: 'sheet', agent_uuid: 'agent_5f2c', enqueue: false };
	service()
		.post(PATH, { ...body, contacts: [{ phone: '9876543210' }] })
		.query({ locale: 'en' })
		.reply(200, accepted(1));
	const { error } = await runPush(rowsOf({ phone: '9876543210' }), {
		options: {
			additionalBodyFields: '{ "source": "sheet", "agent_uuid": "agent_other", "contacts": [] }',
			additionalQueryParameters: '{ "locale": "en" }',
		},
	});
	expect(error).toBeUndefined();
	expect(nock.isDone()).toBe(true);
});

describe('Output: One Item per Row', () => {
	test('returns each row once, in Pushed, Rejected, or Skipped', async () => {
		const lists = {
			dnd_skipped: [{ phone: '+919000000002' }],
			engine_skipped_duplicates: ['9000000003'],
		};
		respondWith([200, accepted(3, lists)]);
		const asha = { row_number: 3, phone: '90000-00001', person_name: 'Asha', city: 'Pune' };
		const delhi = { row_number: 4, phone: '+91 90000 00001', person_name: 'A', city: 'Delhi' };
		const { pushed, rejected, skipped } = await runPush(
			rowsOf(
				{ phone: 'call me', city: 'Agra' },
				asha,
				delhi,
				{ phone: 9000000002 },
				{ phone: '09000000003' },
			),
			byRow,
		);
		expect(pushed).toEqual([{ json: { ...asha, ...added('1') }, pairedItem: { item: 1 } }]);
		expect(rejected).toEqual([
			{
				json: { phone: 'call me', city: 'Agra', ...added('', 'rejected') },
				pairedItem: { item: 0 },
			},
		]);
		expect(jsonOf(skipped)).toEqual([
			{ ...delhi, ...added('1', 'duplicate') },
			{ phone: 9000000002, ...added('2', 'do_not_disturb') },
			{ phone: '09000000003', ...added('3', 'duplicate') },
		]);
		expect(skipped.map(({ pairedItem }) => pairedItem)).toEqual(
			[2, 3, 4].map((item) => ({ item })),
		);
	});

	test('returns the contact list of each row', async () => {
		respondWith([200, accepted(1, { campaign_upload_id: 7 })], BROKEN);
		const { pushed, rejected } = await runPush(
			manyRows(3),
			{ options: { output: 'rows', contactsPerRequest: 1 } },
			goOn,
		);
		expect(pushed.map(({ json }) => json.campaign_upload_id)).toEqual([7]);
		expect(rejected.map(({ json }) => [json.push_status, json.campaign_upload_id])).toEqual([
			['unknown', undefined],
			['not_sent', undefined],
		]);
	});

	test('a rejected row is pushed again after its number is corrected, and has no reason then', async () => {
		const asha = { phone: '98765', person_name: 'Asha', city: 'Pune', row_number: 2 };
		const { rejected } = await runPush(rowsOf({ ...asha, push_status: 'not_sent' }), byRow);
		expect(jsonOf(rejected)).toMatchObject([
			{ push_status: 'rejected', rejection_reason: expect.stringMatching(/^"98765" has/) },
		]);
		const bodies = respondWith(ok(1));
		const corrected = { ...rejected[0]?.json, phone: '+91 98765 43210' };
		const { pushed, error } = await runPush([{ json: corrected }], byRow);
		expect(error).toBeUndefined();
		const sent = { phone: '+919876543210', person_name: 'Asha', city: 'Pune' };
		expect(contactsOf(bodies[0])).toEqual([sent]);
		expect(pushed[0]?.json).toEqual({
			...asha,
			phone: '+91 98765 43210',
			push_status: 'pushed',
			rejection_reason: '',
			phone_key: '919876543210',
			campaign_upload_id: 501,
		});
	});

	test('sends no error of an earlier item', async () => {
		const error = { error: 'No', message: 'Correct it', details: { outcome: 'not_sent' } };
		const bodies = respondWith(ok(1));
		await runPush(rowsOf({ phone: phone(1), ...error }), byRow);
		expect(contactsOf(bodies[0])).toEqual([{ phone: phone(1) }]);
	});

	test('is the default, also for a CSV file', async () => {
		const agentUuid = { __rl: true, mode: 'id', value: 'agent_5f2c' };
		const parameters = { campaignId: '42', agentUuid, whatToDo: 'wait', contactsFrom: 'csv' };
		const node = harness.node('pushCampaignContacts', { parameters });
		respondWith(ok(2));
		const file = fileItem('leads.csv', `phone\n${phone(1)}\n${phone(2)}\n`);
		const pushed = output(await runNode(node, [file]), 'Node');
		expect(jsonOf(pushed)).toMatchObject([{ phone: phone(1) }, { phone: phone(2) }]);
	});
});

const allSkipped: JsonObject = { dnd_skipped: [phone(0), phone(1)] };

test.each<[string, number[], INodeExecutionData[], response: JsonObject | null]>([
	['no row can be used', [0, 1], rowsOf({ phone: '1' }, { phone: '' }), null],
	['a file has no row', [0], [fileItem('a.csv', 'phone\n')], null],
	['the service skips all', [0, 1], manyRows(2), allSkipped],
])(
	'without a pushed row, the summary is paired with the input: %s',
	async (_what, from, input, response) => {
		if (response !== null) respondWith([200, accepted(2, response)]);
		const contactsFrom = input[0]?.binary === undefined ? 'items' : 'csv';
		const { pushed } = await runPush(input, { contactsFrom });
		expect(pushed).toHaveLength(1);
		expect(rowsOfItems(pushed)).toEqual(from);
	},
);

test.each<[string, NodeParameters]>([
	['One Item per Row', byRow],
	['One Summary Item', {}],
])(
	'with %s, status and reason are the first columns, and those of an earlier push are emptied',
	async (_output, parameters) => {
		respondWith(ok(1));
		const earlier = {
			...{ rejection_reason: 'y', city: 'Pune', push_status: 'z' },
			...{ phone_key: 'y', campaign_upload_id: 7, row_number: 2 },
		};
		const rows = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: 'x', ...earlier });
		const { rejected } = await runPush(rows, parameters);
		expect(rejected.map(({ json }) => Object.keys(json).slice(0, 2))).toEqual([
			['push_status', 'rejection_reason'],
		]);
		// Google Sheets keeps a cell that gets null.
		expect(jsonOf(rejected)).toMatchObject([{ phone_key: '', campaign_upload_id: '' }]);
	},
);

describe('rows that an earlier push returned', () => {
	const COLUMNS = ['phone', 'push_status'];
	const csvOf = (rows: JsonObject[]) =>
		[COLUMNS, ...rows.map((row) => COLUMNS.map((name) => plainText(row[name])))].join('\n');
	const ITEM = rowsOf({});

	test.each<[string, (rows: JsonObject[]) => [INodeExecutionData[], NodeParameters]]>([
		['input items', (rows) => [rowsOf(...rows), {}]],
		['a file', (rows) => [[fileItem('a.csv', csvOf(rows))], { contactsFrom: 'csv' }]],
		['pasted rows', (rows) => [ITEM, { contactsFrom: 'pasted', pastedRows: csvOf(rows) }]],
	])('are pushed again as %s without those that may have been called', async (_from, inputOf) => {
		const bodies = respondWith(ok(2));
		const statuses = [' Unknown ', 'sent_before', 'rejected', 'duplicate'];
		const rows = statuses.map((push_status, row) => ({ phone: phone(row), push_status }));
		const [input, parameters] = inputOf(rows);
		const again = await runPush(input, { ...parameters, ...byRow }, goOn);
		expect(bodies.map(phonesOf)).toEqual([[phone(2), phone(3)]]);
		const leftOut = [...again.rejected, ...again.skipped].map(({ json }) => json);
		expect(leftOut).toMatchObject(
			['unknown', 'sent_before'].map((push_status, row) => ({
				push_status,
				rejection_reason: expect.stringMatching(/ To push it, empty /),
				phone_key: `91${phone(row)}`,
			})),
		);
	});

	test('are pushed once their status is empty', async () => {
		const bodies = respondWith(ok(3));
		const rows = ['', null, ' '].map((push_status, row) => ({ phone: phone(row), push_status }));
		await runPush(rowsOf(...rows), byRow);
		expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1), phone(2)]]);
	});

	test.each(['unknown', 'sent_before'])(
		'leave out other rows with their number, if their status is %s',
		async (push_status) => {
			const bodies = respondWith(ok(1));
			const rows: JsonObject[] = [
				{ phone: `+91 ${phone(0)}`, person_name: 'Asha' },
				{ phone: phone(0), push_status },
				{ phone: phone(0), person_name: 'A longer name' },
				{ phone: phone(1) },
			];
			const { statuses } = await runPush(rowsOf(...rows), byRow, goOn);
			expect(statuses).toEqual([0, 1, 2].map((row) => `${row} ${push_status}`));
			expect(bodies.map(phonesOf)).toEqual([[phone(1)]]);
		},
	);

	test.each<[string, NodeParameters, JsonObject]>([
		['the push cannot begin', { phoneColumn: 'Number' }, {}],
		['their number is unusable, such as while a formula fails', {}, { phone: '#REF!' }],
	])('keep a status that leaves them out if %s', async (_why, parameters, over) => {
		const before = ['unknown', 'sent_before'];
		const rows = before.map((push_status, row) => ({ phone: phone(row), push_status, ...over }));
		const { statuses } = await runPush(rowsOf(...rows), { ...byRow, ...parameters }, goOn);
		expect(statuses).toEqual(before.map((status, row) => `${row} ${status}`));
	});

	test('keep the contact list of the push that sent them', async () => {
		const row = { phone: phone(0), push_status: 'sent_before', campaign_upload_id: 7 };
		const { skipped } = await runPush(rowsOf(row), byRow);
		expect(skipped).toMatchObject([{ json: { campaign_upload_id: 7 } }]);
	});
});

const kept = (which: string) =>
	`${which} has the same number and was kept. The node pushes one row per phone number.`;
const noText = (column: string) =>
	`The name in column "${column}" isn't text. Enter the name as plain text.`;
const [ASHA, VIKRAM] = ['9876543210', '9123456789'];

test.each<[string, Array<[row: JsonObject, reason?: string]>]>([
	[
		'of rows with the same number, the longest name at any position',
		[
			[{ phone: ASHA, person_name: 'Asha' }, kept('Asha M. Rao (row 6)')],
			[{ phone: '+91 98765 43210', person_name: 'Asha Rao' }, kept('Asha M. Rao (row 6)')],
			[{ phone: VIKRAM, person_name: 'Vikram Singh' }],
			[{ phone: 9123456789, person_name: 'Vikram' }, kept('Vikram Singh (row 3)')],
			[{ phone: '09876543210', person_name: 'A. Rao' }, kept('Asha M. Rao (row 6)')],
			[{ phone: '919876543210', person_name: 'Asha M. Rao' }],
		],
	],
	[
		'of equally long names without the white space around them, the earlier',
		[
			[{ phone: ASHA, person_name: 'Asha' }],
			[{ phone: ASHA, person_name: '  Asha   ' }, kept('Asha (row 1)')],
			[{ phone: VIKRAM }],
			[{ phone: VIKRAM, person_name: null }, kept('Row 3')],
		],
	],
	[
		'a name before a word that is none',
		[
			[{ phone: ASHA, person_name: '#NAME?' }, kept('Asha (row 2)')],
			[{ phone: ASHA, person_name: 'Asha' }],
			[{ phone: VIKRAM, person_name: 'Ravi' }],
			[{ phone: VIKRAM, person_name: 'undefined undefined' }, kept('Ravi (row 3)')],
		],
	],
	[
		'the first row, which is named by its number in Google Sheets',
		[
			[{ row_number: 2, phone: ASHA, person_name: 'Asha' }],
			[{ row_number: 3, phone: ASHA }, kept('Asha (row 2)')],
			[{ row_number: 5, phone: VIKRAM }],
			[{ row_number: 6, phone: VIKRAM }, kept('Row 5')],
		],
	],
	[
		'no row that cannot be used, and each is rejected once',
		[
			[{ person_name: 'Asha' }, 'The phone column of this row is empty.'],
			[{ phone: ASHA, person_name: { first: 'Asha' } }, noText('person_name')],
			[{ phone: ASHA, person_name: 42 }],
		],
	],
])('pushes %s', async (_which, rows) => {
	respondWith(ok(rows.filter(([, reason]) => reason === undefined).length));
	const input = rowsOf(...rows.map(([row]) => row));
	const { pushed, rejected, skipped } = await runPush(input, byRow);
	const found = [...pushed, ...rejected, ...skipped].map(({ json, pairedItem }) => [
		pairedItem,
		json.rejection_reason,
	]);
	expect(sortBy(found, '0.item')).toEqual(rows.map(([, reason], item) => [{ item }, reason]));
});
