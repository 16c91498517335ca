import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { engineHarness } from '../../engine';
import { dialects, fixtures, type Dialect } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { runPush, manyRows, phone, rowsOf, type NodeParameters, WAITING } from './pushHarness';

const harness = engineHarness();
const { agents, campaigns, dndPhone } = fixtures;

describe.each(Object.entries<Dialect>(dialects))('the service as dialect %s', (_name, dialect) => {
	const simulator = useSimulator({ dialect, keepBodies: false });

	const push = async (input: ReturnType<typeof manyRows>, parameters: NodeParameters = {}) => {
		const { baseUrl, token: apiToken } = simulator();
		const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
		const agentUuid = { __rl: true, mode: 'id', value: agents.full };
		const all = { campaignId: campaigns.active, agentUuid, ...parameters };
		return await runPush(harness, input, all, { credentials });
	};
	const inCampaign = (id: number = campaigns.active) =>
		simulator()
			.contactsOf(id)
			.map(({ phone }) => phone);

	test('a paused campaign accepts the contacts with a warning', async () => {
		const { pushed, hints } = await push(manyRows(2), {
			campaignId: campaigns.paused,
			enqueue: true,
		});
		expect(pushed[0]?.json).toMatchObject({ contacts_received: 2, enqueued: true });
		expect(inCampaign(campaigns.paused)).toHaveLength(2);
		expect(hints).toEqual([
			expect.stringMatching(/^2 rows: 2 pushed\. Pushed rows were released/),
			expect.stringMatching(/^Warning from the service: /),
		]);
	});

	test('Rejected lists a number that is queued already', async () => {
		const release = { enqueue: true };
		await push(rowsOf({ phone: '9000000001' }), release);
		const { pushed, rejected } = await push(
			rowsOf({ phone: '90000 00001', city: 'Pune' }, { phone: '+919000000002' }),
			release,
		);
		expect(pushed[0]?.json.totals).toMatchObject({ received: 2, pushed: 1, skipped_duplicate: 1 });
		expect(rejected).toMatchObject([
			{ json: { city: 'Pune', rejection_status: 'skipped_duplicate' }, pairedItem: { item: 0 } },
		]);
	});

	test.each([
		['in the middle', 10],
		['first', 0],
		['last', 24],
	])('of 25 rows, rejects the one that the service rejects: %s', async (_name, bad) => {
		const input = manyRows(25);
		const row = input[bad];
		if (row === undefined) throw new Error('The push is too short');
		const landline = '+911234567890';
		row.json.phone = landline;
		const isRejected = dialect.campaigns.plus91NeedsMobile;
		const { pushed, rejected, error } = await push(input);
		expect(error).toBeUndefined();
		expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual(isRejected ? [{ item: bad }] : []);
		const mobiles = [...input.keys()].filter((index) => index !== bad);
		expect(inCampaign().sort()).toEqual([
			...(isRejected ? [] : [landline]),
			...mobiles.map((index) => `+91${phone(index)}`),
		]);
		const totals = isRejected ? { pushed: 24, rejected: 1 } : { pushed: 25, rejected: 0 };
		expect(pushed.at(-1)?.json.totals).toMatchObject({ received: 25, ...totals });
	});

	test('Rejected lists a number on the do-not-disturb list', async () => {
		const { pushed, rejected, hints } = await push(
			rowsOf({ phone: dndPhone }, { phone: '9000000001' }),
		);
		expect(pushed[0]?.json.dnd_skipped).toHaveLength(1);
		expect(inCampaign()).toEqual(['+919000000001']);
		expect(pushed[0]?.json.totals).toMatchObject({ received: 2, pushed: 1, do_not_disturb: 1 });
		expect(rejected).toMatchObject([
			{ json: { phone: dndPhone, rejection_status: 'do_not_disturb' }, pairedItem: { item: 0 } },
		]);
		expect(hints).toEqual([
			`2 rows: 1 pushed, 1 on the do-not-disturb list. ${WAITING} The 'Rejected' output shows the reason for each row.`,
			`The input has no column "person_name", so the contacts have no names. If it has names, enter their column in 'Person Name Column'.`,
		]);
	});
});
