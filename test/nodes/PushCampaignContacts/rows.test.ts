/** What is sent for the rows, and what is returned for them. */
import mapValues from 'lodash/mapValues';
import pick from 'lodash/pick';
import sortBy from 'lodash/sortBy';
import type { INodeExecutionData } from 'n8n-workflow';
import nock from 'nock';
import { asRecord, type JsonObject } from '../../../nodes/core/values/json';
import { plainText } from '../../../nodes/core/values/values';
import { engineHarness, hintsOf, output, runNode, service, storedCredentials } from '../../engine';
import {
	accepted,
	BROKEN,
	respondWith,
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
	phonesOf,
	push,
	rowsOf,
	rowsOfItems,
	totals,
	type NodeParameters,
	WAITING,
	campaign,
} from './pushHarness';

const harness = engineHarness();
const byRow = { options: { output: 'rows' } };
/** The columns that are added to a row whose number was sent, by the number's last digit. */
const added = (last: string, status = 'pushed') => ({
	push_status: status,
	push_warnings: status === 'pushed' ? '' : null,
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
			{ ...delhi, ...left('duplicate'), phone_key: '919000000001' },
			{ phone: 9000000002, ...left('do_not_disturb', '2') },
			{ phone: '09000000003', ...left('skipped_duplicate', '3') },
		]);
		expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 2, 3, 4].map((item) => ({ item })),
		);
	});

	test('returns the contact list of each row, and no phone_sent for rows that were not sent', async () => {
		respondWith([200, accepted(1, { campaign_upload_id: 7 })], BROKEN);
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
		const asha = { phone: '98765', person_name: 'Asha', city: 'Pune', row_number: 2 };
		const { rejected } = await runPush(rowsOf({ ...asha, ...old }), byRow);
		expect(jsonOf(rejected)).toMatchObject([
			{ rejection_status: 'rejected', rejection_reason: expect.stringMatching(/^"98765" has/) },
		]);
		const bodies = respondWith([200, accepted(1)]);
		const corrected = { ...rejected[0]?.json, phone: '+91 98765 43210' };
		const { pushed, error } = await runPush([{ json: corrected }], byRow);
		expect(error).toBeUndefined();
		const sent = { phone: '+919876543210', person_name: 'Asha', city: 'Pune' };
		expect(contactsOf(bodies[0])).toEqual([sent]);
		expect(pushed[0]?.json).toEqual({
			...asha,
			phone: '+91 98765 43210',
			push_status: 'pushed',
			push_warnings: '',
			phone_sent: '+919876543210',
			phone_key: '919876543210',
			campaign_upload_id: 501,
			rejection_status: '',
			rejection_reason: '',
		});
	});

	test.each([
		['a sheet', { row_number: 2, details: '{"outcome":"not_sent"}' }, ''],
		['a database', { table_id: 2, details: { outcome: 'not_sent' } }, null],
	])(
		'a row of %s that is pushed has no error of an earlier push, and sends none',
		async (...one) => {
			const [, row, empty] = one;
			const error = { error: 'No', message: 'Correct it' };
			const bodies = respondWith([200, accepted(1)]);
			const { pushed } = await runPush(rowsOf({ phone: phone(1), ...row, ...error }), byRow);
			expect(Object.keys(contactsOf(bodies[0])[0] ?? {})).not.toContain('message');
			expect(pushed[0]?.json).toMatchObject({ error: '', message: '', details: empty });
		},
	);
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

const allSkipped: JsonObject = { dnd_skipped: [phone(0), phone(1)] };

test.each<[string, number[], output: string, INodeExecutionData[], response: JsonObject | null]>([
	[
		'One Summary Item, and no row can be used',
		[0, 1],
		'summary',
		rowsOf({ phone: '1' }, { phone: '' }),
		null,
	],
	['One Summary Item, and a file has no row', [0], 'summary', [fileItem('a.csv', 'phone\n')], null],
	['One Summary Item, and the service skips all', [0, 1], 'summary', manyRows(2), allSkipped],
	['One Item per Request, and the service skips all', [0, 1], 'requests', manyRows(2), allSkipped],
])(
	'without a pushed row, the item is paired with the input: %s',
	async (_what, from, output, input, response) => {
		if (response !== null) respondWith([200, accepted(2, response)]);
		const contactsFrom = input[0]?.binary === undefined ? 'items' : 'csv';
		const { pushed } = await runPush(input, { contactsFrom, options: { output } });
		expect(pushed).toHaveLength(1);
		expect(rowsOfItems(pushed)).toEqual(from);
	},
);

