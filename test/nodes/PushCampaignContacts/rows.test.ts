import type { INodeExecutionData } from 'n8n-workflow';
import Papa from 'papaparse';
import { asRecord } from '../../../nodes/shared/json';
import { engineHarness, output, runNode } from '../../engine';
import { schemaFaults, readSchema } from '../../schema/schemas';
import {
	accepted,
	respondWith,
	breaking,
	contactsOf,
	fileItem,
	runPush,
	phone,
	rowsOf,
	sent,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
const KEY = { node: 'pushCampaignContacts' };
const byRow = { options: { output: 'rows' } };
/** The columns that are added to a row whose number was sent, by the number's last digit. */
const added = (last: string, status = 'pushed') => ({
	push_status: status,
	phone_sent: last === '' ? null : `900000000${last}`,
	phone_key: last === '' ? null : `91900000000${last}`,
	campaign_upload_id: 501,
});

describe('Output: One Item per Row', () => {
	test('returns each row once, in Pushed or Rejected', async () => {
		respondWith([
			200,
			accepted(3, {
				dnd_skipped: [{ phone: '+919000000002' }],
				engine_skipped_duplicates: ['9000000003'],
			}),
		]);
		const { pushed, rejected } = await runPush(
			harness,
			rowsOf(
				{ row_number: 2, phone: 'call me', city: 'Agra' },
				{ row_number: 3, phone: '90000-00001', person_name: 'Asha', city: 'Pune' },
				{ row_number: 4, phone: '+91 90000 00001', person_name: 'A', city: 'Delhi' },
				{ row_number: 5, phone: 9000000002 },
				{ row_number: 6, phone: '09000000003' },
			),
			byRow,
		);
		const asha = { row_number: 3, phone: '90000-00001', person_name: 'Asha', city: 'Pune' };
		expect(pushed).toEqual([{ json: { ...asha, ...added('1') }, pairedItem: { item: 1 } }]);
		const left = (status: string, last = '') => ({
			...added(last, status),
			rejection_status: status,
			rejection_reason: expect.any(String),
			campaign_upload_id: null,
		});
		const delhi = { row_number: 4, phone: '+91 90000 00001', person_name: 'A', city: 'Delhi' };
		expect(rejected).toEqual([
			{
				json: { row_number: 2, phone: 'call me', city: 'Agra', ...left('rejected') },
				pairedItem: { item: 0 },
			},
			{ json: { ...delhi, ...left('duplicate') }, pairedItem: { item: 2 } },
			{
				json: { row_number: 5, phone: 9000000002, ...left('do_not_disturb', '2') },
				pairedItem: { item: 3 },
			},
			{
				json: { row_number: 6, phone: '09000000003', ...left('skipped_duplicate', '3') },
				pairedItem: { item: 4 },
			},
		]);
	});

	test('returns the contact list of each row, and no phone_sent for rows that were not sent', async () => {
		const bodies = respondWith([200, accepted(1, { campaign_upload_id: 7 })]);
		breaking('ECONNRESET', bodies);
		const rows = rowsOf({ phone: '9000000001' }, { phone: '9000000002' }, { phone: '9000000003' });
		const parameters = {
			options: { output: 'rows' },
			developerSettings: { contactsPerRequest: 1 },
		};
		const { pushed, rejected } = await runPush(harness, rows, parameters, {
			onError: 'continueRegularOutput',
		});
		expect(pushed.map(({ json }) => json.campaign_upload_id)).toEqual([7]);
		expect(rejected.map(({ json }) => [json.push_status, json.phone_sent])).toEqual([
			['unknown', '9000000002'],
			['not_sent', null],
		]);
	});
});

describe('Output: by default', () => {
	const people = [
		{ phone: '90000-00001', person_name: 'Asha' },
		{ phone: 9000000002, person_name: 'Ravi' },
	];
	/** The form as it is when the node is added, without options. */
	const pushedBy = async (item: INodeExecutionData[], parameters: NodeParameters) => {
		const node = harness.node('pushCampaignContacts', {
			parameters: {
				campaignId: '42',
				agentUuid: { __rl: true, mode: 'id', value: 'agent_5f2c' },
				...parameters,
			},
		});
		respondWith([200, accepted(2)]);
		return output(await runNode(harness.credentials, node, item), 'Node');
	};

	test.each<[string, INodeExecutionData[], NodeParameters, number[]]>([
		['input items', rowsOf(...people), {}, [0, 1]],
		['JSON', [{ json: {} }], { contactsFrom: 'json', contacts: JSON.stringify(people) }, [0, 0]],
	])('one item per row for %s', async (_from, items, parameters, inputs) => {
		const pushed = await pushedBy(items, parameters);
		expect(pushed).toEqual([
			{ json: { ...people[0], ...added('1') }, pairedItem: { item: inputs[0] } },
			{ json: { ...people[1], ...added('2') }, pairedItem: { item: inputs[1] } },
		]);
		expect(pushed.flatMap(({ json }) => schemaFaults(KEY, json))).toEqual([]);
		expect(Object.keys(pushed[0]?.json ?? {})).toEqual(
			expect.arrayContaining(Object.keys(readSchema(KEY).properties ?? {})),
		);
	});

	test('one item per request for a CSV file', async () => {
		const text = Papa.unparse(people);
		const pushed = await pushedBy([fileItem('leads.csv', text)], { contactsFrom: 'csv' });
		expect(pushed).toMatchObject([
			{
				json: { contacts_accepted: 2, totals: { received: 2, pushed: 2 } },
				pairedItem: [{ item: 0 }],
			},
		]);
	});
});

test.each<[string, NodeParameters, string[], string[]]>([
	[
		'One Item per Row',
		{ options: { output: 'rows' } },
		['push_status', 'phone', 'city', 'phone_sent', 'phone_key', 'campaign_upload_id'],
		[
			'rejection_status',
			'rejection_reason',
			'push_status',
			'phone',
			'city',
			'phone_sent',
			'phone_key',
			'campaign_upload_id',
		],
	],
	[
		'One Item per Request',
		{},
		['summary', 'totals', ...Object.keys(asRecord(accepted(1).data ?? null))],
		['rejection_status', 'rejection_reason', 'phone', 'city'],
	],
])('with %s, status and reason are the first columns', async (_output, parameters, ...columns) => {
	respondWith([200, accepted(1)]);
	const rows = rowsOf({ phone: phone(0), city: 'Pune' }, { phone: 'x', city: 'Pune' });
	const { pushed, rejected } = await runPush(harness, rows, parameters);
	expect([pushed, rejected].map(([item]) => Object.keys(item?.json ?? {}))).toEqual(columns);
});

test('status and reason of an earlier push are replaced', async () => {
	const { rejected } = await runPush(
		harness,
		rowsOf({ phone: 'x', rejection_status: 'not_sent', rejection_reason: 'old' }),
	);
	expect(rejected[0]?.json).toEqual({
		rejection_status: 'rejected',
		rejection_reason: expect.stringMatching(/^"x" isn't a phone number/),
		phone: 'x',
	});
});

describe('a rejected row', () => {
	test('is pushed again after its number is corrected, without its rejection columns', async () => {
		const { rejected } = await runPush(
			harness,
			rowsOf({ phone: '98765', person_name: 'Asha', city: 'Pune' }),
			byRow,
		);
		const [row] = rejected;
		expect(row?.json.rejection_status).toBe('rejected');
		const bodies = respondWith([200, accepted(1)]);
		const corrected = { ...row?.json, phone: '9876543210' };
		const { pushed, error } = await runPush(harness, [{ json: corrected }], byRow);
		expect(error).toBeUndefined();
		expect(contactsOf(bodies[0])).toEqual([
			{ phone: '9876543210', person_name: 'Asha', city: 'Pune' },
		]);
		expect(pushed[0]?.json).toEqual({
			phone: '9876543210',
			person_name: 'Asha',
			city: 'Pune',
			push_status: 'pushed',
			phone_sent: '9876543210',
			phone_key: '919876543210',
			campaign_upload_id: 501,
			rejection_status: null,
			rejection_reason: null,
		});
	});
});

describe('dragged columns', () => {
	const nested = { properties: { phone: '98765 43210', firstname: 'Asha', lastname: 'Rao' } };

	test('nested, with first and last names', async () => {
		const [body] = await sent(
			harness,
			{
				phoneColumn: 'properties.phone',
				personNameColumn: 'properties.firstname',
				otherColumns: 'listed',
				columnsToSend: "properties.lastname, ['Plan, new']",
				options: { lastNameColumn: 'properties.lastname' },
			},
			{ ...nested, 'Plan, new': 'gold' },
		);
		expect(contactsOf(body)).toEqual([
			{ phone: '9876543210', person_name: 'Asha Rao', lastname: 'Rao', 'Plan, new': 'gold' },
		]);
	});
});
