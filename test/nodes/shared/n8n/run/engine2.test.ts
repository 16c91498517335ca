/** What nodes do on Engine 2.0 of n8n. */
import type { INodeExecutionData } from 'n8n-workflow';
import { activate, engineHarness, makeWorkflow, runOnEngine2 } from '../../../../engine';
import { CALL } from '../../../PlaceCall/placeCallHarness';
import { pushNode } from '../../../PushCampaignContacts/pushHarness';

const harness = engineHarness();
const rows: INodeExecutionData[] = [{ json: { phone: '9000000001' } }, { json: {} }];
const placeCall = (rest: object = {}) => harness.node('placeCall', { parameters: CALL, ...rest });

const CANNOT_RUN =
	"This node can't run on Engine 2.0 of n8n, so remove engineType from the settings of the workflow, and of the workflow that starts it";

it.each([
	['Place Call', () => placeCall()],
	['Push Campaign Contacts', () => pushNode({})],
])('%s sends nothing', async (_name, node) => {
	await expect(runOnEngine2(node(), rows)).rejects.toThrow(CANNOT_RUN);
});

it('fails each item with Continue On Fail, and does not pass the input on', async () => {
	const node = placeCall({ onError: 'continueRegularOutput' });
	const [items] = await runOnEngine2(node, rows);
	const error = (item: number) => ({ error: `${CANNOT_RUN} [item ${item}]`, details: { item } });
	expect(items).toMatchObject([
		{ json: error(0), pairedItem: { item: 0 } },
		{ json: error(1), pairedItem: { item: 1 } },
	]);
});

it.each([
	'callCompletedTrigger',
	'campaignCallsTrigger',
	'campaignProgressTrigger',
	'chatDeliveryTrigger',
	'chatEventsTrigger',
])('%s is not published', async (type) => {
	const workflow = makeWorkflow([harness.node(type, {})], {}, { engineType: 'v2' });
	await expect(activate(workflow)).rejects.toThrow(CANNOT_RUN);
});
