/** What the lists of the editor offer. */
import { randomUUID } from 'node:crypto';
import { countryField } from '../../../../nodes/host/forms/countryField';
import { credentialFor } from '../../../contract/credentialFor';
import { engineHarness, searchList, useNoWaits } from '../../../engine';
import { dialects, fixtures } from '../../../simulator';
import { useSimulator } from '../../../simulator/testing/useSimulator';
import { seededCall } from '../../../simulator/state/seed';

const harness = engineHarness();

describe('Campaign', () => {
	const simulator = useSimulator({ dialect: dialects.plain });
	// Reads are repeated after a pause.
	useNoWaits();
	const { active, paused } = fixtures.campaigns;
	const LEADS = { name: 'Morning Leads', value: String(active) };
	const RENEWALS = { name: 'Renewals', value: String(paused) };

	async function listed({ node = 'campaignStatus', filter = '' } = {}) {
		const withCredential = await harness.nodeWith(credentialFor(simulator()), node);
		return (await searchList(withCredential, 'searchCampaigns', filter)).results;
	}
	function addRenewal() {
		const call = seededCall(simulator().state.calls.size, Date.now());
		const callId = randomUUID();
		simulator().state.calls.set(callId, { ...call, callId, campaignId: paused });
	}

	test.each([...['pushCampaignContacts', 'campaignStatus', 'campaignCallsTrigger']])(
		'%s shows the campaigns of recent calls by name, which n8n stores',
		async (node) => {
			addRenewal();
			expect(await listed({ node })).toEqual([LEADS, RENEWALS]);
			// The call list, and the status of each campaign once.
			const [, ...others] = simulator().requests.filter(({ path }) => path === '/v1/calls');
			expect(simulator().requests.length - others.length).toBe(3);
		},
	);

	test('shows those whose name or ID matches the filter', async () => {
		addRenewal();
		expect(await listed({ filter: 'RENEW' })).toEqual([RENEWALS]);
		expect(await listed({ filter: String(paused) })).toEqual([RENEWALS]);
		expect(await listed({ filter: 'spring' })).toEqual([]);
	});

	test('shows a campaign whose status cannot be read by its ID', async () => {
		simulator().faults.respond(/status$/, 503);
		expect(await listed()).toEqual([{ name: `Campaign ${active}`, value: String(active) }]);
	});

	test('says what failed', async () => {
		simulator().faults.respond('/v1/calls', 503);
		await expect(listed()).rejects.toThrow('503');
	});

	// The editor shows the description only of this class.
	test('says what to do if the credential is the reason', async () => {
		const credential = { ...credentialFor(simulator()), serviceProfile: '{ "calls": ' };
		const node = await harness.nodeWith(credential, 'campaignStatus');
		await expect(searchList(node, 'searchCampaigns')).rejects.toMatchObject({
			name: 'NodeApiError',
			message: "'Service Profile' in the credential isn't valid JSON",
			description: expect.stringContaining('In n8n, paste one block'),
		});
	});
});

const ONE = [
	{ name: 'Answered', value: 'picked' },
	{ name: 'Not Answered', value: 'not_picked' },
	{ name: 'Failed', value: 'failed' },
];
const SEVERAL = [...ONE, { name: 'Not Answered or Failed', value: 'not_picked, failed' }];

describe.each([
	['getCall', 'searchStatus', ONE],
	['callCompletedTrigger', 'searchStatuses', SEVERAL],
	['campaignCallsTrigger', 'searchStatuses', SEVERAL],
] as const)('Status of %s', (node, method, all) => {
	const failed = all.filter(({ value }) => value.includes('failed'));

	test.each<[string | undefined, object[]]>([
		[undefined, [...all]],
		[' ', [...all]],
		// A service may have any status.
		[' Voicemail ', [{ name: 'Voicemail', value: 'Voicemail' }]],
		['fail', [...failed, { name: 'fail', value: 'fail' }]],
		['picked', all.filter(({ value }) => value.includes('picked'))],
		['ANSWERED', all.filter(({ name }) => name.includes('Answered'))],
	])('offers for %j the usual ones in words, and what was typed', async (typed, offered) => {
		const { results } = await searchList(harness.node(node), method, typed);
		expect(results).toEqual(offered);
	});
});

test('Statuses of people to call again begins with those who were not reached, and does not offer Answered', async () => {
	const offered = async (typed?: string) =>
		(await searchList(harness.node('getCall'), 'searchUnreached', typed)).results.map(
			({ name }) => name,
		);
	expect(await offered()).toEqual(['Not Answered or Failed', 'Not Answered', 'Failed']);
	expect(await offered('Voicemail')).toEqual(['Voicemail']);
});

// The editor finds an entry by its name only.
test('a country is found by its code, and by its name without accents', () => {
	const names = countryField.options?.map(({ name }) => name);
	expect(names).toEqual(
		expect.arrayContaining(['India (IN)', 'Åland Islands (AX, Aland Islands)']),
	);
});
