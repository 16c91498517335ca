/** Expressions that return nothing would silently change a switch, a filter, or a question, so the node stops. */
import type { INodeParameters } from 'n8n-workflow';
import { agent } from '../contract/contractCase';
import { simulatedNodes } from '../contract/simulatedNodes';
import { activate, makeWorkflow, runNode } from '../engine';
import { fixtures } from '../simulator';

const { campaigns } = fixtures;
const { harness, simulator, nodeOf } = simulatedNodes();

const release = { campaignId: String(campaigns.active), ...agent(), enqueue: true };
const call = { operation: 'place', ...agent(), countryCode: 'IN', phoneNumber: '9876543210' };
const row = { json: { phone: '98765 43210', campaign_upload_id: null } };

type Example = [title: string, type: string, parameters: INodeParameters, message: string];
const EXAMPLES: Example[] = [
	[
		'an empty Dry Run does not push',
		'pushCampaignContacts',
		{ ...release, options: { dryRun: '={{ $vars.x }}' } },
		"'Dry Run' in 'Options' must be true or false, but its expression returned nothing",
	],
	[
		'an empty Skip Numbers Pushed Before does not push numbers again',
		'pushCampaignContacts',
		{ ...release, options: { skipPushedBefore: '={{ $vars.x }}' } },
		"'Skip Numbers Pushed Before' in 'Options' must be true or false, but its expression returned nothing",
	],
	[
		'an empty filter by contact list does not return all calls of the account',
		'getCall',
		{ operation: 'getMany', filters: { campaignUploadId: '={{ $json.campaign_upload_id }}' } },
		"'Contact List ID' in 'Filters' must be text or a number, but its expression returned nothing",
	],
	[
		'an object as a description does not become the question "[object Object]"',
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

test('a trigger with an empty status filter is not published, instead of starting for every call', async () => {
	const node = await nodeOf('callCompletedTrigger', { filters: { statuses: '={{ $vars.x }}' } });
	await expect(activate(harness.credentials, makeWorkflow([node]))).rejects.toThrow(
		"'Statuses' in 'Filters' must be text or a list of texts, but its expression returned nothing",
	);
	expect(simulator().requests).toEqual([]);
});

test('an empty filter field filters nothing', async () => {
	const empty = { operation: 'getMany', filters: { campaignUploadId: '', status: '' } };
	const run = await runNode(harness.credentials, await nodeOf('getCall', empty), [row]);
	expect(run.data.resultData.error).toBeUndefined();
	expect(simulator().requests[0]).toMatchObject({ path: '/v1/calls', query: {} });
});
