/** What is sent for the rows, and what is returned for them. */
import nock from 'nock';
import { asRecord } from '../../../nodes/shared/json';
import { engineHarness, hintsOf, output, runNode, service, storedCredentials } from '../../engine';
import {
	accepted,
	respondWith,
	breaking,
	contactsOf,
	fileItem,
	goOn,
	ok,
	pushNode,
	runPush,
	jsonOf,
	manyRows,
	PATH,
	phone,
	rowsOf,
	sent,
	totals,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const byRow = { options: { output: 'rows' } };
/** The columns that are added to a row whose number was sent, by the number's last digit. */
const added = (last: string, status = 'pushed') => ({
	push_status: status,
	push_warnings: null,
	phone_sent: last === '' ? null : `900000000${last}`,
	phone_key: last === '' ? null : `91900000000${last}`,
	campaign_upload_id: 501,
});

test('sends rows as contacts, and returns the whole response', async () => {
	const bodies = respondWith([
		200,
		{ ...accepted(2, { unforeseen: 'kept' }), message: 'beside data' },
	]);
	const before = storedCredentials.reads;
	const { pushed, rejected, error, hints } = await runPush(
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
	expect(pushed).toEqual([
		{
			json: {
				...asRecord(accepted(2).data ?? null),
				unforeseen: 'kept',
				message: 'beside data',
				summary: `2 rows: 2 pushed. ${WAITING}`,
				totals: { received: 2, pushed: 2, ...totals },
			},
			pairedItem: [{ item: 0 }, { item: 1 }],
		},
	]);
	expect(hints).toEqual([`2 rows: 2 pushed. ${WAITING}`]);
	// One read of the credential for all rows.
	expect(storedCredentials.reads - before).toBe(1);
});

test('Additional Body Fields and Additional Query Fields replace no documented field', async () => {
	const body = { source: 'sheet', agent_uuid: 'agent_5f2c', enqueue: false };
	service()
		.post(PATH, { ...body, contacts: [{ phone: '9876543210' }] })
		.query({ locale: 'en' })
		.reply(200, accepted(1));
	const { error } = await runPush(rowsOf({ phone: '9876543210' }), {
		developerSettings: {
			additionalBodyFields: '{ "source": "sheet", "agent_uuid": "agent_other", "contacts": [] }',
			additionalQueryParameters: '{ "locale": "en" }',
		},
	});
	expect(error).toBeUndefined();
	expect(nock.isDone()).toBe(true);
});

describe('columns', () => {
	test('can be mapped, even if another column has the name of the documented field', async () => {
		const parameters = { phoneColumn: 'WhatsApp', personNameColumn: 'lead' };
		const row = { phone: '0201234567', WhatsApp: '98765 43210', Lead: 'Asha', person_name: 'x' };
		const [body] = await sent(parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', person_name: 'Asha' }]);
	});

	test.each([
		['no column', {}, 'The input has no column "person_name"'],
		['an empty column', { person_name: ' ' }, 'The column "person_name" is empty in every row'],
		['a field left empty', { Name: 'Asha', personNameColumn: '' }, undefined],
		['a name in one row', { person_name: 'Asha' }, undefined],
	])('names from %s: a hint says why there are none', async (_from, given, cause) => {
		respondWith([200, accepted(2)]);
		const { personNameColumn, ...names } = { personNameColumn: 'person_name', ...given };
		const rows = rowsOf({ ...names, phone: phone(0) }, { phone: phone(1) });
		const { hints } = await runPush(rows, { personNameColumn });
		const advice =
			"If another column has them, enter it in 'Person Name Column'. To push without names, empty it.";
		const hint = `${cause}, so the contacts have no names. ${advice}`;
		expect(hints.slice(1)).toEqual(cause === undefined ? [] : [hint]);
	});

	test('with other names than those entered are named in a hint', async () => {
		respondWith([200, accepted(1)]);
		const rows = rowsOf({ 'Mobile No.': phone(0), Name: 'Asha', Surname: 'Rao', City: 'Pune' });
		const { hints, error } = await runPush(rows, {
			personNameColumn: 'name',
			otherColumns: 'listed',
			columnsToSend: "city, ['Surname']",
			options: { lastNameColumn: 'Surname' },
		});
		expect(error).toBeUndefined();
		expect(hints[1]).toBe('Columns used: "Mobile No." as phone, "Name" as name, "City" as city.');
	});

	test('with words instead of values are sent without them, and a hint shows some', async () => {
		const bodies = respondWith([200, accepted(2)]);
		const { hints } = await runPush(
			rowsOf(
				{ phone: phone(0), person_name: '#NAME?', city: '#REF!' },
				{ phone: phone(1), person_name: 'Asha', city: 'NULL' },
			),
		);
		expect(contactsOf(bodies[0])).toEqual([
			{ phone: phone(0), city: '' },
			{ phone: phone(1), person_name: 'Asha', city: '' },
		]);
		expect(hints[1]).toBe(
			'3 cells have a word that stands for no value, such as "#NAME?", "#REF!", "NULL". Such words weren\'t sent. Correct the formulas or the export.',
		);
	});

	test.each([
		['all', undefined, { city: 'Pune', plan: 'gold', age: 41, isMember: false }],
		['none', undefined, {}],
		['listed', 'City, plan', { city: 'Pune', plan: 'gold' }],
		['listed', '={{ ["age"] }}', { age: 41 }],
	])('Other Columns %s %s', async (otherColumns, columnsToSend, extra) => {
		const parameters = { otherColumns, ...(columnsToSend && { columnsToSend }) };
		const row = { phone: '9876543210', city: 'Pune', plan: 'gold', age: 41, isMember: false };
		const [body] = await sent(parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', ...extra }]);
	});

	test('can be dragged: nested, with first and last names', async () => {
		const properties = { phone: '98765 43210', firstname: 'Asha', lastname: 'Rao' };
		const [body] = await sent(
			{
				phoneColumn: 'properties.phone',
				personNameColumn: 'properties.firstname',
				otherColumns: 'listed',
				columnsToSend: "properties.lastname, ['Plan, new']",
				options: { lastNameColumn: 'properties.lastname' },
			},
			{ properties, 'Plan, new': 'gold' },
		);
		expect(contactsOf(body)).toEqual([
			{ phone: '9876543210', person_name: 'Asha Rao', lastname: 'Rao', 'Plan, new': 'gold' },
		]);
	});
});

test.each([
	[['Pushed'], true],
	[['Pushed', 'Rejected'], false],
])(
	'if only %j is connected, a hint says that nobody sees the rejected rows',
	async (sinks, isSaid) => {
		const rows = rowsOf({ phone: phone(0), person_name: 'Asha' }, { phone: 'call me' });
		respondWith(ok(1));
		const run = await runNode(pushNode(), rows, sinks);
		expect(run.data.resultData.error).toBeUndefined();
		const said = hintsOf(run).filter((hint) => hint.startsWith("No node reads 'Rejected'"));
		expect(said).toHaveLength(isSaid ? 1 : 0);
		respondWith(ok(1));
		const withoutRejected = await runNode(pushNode(), rows.slice(0, 1), sinks);
		expect(hintsOf(withoutRejected)).toHaveLength(1);
	},
);

describe('Output: One Item per Row', () => {
	test('returns each row once, in Pushed or Rejected', async () => {
		const skipped = {
			dnd_skipped: [{ phone: '+919000000002' }],
			engine_skipped_duplicates: ['9000000003'],
		};
		respondWith([200, accepted(3, skipped)]);
		const asha = { row_number: 3, phone: '90000-00001', person_name: 'Asha', city: 'Pune' };
		const delhi = { row_number: 4, phone: '+91 90000 00001', person_name: 'A', city: 'Delhi' };
		const { pushed, rejected } = await runPush(
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
		const left = (status: string, last = '') => ({
			...added(last, status),
			rejection_status: status,
			rejection_reason: expect.any(String),
			campaign_upload_id: null,
		});
		expect(jsonOf(rejected)).toEqual([
			{ phone: 'call me', city: 'Agra', ...left('rejected') },
			{ ...delhi, ...left('duplicate') },
			{ phone: 9000000002, ...left('do_not_disturb', '2') },
			{ phone: '09000000003', ...left('skipped_duplicate', '3') },
		]);
		expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 2, 3, 4].map((item) => ({ item })),
		);
	});

	test('returns the contact list of each row, and no phone_sent for rows that were not sent', async () => {
		breaking('ECONNRESET', respondWith([200, accepted(1, { campaign_upload_id: 7 })]));
		const { pushed, rejected } = await runPush(
			manyRows(3),
			{ ...byRow, developerSettings: { contactsPerRequest: 1 } },
			goOn,
		);
		expect(pushed.map(({ json }) => json.campaign_upload_id)).toEqual([7]);
		expect(rejected.map(({ json }) => [json.push_status, json.phone_sent])).toEqual([
			['unknown', phone(1)],
			['not_sent', null],
		]);
	});

	test('a rejected row is pushed again after its number is corrected, without its rejection columns', async () => {
		const old = { rejection_status: 'not_sent', rejection_reason: 'old' };
		const asha = { phone: '98765', person_name: 'Asha', city: 'Pune' };
		const { rejected } = await runPush(rowsOf({ ...asha, ...old }), byRow);
		expect(jsonOf(rejected)).toMatchObject([
			{ rejection_status: 'rejected', rejection_reason: expect.stringMatching(/^"98765" has/) },
		]);
		const bodies = respondWith([200, accepted(1)]);
		const corrected = { ...rejected[0]?.json, phone: '9876543210' };
		const { pushed, error } = await runPush([{ json: corrected }], byRow);
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([{ ...asha, phone: '9876543210' }]);
		expect(pushed[0]?.json).toEqual({
			...asha,
			phone: '9876543210',
			push_status: 'pushed',
			push_warnings: null,
			phone_sent: '9876543210',
			phone_key: '919876543210',
			campaign_upload_id: 501,
			rejection_status: null,
			rejection_reason: null,
		});
	});
});

test('Output: by default, one item per request for a CSV file', async () => {
	const agentUuid = { __rl: true, mode: 'id', value: 'agent_5f2c' };
	const parameters = { campaignId: '42', agentUuid, whatToDo: 'wait', contactsFrom: 'csv' };
	const node = harness.node('pushCampaignContacts', { parameters });
	respondWith([200, accepted(2)]);
	const file = fileItem('leads.csv', `phone\n${phone(1)}\n${phone(2)}\n`);
	const pushed = output(await runNode(node, [file]), 'Node');
	expect(pushed).toMatchObject([
		{ json: { contacts_accepted: 2, totals: { pushed: 2 } }, pairedItem: [{ item: 0 }] },
	]);
});

test('Output: One Summary Item adds up the responses', async () => {
	const dnd = { dnd_skipped: [{ number: 'x' }], engine_skipped_duplicates: ['+919000000009'] };
	const both = { enqueued: true, warnings: ['w'], ...dnd };
	respondWith(
		[200, accepted(10_000, { campaign_upload_id: 1, queued_calls: 9_998, ...both })],
		[200, accepted(2, { campaign_upload_id: 2, queued_calls: 1, ...both })],
	);
	const { pushed } = await runPush(manyRows(10_002), { options: { output: 'summary' } });
	expect(jsonOf(pushed)).toEqual([
		{
			summary: '10,002 rows: 10,001 pushed, 1 skipped by the service as a duplicate.',
			campaign_upload_ids: [1, 2],
			enqueued: true,
			contacts_received: 10_002,
			contacts_accepted: 10_002,
			duplicates_removed: 0,
			queued_calls: 9_999,
			engine_skipped_duplicates: ['+919000000009', '+919000000009'],
			dnd_skipped: [{ number: 'x' }, { number: 'x' }],
			warnings: ['w'],
			totals: {
				...totals,
				received: 10_002,
				pushed: 10_001,
				skipped_duplicate: 1,
				requests: 2,
				skipped_unmatched: 3,
			},
		},
	]);
	expect(pushed[0]?.pairedItem).toHaveLength(10_001);
});

test('One Item per Row: a row has the warnings of its request, such as that the campaign is paused', async () => {
	const warnings = ['Campaign is Paused', { code: 'x' }];
	respondWith([200, accepted(1, { warnings })], [200, accepted(1)]);
	const options = { developerSettings: { contactsPerRequest: 1 } };
	const { pushed } = await runPush(manyRows(2), { ...byRow, ...options });
	expect(pushed.map(({ json }) => json.push_warnings)).toEqual([
		'Campaign is Paused {"code":"x"}',
		null,
	]);
});

const REASON = ['rejection_status', 'rejection_reason'];
const CELLS = ['phone', 'city'];
const OF_ROW = ['phone_sent', 'phone_key', 'campaign_upload_id', 'push_warnings'];
const RESPONSE = Object.keys(asRecord(accepted(1).data ?? null));
test.each<[string, NodeParameters, string[], string[]]>([
	[
		'One Item per Row',
		byRow,
		['push_status', ...CELLS, ...OF_ROW],
		[...REASON, 'push_status', ...CELLS, ...OF_ROW],
	],
	['One Item per Request', {}, ['summary', 'totals', ...RESPONSE], [...REASON, ...CELLS]],
])('with %s, status and reason are the first columns', async (_output, parameters, ...columns) => {
	respondWith([200, accepted(1)]);
	const rows = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: 'x', city: 'Pune' });
	const { pushed, rejected } = await runPush(rows, parameters);
	expect([pushed, rejected].map(([item]) => Object.keys(item?.json ?? {}))).toEqual(columns);
});

test.each(['requests', 'rows'])(
	'with %s, a rejected row has status and reason first, also if it has those of an earlier push',
	async (kind) => {
		const earlier = {
			city: 'Pune',
			rejection_reason: 'y',
			push_status: 'z',
			rejection_status: 'x',
		};
		const rows = rowsOf({ phone: 'x', ...earlier });
		const { rejected } = await runPush(rows, { options: { output: kind } });
		const names = Object.keys(rejected[0]?.json ?? {});
		expect(names.slice(0, 4)).toEqual([...REASON, 'push_status', 'phone']);
	},
);

test.each(['push_status', 'rejection_status'])(
	"rows whose %s is unknown aren't pushed, nor others with their number, until the column is empty",
	async (column) => {
		const bodies = respondWith(ok(1), ok(2));
		const rows = [
			{ phone: phone(0), [column]: 'unknown' },
			{ phone: `+91 ${phone(0)}`, person_name: 'Asha' },
			{ phone: phone(1), [column]: 'not_sent' },
		];
		const { pushed, rejected } = await runPush(rowsOf(...rows), byRow, goOn);
		expect(pushed.map(({ json }) => json.phone)).toEqual([phone(1)]);
		expect(rejected.map(({ json }) => [json.push_status, json.rejection_reason])).toEqual([
			['duplicate', expect.stringMatching(/was kept/)],
			['unknown', expect.stringMatching(/^A row with this number has the status unknown: /)],
		]);
		const again = await runPush(rowsOf(...rows.map((row) => ({ ...row, [column]: '' }))), byRow);
		expect(again.pushed.map(({ json }) => json.phone)).toEqual([`+91 ${phone(0)}`, phone(1)]);
		expect(bodies.map(contactsOf)).toHaveLength(2);
	},
);

describe('without a column of names', () => {
	const rows = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: phone(1), city: 'Delhi' });
	const release = { whatToDo: 'release' };

	test('people are released only if that is chosen', async () => {
		const { error } = await runPush(rows, release);
		expect(error?.message).toBe(
			`The input has no column "person_name", so nobody's name is known, and nothing was sent`,
		);
		expect(error?.description).toBe(
			"In 'Person Name Column', enter the column with the names. To release the contacts without names, empty it.",
		);
		const bodies = respondWith(ok(2));
		const chosen = await runPush(rows, { ...release, personNameColumn: '' });
		expect(chosen.error).toBeUndefined();
		expect(bodies.flatMap(contactsOf)).toHaveLength(2);
	});

	test('a single person is released, and a list is added to wait', async () => {
		respondWith(ok(1), ok(2));
		const { error } = await runPush(rows.slice(0, 1), release);
		const { error: ofList } = await runPush(rows);
		expect([error, ofList]).toEqual([undefined, undefined]);
	});
});
