import { engineHarness } from '../../engine';
import {
	accepted,
	respondWith,
	contactsOf,
	runPush,
	rowsOf,
	sent,
	totals,
	WAITING,
} from './pushHarness';

const harness = engineHarness();

test('sends rows as contacts, and returns the whole response', async () => {
	const answer = accepted(2, { unforeseen: 'kept' });
	const bodies = respondWith([200, { ...answer, message: 'beside data' }]);
	const { pushed, rejected, error, hints } = await runPush(
		harness,
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
				summary: `2 rows: 2 pushed. ${WAITING}`,
				totals: { received: 2, pushed: 2, ...totals },
			},
			pairedItem: [{ item: 0 }, { item: 1 }],
		},
	]);
	expect(rejected).toEqual([]);
	expect(hints).toEqual([`2 rows: 2 pushed. ${WAITING}`]);
});

test('reads the credential once for all rows', async () => {
	respondWith([200, accepted(3)]);
	const before = harness.credentials.reads;
	await runPush(
		harness,
		rowsOf({ phone: '9000000001' }, { phone: '9000000002' }, { phone: '9000000003' }),
	);
	expect(harness.credentials.reads - before).toBe(1);
});

describe('Campaign, Agent, and Release to Calling Queue', () => {
	const row = { phone: '9876543210', campaign: 42, agent: 'agent_x-1' };

	test.each([
		['campaignId', '={{ $json.campaign }}', 'Campaign'],
		['campaignId', '={{ $itemIndex < 2 ? 42 : 43 }}', 'Campaign'],
		['campaignId', '=4{{ $json.campaign - 40 }}', 'Campaign'],
		['agentUuid', { __rl: true, mode: 'id', value: '={{ $json.agent }}' }, 'Agent'],
		['enqueue', '={{ $json.release }}', 'Release to Calling Queue'],
	])('nothing is sent if %s differs for a later row', async (name, value, label) => {
		const { error } = await runPush(
			harness,
			rowsOf(
				{ ...row, release: false },
				{ ...row, release: false },
				{ phone: '9876543211', campaign: 43, agent: 'agent_y', release: true },
			),
			{ [name]: value },
		);
		expect(error).toMatchObject({
			message: `'${label}' differs between rows (row 1 and row 3), so nothing was sent`,
			description: expect.stringContaining('Split the rows first'),
		});
	});
});

describe('columns', () => {
	test('can be mapped, even if another column has the name of the documented field', async () => {
		const parameters = { phoneColumn: 'WhatsApp', personNameColumn: 'lead' };
		const row = { phone: '0201234567', WhatsApp: '98765 43210', Lead: 'Asha', person_name: 'x' };
		const [body] = await sent(harness, parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', person_name: 'Asha' }]);
	});

	test.each([
		['all', undefined, { city: 'Pune', plan: 'gold', age: 41 }],
		['none', undefined, {}],
		['listed', 'City, plan', { city: 'Pune', plan: 'gold' }],
		['listed', '={{ ["age"] }}', { age: 41 }],
	])('Other Columns %s %s', async (otherColumns, columnsToSend, extra) => {
		const parameters = { otherColumns, ...(columnsToSend && { columnsToSend }) };
		const row = { phone: '9876543210', city: 'Pune', plan: 'gold', age: 41 };
		const [body] = await sent(harness, parameters, row);
		expect(contactsOf(body)).toEqual([{ phone: '9876543210', ...extra }]);
	});
});

test('Release to Calling Queue', async () => {
	const [body] = await sent(harness, { enqueue: true }, { phone: '9876543210' });
	expect(body).toHaveProperty('enqueue', true);
});
