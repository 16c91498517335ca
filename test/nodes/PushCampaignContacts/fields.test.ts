import nock from 'nock';
import { engineRing, service } from '../../engine';
import { accepted, answering, contactsOf, feed, jsonOf, PATH, phonesOf, rowsOf } from './feed';

const ring = engineRing();
const totals = { requests: 1, rejected: 0, unknown: 0, not_sent: 0, duplicate: 0 };

test('rows become contacts, and the service’s whole answer comes out', async () => {
	const answer = accepted(2, { unforeseen: 'kept' });
	const bodies = answering([200, { ...answer, message: 'beside data' }]);
	const { pushed, rejected, error, hints } = await feed(
		ring,
		rowsOf(
			{ phone: 9876543210, person_name: 'Asha Rao', city: 'Pune' },
			{ phone: '+91 91234 56789', person_name: '', city: 'Delhi' },
		),
	);
	expect(error).toBeUndefined();
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
				campaign_upload_id: 501,
				contacts_received: 2,
				contacts_accepted: 2,
				duplicates_removed: 0,
				enqueued: false,
				queued_calls: 0,
				engine_skipped_duplicates: [],
				dnd_skipped: [],
				warnings: [],
				unforeseen: 'kept',
				message: 'beside data',
				feed: { received: 2, pushed: 2, ...totals },
			},
			pairedItem: [{ item: 0 }, { item: 1 }],
		},
	]);
	expect(rejected).toEqual([]);
	expect(hints).toEqual([]);
});

test('the credential is read once, however many rows there are', async () => {
	answering([200, accepted(3)]);
	const before = ring.credentials.reads;
	await feed(
		ring,
		rowsOf({ phone: '9000000001' }, { phone: '9000000002' }, { phone: '9000000003' }),
	);
	expect(ring.credentials.reads - before).toBe(1);
});

describe('Campaign ID and Agent', () => {
	const row = { phone: '9876543210', campaign: 42, agent: 'agent_x-1' };

	test.each([['42'], [' 42 '], [42], ['={{ 40 + 2 }}'], ['={{ $json.campaign }}']])(
		'Campaign ID %p',
		async (campaignId) => {
			const bodies = answering([200, accepted(2)]);
			const { error } = await feed(ring, rowsOf(row, { ...row, phone: '9876543211' }), {
				campaignId,
			});
			expect(error).toBeUndefined();
			expect(bodies).toHaveLength(1);
		},
	);

	test.each([
		[{ __rl: true, mode: 'list', value: 'agent_x-1', cachedResultName: 'Sales' }],
		[{ __rl: true, mode: 'id', value: '={{ " agent_x-1 " }}' }],
		[{ __rl: true, mode: 'id', value: '={{ $json.agent }}' }],
		['agent_x-1'],
	])('Agent %j', async (agentUuid) => {
		const [body] = await sent({ agentUuid }, row);
		expect(body).toHaveProperty('agent_uuid', 'agent_x-1');
	});

	test.each([
		['campaignId', '={{ $json.campaign }}', 'Campaign ID'],
		['agentUuid', { __rl: true, mode: 'id', value: '={{ $json.agent }}' }, 'Agent'],
		['enqueue', '={{ $json.release }}', 'Release to Calling Queue'],
	])('%s that is another for a later row sends nothing', async (name, value, label) => {
		const { error } = await feed(
			ring,
			rowsOf(
				{ ...row, release: false },
				{ ...row, release: false },
				{ phone: '9876543211', campaign: 43, agent: 'agent_y', release: true },
			),
			{ [name]: value },
		);
		expect(error).toMatchObject({
			message: `${label} is not the same for all rows (item 2 differs from item 0), so nothing was sent`,
			description: expect.stringContaining('Split the rows first'),
		});
	});
});

