import type { INode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { engineHarness } from '../../engine';
import { dialects, fixtures, startSimulator, type Fault, type Simulator } from '../../simulator';
import { runPush, manyRows, phone } from './pushHarness';

const harness = engineHarness();
const { agents, campaigns } = fixtures;
let simulator: Simulator;
let waits: jest.SpyInstance;
let attached: Pick<INode, 'credentials'>;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
	const { baseUrl, token: apiToken } = simulator;
	attached = {
		credentials: { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) },
	};
});
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
});
afterEach(() => {
	waits.mockRestore();
	simulator.reset();
});
afterAll(async () => await simulator.stop());

const contacts = `/v1/campaigns/${campaigns.active}/contacts`;
const pushes = () => simulator.requests.filter(({ path }) => path === contacts).length;
const inCampaign = () => simulator.contactsOf(campaigns.active).map((contact) => contact.phone);
const run = async (over: Partial<INode> = {}, options: Record<string, string | boolean> = {}) => {
	const agentUuid = { __rl: true, mode: 'id', value: agents.full };
	const parameters = {
		campaignId: campaigns.active,
		agentUuid,
		options: { skipPushedBefore: true, ...options },
	};
	return await runPush(harness, manyRows(3), parameters, { ...attached, ...over });
};
const statuses = async () => {
	const { rejected } = await run({ onError: 'continueRegularOutput' });
	return rejected.map(({ json }) => json.rejection_status);
};
const said = (error: string) => ({ success: false, error, details: null });

/** Responses after the service has added the contacts to the campaign. */
const MISLEADING: Fault[] = [
	{ kind: 'rejectingWords', status: 500, body: said('Deadlock while saving contacts[2]') },
	{ kind: 'rejectingWords', status: 502, body: said('Campaign is archived') },
	{ kind: 'rejectingWords', status: 408, body: said('contacts[2]: timed out') },
	{ kind: 'rejectingWords', status: 400, body: { error: 'contacts: Bad Gateway' } },
	{ kind: 'rejectingWords', status: 409, body: '' },
	{ kind: 'rejectingWords', status: 200, body: 'OK' },
	{
		kind: 'rejectingWords',
		status: 400,
		body: { ...said('contacts[2] is invalid'), data: { campaign_upload_id: 7 } },
	},
	...[401, 413, 429].map(
		(status): Fault => ({
			kind: 'rejectingWords',
			status,
			body: { success: true, data: { campaign_upload_id: 7 } },
		}),
	),
	...[400, 422, 429].map(
		(status): Fault => ({
			kind: 'rejectingWords',
			status,
			body: { ...said('contacts[2] is invalid'), data: { contacts_accepted: 2 } },
		}),
	),
	{ kind: 'wrongCounts' },
];

describe.each(MISLEADING)('$kind $status $body', (fault) => {
	test('with Retry On Fail, the rows are sent once, and their numbers stay stored', async () => {
		simulator.faults.inject({ ...fault, match: { path: contacts } });
		const { error } = await run({ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
		expect(error?.message).toMatch(
			/so the outcome is unknown|It's unknown which contacts are in the campaign$/,
		);
		expect(error?.description).toContain('Unknown: 3 rows');
		expect(pushes()).toBe(1);

		simulator.faults.clear();
		expect(await statuses()).toEqual(['pushed_before', 'pushed_before', 'pushed_before']);
		expect(pushes()).toBe(1);
		expect(inCampaign()).toEqual([0, 1, 2].map((row) => `+91${phone(row)}`));
	});
});
