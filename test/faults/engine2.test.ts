/** Engine 2.0, a preview in n8n: nothing is sent from it. */
import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { Account, split } from '../e2e/account';
import { installHost } from '../n8n/host';
import { newHome, removeHome } from '../n8n/package-install';
import { freePort } from '../n8n/ports';
import { Postgres } from '../n8n/postgres';
import { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { fixtures } from '../simulator';

const CANNOT_RUN = "This node can't run on Engine 2.0 of n8n";

let postgres: Postgres;
let server: N8nServer;
let account: Account;

beforeAll(async () => {
	const host = await installHost(console.log);
	const home = await newHome();
	postgres = await Postgres.start(home);
	const env = {
		N8N_ENABLED_MODULES: 'engine-v2',
		N8N_ENGINE_DATABASE_URL: postgres.createDatabase('engine'),
		N8N_ENGINE_HOST: '127.0.0.1',
		N8N_ENGINE_PORT: String(await freePort()),
		N8N_ENGINE_CONTROL_PLANE_PORT: String(await freePort()),
	};
	server = await N8nServer.start({ host, home, env });
	account = new Account({ n8nUrl: server.baseUrl });
	await account.open();
});
afterAll(async () => {
	await account.simulator.stop();
	await server.stop();
	await postgres.stop();
	await removeHome(server.home);
});

/** n8n's editor doesn't show this setting. */
const onEngine2 = (workflow: WorkflowJson) => ({ ...workflow, settings: { engineType: 'v2' } });

/** In a sub-workflow, which has no such setting. */
async function placeInSubWorkflow(): Promise<INode> {
	const type = 'n8n-nodes-base.executeWorkflowTrigger';
	const trigger = node('Sub', type, 1.1, { inputSource: 'passthrough' });
	const sub = await account.publish(chain('sub', trigger, account.placeCall()));
	const workflowId = byId(sub.id);
	return node('Execute', 'n8n-nodes-base.executeWorkflow', 1.2, { workflowId, options: {} });
}

test.each<[string, () => Promise<INode>]>([
	['Place Call', async () => Promise.resolve(account.placeCall())],
	['Place Call in a sub-workflow', placeInSubWorkflow],
])('%s calls nobody, and says how to go on', async (_what, last) => {
	const path = randomUUID();
	const { n8n, simulator } = account;
	const trigger = webhook(path, { responseMode: 'onReceived' });
	const flow = chain('engine 2', trigger, split(), await last());
	const workflow = await account.publish(onEngine2(flow));
	const people = [{ phone: '9000000001' }, { phone: '9000000002' }];
	expect((await n8n.webhook(path, { people })).status).toBe(200);
	const id = await account.executionOf(workflow);
	expect(await n8n.finished(id)).toMatchObject({ status: 'error' });
	const { error } = await n8n.runData(id);
	expect(error?.message).toContain(CANNOT_RUN);
	expect(error?.message).toContain('remove engineType from the settings of the workflow');
	expect(simulator.placedCalls()).toEqual([]);
});

const POLLED = {
	campaignId: String(fixtures.campaigns.active),
	pollTimes: { item: [{ mode: 'everyMinute' }] },
};

test.each<[type: string, parameters: INodeParameters]>([
	['callCompletedTrigger', {}],
	['campaignCallsTrigger', POLLED],
	['campaignProgressTrigger', POLLED],
	['chatDeliveryTrigger', {}],
	['chatEventsTrigger', { sessionIds: fixtures.sessions.open }],
])('%s is not published', async (type, parameters) => {
	const { n8n, simulator } = account;
	const trigger = account.ours('Trigger', type, parameters, { webhookId: randomUUID() });
	const { id } = await account.publish(onEngine2(chain(type, trigger)));
	// n8n tries for about 15 seconds before it shows the reason.
	const statusWithReason = async () => {
		const status = JSON.stringify(await n8n.request('GET', `/workflows/${id}/publication-status`));
		return status.includes('"failed"') && status;
	};
	const reason = await until('the reason', statusWithReason, { timeout: 90_000 });
	expect(reason).toContain(CANNOT_RUN);
	expect(simulator.requests).toEqual([]);
});