describe('columns', () => {
	test('are found by name, whatever their case', async () => {
		const [body] = await sent(
			{},
			{ 'Phone Number': '9876543210', 'FULL NAME': 'Asha', Plan: 'gold' },
		);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', person_name: 'Asha', Plan: 'gold' }]);
	});

	test('can be mapped; a column that is called like the documented field does not get in the way', async () => {
		const parameters = { phoneColumn: 'WhatsApp', personNameColumn: 'lead' };
		const row = { phone: '0201234567', WhatsApp: '98765 43210', Lead: 'Asha', person_name: 'x' };
		const [body] = await sent(parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', person_name: 'Asha' }]);
	});

	test('an empty Person Name Column sends no names', async () => {
		const [body] = await sent({ personNameColumn: '' }, { phone: '9876543210', person_name: 'A' });
		expect(contactsOf(body)).toEqual([{ phone: '9876543210' }]);
	});

	test.each([
		['all', undefined, { city: 'Pune', plan: 'gold', age: 41 }],
		['none', undefined, {}],
		['listed', 'City, plan', { city: 'Pune', plan: 'gold' }],
		['listed', '={{ ["age"] }}', { age: 41 }],
	])('Other Columns %s %s', async (otherColumns, columnsToSend, extra) => {
		const parameters = { otherColumns, ...(columnsToSend && { columnsToSend }) };
		const row = { phone: '9876543210', city: 'Pune', plan: 'gold', age: 41 };
		const [body] = await sent(parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', ...extra }]);
	});
});

test('Release to Calling Queue', async () => {
	const [body] = await sent({ enqueue: true }, { phone: '9876543210' });
	expect(body).toHaveProperty('enqueue', true);
});

describe('options', () => {
	const duplicates = rowsOf(
		{ phone: '9876543210', person_name: 'Asha' },
		{ phone: '+919876543210', person_name: 'Asha Rao' },
	);

	test('Normalize Phone Numbers off sends numbers as they are', async () => {
		const options = { normalizePhones: false };
		const [body] = await sent({ options }, { phone: '098765-43210' }, { phone: 14155550100 });
		expect(phonesOf(body)).toEqual(['098765-43210', '14155550100']);
	});

	test('Remove Duplicates leaves the longer name and counts', async () => {
		const bodies = answering([200, accepted(1)]);
		const { pushed, rejected, hints } = await feed(ring, duplicates);
		expect(contactsOf(bodies[0])).toEqual([{ phone: '+919876543210', person_name: 'Asha Rao' }]);
		expect(pushed[0]?.json.feed).toEqual({ received: 2, pushed: 1, ...totals, duplicate: 1 });
		expect(pushed[0]?.pairedItem).toEqual([{ item: 1 }]);
		expect(rejected).toEqual([]);
		expect(hints).toEqual(['1 row left out, because another row has the same number.']);
	});

	test('Remove Duplicates off sends all', async () => {
		const bodies = answering([200, accepted(2)]);
		await feed(ring, duplicates, { options: { removeDuplicates: false } });
		expect(phonesOf(bodies[0])).toEqual(['9876543210', '+919876543210']);
	});

	test('Put Duplicates in Rejected', async () => {
		answering([200, accepted(1)]);
		const { rejected } = await feed(ring, duplicates, { options: { reportDuplicates: true } });
		expect(rejected).toEqual([
			{
				json: {
					phone: '9876543210',
					person_name: 'Asha',
					rejection_status: 'duplicate',
					rejection_reason: expect.stringMatching(/^Item 1 has the same phone number/),
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	test('Additional Body Fields and Query Parameters', async () => {
		const body = { source: 'sheet', agent_uuid: 'agent_5f2c', enqueue: false };
		service()
			.post(PATH, { ...body, contacts: [{ phone: '9876543210' }] })
			.query({ locale: 'en' })
			.reply(200, accepted(1));
		const { error } = await feed(ring, rowsOf({ phone: '9876543210' }), {
			options: {
				additionalBodyFields: '{ "source": "sheet", "agent_uuid": "agent_other" }',
				additionalQueryParameters: '{ "locale": "en" }',
			},
		});
		expect(error).toBeUndefined();
		expect(nock.isDone()).toBe(true);
	});

	test('Output: one summary item adds up what the service answered', async () => {
		const first = { campaign_upload_id: 1, enqueued: true, queued_calls: 9_998, warnings: ['w'] };
		const second = { campaign_upload_id: 2, enqueued: true, queued_calls: 1, warnings: ['w'] };
		const dnd = { dnd_skipped: [{ number: 'x' }], engine_skipped_duplicates: ['+919000000009'] };
		answering(
			[200, accepted(10_000, { ...first, ...dnd })],
			[200, accepted(2, { ...second, ...dnd })],
		);
		const input = Array.from({ length: 10_002 }, (_, i) => ({ json: { phone: 9e9 + i } }));
		const { pushed } = await feed(ring, input, { options: { output: 'summary' } });
		expect(jsonOf(pushed)).toEqual([
			{
				campaign_upload_ids: [1, 2],
				enqueued: true,
				contacts_received: 10_002,
				contacts_accepted: 10_002,
				duplicates_removed: 0,
				queued_calls: 9_999,
				engine_skipped_duplicates: ['+919000000009', '+919000000009'],
				dnd_skipped: [{ number: 'x' }, { number: 'x' }],
				warnings: ['w'],
				feed: { ...totals, received: 10_002, pushed: 10_002, requests: 2 },
			},
		]);
		expect(pushed[0]?.pairedItem).toHaveLength(10_002);
	});
});

async function sent(parameters: Parameters<typeof feed>[2], ...rows: Parameters<typeof rowsOf>) {
	const bodies = answering([200, accepted(rows.length)]);
	const { error } = await feed(ring, rowsOf(...rows), parameters);
	expect(error).toBeUndefined();
	return bodies;
}