test('One Item per Row: a row has the warnings of its request, such as that the campaign is paused, and none of an earlier one', async () => {
	const warnings = ['Campaign is Paused', { code: 'x' }];
	respondWith([200, accepted(1, { warnings })], [200, accepted(1)]);
	const options = { developerSettings: { contactsPerRequest: 1 } };
	const { pushed } = await runPush(manyRows(2), { ...byRow, ...options });
	expect(pushed.map(({ json }) => json.push_warnings)).toEqual([
		'Campaign is Paused {"code":"x"}',
		// Google Sheets keeps a cell that gets null.
		'',
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
	[
		'One Item per Request',
		{},
		['summary', 'totals', ...RESPONSE],
		[...REASON, 'push_status', ...CELLS],
	],
])(
	'with %s, status and reason are the first columns, also if a row has those of an earlier push',
	async (_output, parameters, ...columns) => {
		respondWith([200, accepted(1)]);
		const earlier = {
			rejection_reason: 'y',
			city: 'Pune',
			push_status: 'z',
			rejection_status: 'x',
		};
		const rows = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: 'x', ...earlier });
		const { pushed, rejected } = await runPush(rows, parameters);
		expect([pushed, rejected].map(([item]) => Object.keys(item?.json ?? {}))).toEqual(columns);
	},
);

describe('rows that an earlier execution returned in Rejected', () => {
	const LEFT_OUT =
		"The status of this row says that it was left out before as a duplicate, so it wasn't pushed. To push it, empty its push_status and rejection_status.";
	const COLUMNS = ['phone', 'push_status', 'rejection_status'];
	const csvOf = (rows: JsonObject[]) =>
		[COLUMNS, ...rows.map((row) => COLUMNS.map((name) => plainText(row[name])))].join('\n');
	const ITEM = rowsOf({});

	test.each<[string, (rows: JsonObject[]) => [INodeExecutionData[], NodeParameters]]>([
		['input items', (rows) => [rowsOf(...rows), {}]],
		['a file', (rows) => [[fileItem('a.csv', csvOf(rows))], { contactsFrom: 'csv' }]],
		['pasted rows', (rows) => [ITEM, { contactsFrom: 'pasted', pastedRows: csvOf(rows) }]],
		['JSON', (rows) => [ITEM, { contactsFrom: 'json', contacts: JSON.stringify(rows) }]],
	])('are pushed again as %s without duplicates', async (_from, inputOf) => {
		for (const output of ['rows', 'requests']) {
			const bodies = respondWith(
				[200, accepted(2, { engine_skipped_duplicates: [phone(1)] })],
				ok(1),
			);
			const numbers = [phone(0), `+91 ${phone(0)}`, phone(1), 'bad'];
			const first = await runPush(rowsOf(...numbers.map((phone) => ({ phone }))), {
				options: { output },
			});
			const corrected = jsonOf(first.rejected).map((row) =>
				mapValues(pick(row, COLUMNS), (cell) => (cell === 'bad' ? phone(2) : plainText(cell))),
			);
			const [input, parameters] = inputOf(corrected);
			const { rejected } = await runPush(input, { ...parameters, ...byRow });
			expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1)], [phone(2)]]);
			expect(jsonOf(rejected)).toMatchObject(
				[0, 1].map((row) => ({
					push_status: 'duplicate',
					rejection_reason: LEFT_OUT,
					phone_key: `91${phone(row)}`,
				})),
			);
		}
	});

	test('are not kept instead of another row, and pushed once their status is empty', async () => {
		const bodies = respondWith(ok(1), ok(1));
		const rows = [
			{ phone: phone(0), person_name: 'Asha Rao', push_status: 'duplicate' },
			{ phone: phone(0), person_name: 'Asha', push_status: 'pushed' },
		];
		const { pushed, rejected } = await runPush(rowsOf(...rows), byRow);
		expect(pushed).toMatchObject([{ json: { person_name: 'Asha' } }]);
		expect(jsonOf(rejected)).toMatchObject([{ rejection_reason: kept('Asha (row 2)') }]);
		await runPush(rowsOf({ ...rows[0], push_status: '' }), byRow);
		expect(bodies.map(phonesOf)).toEqual([[phone(0)], [phone(0)]]);
	});

	test('keep a status that leaves them out if a later push cannot begin, such as without its column', async () => {
		const bodies = respondWith(ok(1));
		const before = ['duplicate', 'skipped_duplicate', 'unknown', 'sent_before', 'rejected', ''];
		const rows = before.map((status, row) => ({
			phone: phone(row),
			...(row % 2 === 0 ? { push_status: status } : { rejection_status: status }),
		}));
		const wrong = await runPush(rowsOf(...rows), { ...byRow, phoneColumn: 'Number' }, goOn);
		const kept = [...before.slice(0, 4), 'not_sent', 'not_sent'];
		expect(jsonOf(wrong.rejected)).toMatchObject(
			kept.map((status) => ({
				push_status: status,
				rejection_status: status,
				rejection_reason: expect.stringContaining('no column "Number"'),
			})),
		);
		await runPush(wrong.rejected.slice(0, 5), byRow);
		expect(bodies.map(phonesOf)).toEqual([[phone(4)]]);
	});

	test('keep a status that leaves them out while they are unusable, such as while a formula fails', async () => {
		const before = ['duplicate', 'skipped_duplicate', 'unknown', 'sent_before'];
		const rows = before.map((push_status, row) => ({ phone: phone(row), push_status }));
		const failing = rows.map((row) => ({ ...row, phone: '#REF!' }));
		const { rejected, sentBefore } = await runPush(rowsOf(...failing), byRow, goOn);
		const leftOut = [...rejected, ...sentBefore];
		const kept = ['duplicate', 'duplicate', 'unknown', 'sent_before'];
		expect(jsonOf(leftOut)).toMatchObject(
			kept.map((status) => ({
				push_status: status,
				rejection_reason: expect.stringMatching(/^"#REF!" is what a spreadsheet shows/),
			})),
		);
		const later = jsonOf(leftOut).map((row, at) => ({ json: { ...row, phone: phone(at) } }));
		expect((await runPush(later, byRow, goOn)).statuses).toEqual(
			kept.map((status, row) => `${row} ${status}`),
		);
	});

	test('are pushed if they were duplicates and their number was corrected since, also if it was unusable in between', async () => {
		const bodies = respondWith(ok(1), ok(1));
		const { rejected } = await runPush(rowsOf({ phone: phone(1) }, { phone: phone(1) }), byRow);
		const mistyped = jsonOf(rejected).map((json) => ({ json: { ...json, phone: '98' } }));
		const [duplicate = {}] = jsonOf((await runPush(mistyped, byRow, goOn)).rejected);
		// A spreadsheet can shorten the key.
		const shortened = ['9.19E+11', 919000000000].map((phone_key) => ({ ...duplicate, phone_key }));
		const rows = [duplicate, ...shortened].map((row) => ({ ...row, phone: phone(1) }));
		const again = [...rows, { ...duplicate, phone: phone(2) }];
		const { pushed } = await runPush(
			again.map((json) => ({ json })),
			byRow,
		);
		expect(pushed).toMatchObject([{ json: { phone_key: `91${phone(2)}` } }]);
		expect(bodies.map(phonesOf)).toEqual([[phone(1)], [phone(2)]]);
	});
});

