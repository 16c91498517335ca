/** In real n8n, an expression that returns nothing doesn't turn off a switch or remove a filter. */
import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { isN8n1, N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, manualTrigger, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { PACKAGE, placeCalls, post, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const { agents, campaigns } = fixtures;
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };
const ROW = { phone: '98765 43210', campaign_upload_id: null };

let n8n: N8nDriver;
let simulator: Simulator;
let credential: Reference;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain });
	credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await n8n.request('DELETE', `/credentials/${credential.id}`);
	await simulator.stop();
});

function ours(name: string, type: string, parameters: INodeParameters, rest = {}): INode {
	const credentials = { [CREDENTIAL]: { id: credential.id, name: credential.name } };
	return node(name, `${PACKAGE}.${type}`, 1, parameters, { credentials, ...rest });
}

test.each<[what: string, type: string, parameters: INodeParameters, message: string]>([
	[
		'An empty Dry Run of a release',
		'pushCampaignContacts',
		{
			campaignId: byId(campaigns.active),
			...AGENT,
			enqueue: true,
			options: { dryRun: '={{ $vars.x }}' },
		},
		"'Dry Run' in 'Options' must be true or false, but its expression returned nothing",
	],
	[
		'An empty filter by contact list in Get Many',
		'getCall',
		{ operation: 'getMany', filters: { campaignUploadId: '={{ $json.campaign_upload_id }}' } },
		"'Contact List ID' in 'Filters' must be text or a number, but its expression returned nothing",
	],
])('%s stops the node before anything is sent', async (_what, type, parameters, message) => {
	const jsonOutput = JSON.stringify(ROW);
	const rows = node('Rows', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput });
	const workflow = await n8n.createWorkflow(
		chain('Empty expressions', manualTrigger(), rows, ours('Node', type, parameters)),
	);
	try {
		const { id } = await n8n.runManually(workflow, 'Start');
		const { error } = await n8n.runData(id);
		expect(error?.message).toBe(message);
		expect(simulator.requests).toEqual([]);
	} finally {
		await n8n.deleteWorkflow(workflow);
	}
});

/** n8n 1 returns the reason in its response. n8n 2 tries for about 15 seconds before it shows the reason. */
async function whyNotPublished(workflow: Workflow): Promise<string> {
	const error = await n8n.activate(workflow).catch(String);
	if (isN8n1) return error ?? '';
	const path = `/workflows/${workflow.id}/publication-status`;
	const statusWithReason = async () => {
		const status = JSON.stringify(await n8n.request('GET', path));
		return status.includes('"failed"') && status;
	};
	return await until('the reason', statusWithReason, { timeout: 90_000 });
}

test('does not publish a trigger with an empty status filter', async () => {
	const webhookId = randomUUID();
	const filters = { statuses: '={{ $vars.x }}' };
	const trigger = ours('Trigger', 'callCompletedTrigger', { filters }, { webhookId });
	const workflow = await n8n.createWorkflow(chain('Empty filter', trigger));
	try {
		const reason = await whyNotPublished(workflow);
		expect(reason).toContain(
			"'Statuses' in 'Filters' must be text or a list of texts, but its expression returned nothing",
		);
		const url = `${sharedN8n().baseUrl}/webhook/${webhookId}/call-completed`;
		const [callId = ''] = await placeCalls(simulator, 1, 'https://example.com/reports');
		const { status } = await post(url, { call_id: callId, status: 'failed' });
		expect(status).toBeGreaterThanOrEqual(400);
		expect(await n8n.executions(workflow)).toEqual([]);
	} finally {
		await removeWorkflow(n8n, workflow);
	}
});
