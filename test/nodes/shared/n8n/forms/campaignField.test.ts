import { randomUUID } from 'node:crypto';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../../../contract/credentialFor';
import { engineHarness, searchList } from '../../../../engine';
import { dialects, fixtures } from '../../../../simulator';
import { useSimulator } from '../../../../simulator/testing/useSimulator';
import { seededCall } from '../../../../simulator/state/seed';

const harness = engineHarness();
const NODES = [
	'pushCampaignContacts',
	'campaignStatus',
	'campaignProgressTrigger',
	'campaignCallsTrigger',
];

describe.each(Object.values(dialects))('the Campaign list, dialect $name', (dialect) => {
	const simulator = useSimulator({ dialect });
	// Reads are repeated after a pause.
	beforeEach(() => jest.spyOn(clock, 'sleep').mockResolvedValue(undefined));
	afterEach(() => jest.restoreAllMocks());
	function addCallOf(campaignId: number): void {
		const callId = randomUUID();
		const call = seededCall(simulator().state.calls.size, Date.now());
		simulator().state.calls.set(callId, { ...call, callId, campaignId });
	}

	async function listed(node = 'campaignStatus', filter = '', account: object = {}) {
		const data = { ...credentialFor(simulator()), ...account };
		const withCredential = await harness.nodeWith(data, node);
		const { results } = await searchList(withCredential, 'searchCampaigns', filter);
		return results;
	}

	it.each(NODES)(
		'of %s shows the campaigns of recent calls by name only, which n8n stores with the workflow',
		async (node) => {
			addCallOf(fixtures.campaigns.paused);
			expect(await listed(node)).toEqual([
				{ name: 'Morning Leads', value: String(fixtures.campaigns.active) },
				{ name: 'Renewals', value: String(fixtures.campaigns.paused) },
			]);
			// The call list, and the status of each campaign once.
			const [, ...others] = simulator().requests.filter(({ path }) => path === '/v1/calls');
			expect(simulator().requests.length - others.length).toBe(3);
		},
	);

	it('shows those whose name or ID matches the filter', async () => {
		addCallOf(fixtures.campaigns.paused);
		const paused = [{ name: 'Renewals', value: String(fixtures.campaigns.paused) }];
		expect(await listed('campaignStatus', 'RENEW')).toEqual(paused);
		expect(await listed('campaignStatus', String(fixtures.campaigns.paused))).toEqual(paused);
		expect(await listed('campaignStatus', 'spring')).toEqual([]);
	});

	it('shows a campaign whose status cannot be read by its ID', async () => {
		simulator().faults.respond(/status$/, 503);
		expect(await listed()).toEqual([
			{
				name: `Campaign ${fixtures.campaigns.active}`,
				value: String(fixtures.campaigns.active),
			},
		]);
	});

	it('says what failed', async () => {
		simulator().faults.respond('/v1/calls', 503);
		await expect(listed()).rejects.toThrow('503');
	});
});