test.each([false, true])(
	"rows of Sent Before aren't pushed until their status is empty or their number is corrected, with Skip Numbers Pushed Before: %s",
	async (skipPushedBefore) => {
		campaign();
		const bodies = respondWith(ok(1), ok(1));
		const row = { phone: phone(1), phone_key: `91${phone(1)}`, push_status: 'sent_before' };
		const corrected = { ...row, phone: phone(2) };
		const options = { options: { output: 'rows', skipPushedBefore } };
		const { statuses, sentBefore } = await push(rowsOf(row, corrected), options);
		expect(statuses).toEqual(['0 sent_before']);
		expect(sentBefore[0]?.json.rejection_reason).toMatch(
			/^The status of a row with this number says that it was sent before, or may have been/,
		);
		await push(rowsOf({ ...row, push_status: '' }), options);
		expect(bodies.map(phonesOf)).toEqual([[phone(2)], [phone(1)]]);
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
			[
				'unknown',
				expect.stringMatching(
					/^The status of a row with this number says that an earlier push may have added it .* empty push_status and rejection_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too\.$/,
				),
			],
		]);
		const again = await runPush(rowsOf(...rows.map((row) => ({ ...row, [column]: '' }))), byRow);
		expect(again.pushed.map(({ json }) => json.phone)).toEqual([`+91 ${phone(0)}`, phone(1)]);
		expect(bodies.map(contactsOf)).toHaveLength(2);
	},
);

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
			[{ row_number: 3, phone: ASHA }, kept('Asha (the row with row_number 2)')],
			[{ row_number: 5, phone: VIKRAM }],
			[{ row_number: 6, phone: VIKRAM }, kept('The row with row_number 5')],
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
	const { pushed, rejected } = await runPush(input, byRow);
	const found = [...pushed, ...rejected].map(({ json, pairedItem }) => [
		pairedItem,
		json.rejection_reason,
	]);
	expect(sortBy(found, '0.item')).toEqual(rows.map(([, reason], item) => [{ item }, reason]));
});
