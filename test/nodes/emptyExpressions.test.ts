/** An expression that returns nothing, where a switch, a filter, or what an agent asks would silently be another. */
import type { INodeParameters } from 'n8n-workflow';
import { agent } from '../contract/contractCase';
import { simulatedNodes } from '../contract/simulatedNodes';
import { activate, makeWorkflow, runNode } from '../engine';
import { fixtures } from '../simulator';

const { campaigns } = fixtures;
const { harness, simulator, nodeOf } = simulatedNodes();

afterEach(() => simulator().reset());

const release = { campaignId: String(campaigns.active), ...agent(), enqueue: true };
const call = { operation: 'place', ...agent(), countryCode: 'IN', phoneNumber: '9876543210' };
const row = { json: { phone: '98765 43210', campaign_upload_id: null } };

type Example = [what: string, type: string, parameters: INodeParameters, message: string];
const EXAMPLES: Example[] = [
	[
		'a dry run releases nobody',
		'pushCampaignContacts',
		{ ...release, options: { dryRun: '={{ $vars.x }}' } },
		"'Dry Run' in 'Options' must be true or false, but its expression returned nothing",
	],
	[
		'numbers that were pushed before are not pushed again',
		'pushCampaignContacts',
		{ ...release, options: { skipPushedBefore: '={{ $vars.x }}' } },
		"'Skip Numbers Pushed Before' in 'Options' must be true or false, but its expression returned nothing",
	],
	[
		'what is to be forgotten is not pushed',
		'pushCampaignContacts',
		{ ...release, options: { forgetPushed: '={{ $vars.x }}' } },
		`'Forget Pushed Numbers' in 'Options' must be one of "all", "rows", but its expression returned nothing`,
	],
	[
		'the calls of one contact list are not those of the whole account',
		'getCall',
		{ operation: 'getMany', filters: { campaignUploadId: '={{ $json.campaign_upload_id }}' } },
		"'Contact List ID' in 'Filters' must be text or a number, but its expression returned nothing",
	],
	[
		'nobody is asked for "[object Object]"',
		'placeCall',
		{ ...call, dataExtraction: { points: [{ description: '={{ ({ ask: "Which day?" }) }}' }] } },
		"'Description' in Data Point 1 of 'Data Extraction' must be text or a number, but its expression returned an object",
	],
];

test.each(EXAMPLES)('%s', async (_what, type, parameters, message) => {
	const run = await runNode(harness.credentials, await nodeOf(type, parameters), [row]);
	expect(run.data.resultData.error?.message).toBe(message);
	expect(simulator().requests).toEqual([]);
});

test('a trigger for some statuses does not start on every call', async () => {
	const node = await nodeOf('callCompletedTrigger', { filters: { statuses: '={{ $vars.x }}' } });
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toThrow(
		"'Statuses' in 'Filters' must be text or a list of texts, but its expression returned nothing",
	);
	expect(simulator().requests).toEqual([]);
});

test('an empty field is no filter, whatever the row has', async () => {
	const empty = { operation: 'getMany', filters: { campaignUploadId: '', status: '' } };
	const run = await runNode(harness.credentials, await nodeOf('getCall', empty), [row]);
	expect(run.data.resultData.error).toBeUndefined();
	expect(simulator().requests[0]).toMatchObject({ path: '/v1/calls', query: {} });
});
