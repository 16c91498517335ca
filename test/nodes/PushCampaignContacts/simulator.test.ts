import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { engineHarness } from '../../engine';
import { dialects, fixtures, type Dialect } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { runPush, manyRows, phone, rowsOf, type NodeParameters } from './pushHarness';

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

	test.each([0, 10, 24])(
		'of 25 rows, Rejected lists row %i, which the service rejects, a number on the do-not-disturb list, and one that is queued already',
		async (bad) => {
			const [landline, listed, queued] = ['+911234567890', 5, 7];
			const release = { enqueue: true };
			await push(rowsOf({ phone: phone(queued) }), release);
			const input = manyRows(25);
			Object.assign(input[bad]?.json ?? {}, { phone: landline });
			Object.assign(input[listed]?.json ?? {}, { phone: dndPhone });
			const { pushed, rejected, error } = await push(input, release);
			expect(error).toBeUndefined();
			const isRejected = dialect.campaigns.plus91NeedsMobile;
			const expected = [
				...(isRejected ? [[bad, 'rejected']] : []),
				[listed, 'do_not_disturb'],
				[queued, 'skipped_duplicate'],
			].sort(([one], [other]) => Number(one) - Number(other));
			expect(rejected.map(({ json, pairedItem }) => [pairedItem, json.rejection_status])).toEqual(
				expected.map(([item, status]) => [{ item }, status]),
			);
			const mobiles = [...input.keys()].filter((index) => index !== bad && index !== listed);
			expect([...new Set(inCampaign())].sort()).toEqual([
				...(isRejected ? [] : [landline]),
				...mobiles.map((index) => `+91${phone(index)}`),
			]);
			expect(pushed.at(-1)?.json.totals).toMatchObject({
				received: 25,
				pushed: 25 - expected.length,
				do_not_disturb: 1,
				skipped_duplicate: 1,
				rejected: expected.length - 2,
			});
		},
	);
});
