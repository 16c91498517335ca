import { randomUUID } from 'node:crypto';
import type { Account } from '../../e2e/account';
import { post } from '../../e2e/calls';
import { sharedN8n } from '../../e2e/shared';
import { until } from '../../n8n/until';
import { byId, connect, node, webhook } from '../../n8n/workflow';
import { fixtures } from '../../simulator';
import type { Editor } from '../editor';

const PHONE = '9876543210';

/** n8n also runs the node whose previous nodes were selected, if a form, a chat, or a webhook starts the workflow. */
export function previousNodes(account: Account, editor: () => Editor): void {
	const { n8n, simulator, ours, placeCall, create } = account;

	async function previousNodesOf(name: string, url: string): Promise<void> {
		await editor().openNode(name);
		await editor().page.getByRole('button', { name: 'Execute previous nodes' }).click();
		await until('n8n to listen', async () => (await post(url, { phone: PHONE })).status !== 404);
		await editor().readOutput("You selected 'Execute previous nodes'");
		await editor().page.keyboard.press('Escape');
	}

	test('in a loop, where a node is before itself, calls nobody', async () => {
		const path = randomUUID();
		const workflow = await create({
			name: 'previous nodes in a loop',
			nodes: [
				webhook(path, { responseMode: 'onReceived' }),
				{ ...node('Loop', 'n8n-nodes-base.splitInBatches', 3), position: [200, 0] },
				{ ...placeCall({ phoneNumber: '={{ $json.body.phone }}' }), position: [400, 0] },
			],
			connections: connect([
				['Webhook', 'Loop'],
				['Loop', 'Place Call', 'main', 1],
				['Place Call', 'Loop'],
			]),
		});
		await editor().openWorkflow(workflow.id);
		await previousNodesOf('Place Call', `${sharedN8n().baseUrl}/webhook-test/${path}`);
		expect(simulator.callsTo(`+91${PHONE}`)).toBe(0);
	});

	test('calls and pushes nobody, and says so. Execute step calls', async () => {
		const path = randomUUID();
		const push = ours('Push', 'pushCampaignContacts', {
			agentUuid: byId(fixtures.agents.full),
			campaignId: byId(fixtures.campaigns.active),
			phoneColumn: 'body.phone',
			whatToDo: 'wait',
		});
		const workflow = await create({
			name: 'previous nodes',
			nodes: [
				webhook(path, { responseMode: 'onReceived' }),
				{ ...placeCall({ phoneNumber: '={{ $json.body.phone }}' }), position: [300, 0] },
				{ ...push, position: [300, 200] },
			],
			connections: connect([
				['Webhook', 'Place Call'],
				['Webhook', 'Push'],
			]),
		});
		await editor().openWorkflow(workflow.id);
		const url = `${sharedN8n().baseUrl}/webhook-test/${path}`;
		await previousNodesOf('Place Call', url);
		await editor().openNode('Push');
		await editor().readOutput("You executed 'Place Call', so this node did nothing");
		await editor().page.keyboard.press('Escape');
		expect(simulator.callsTo(`+91${PHONE}`)).toBe(0);
		expect(simulator.contactsOf(fixtures.campaigns.active)).toEqual([]);
		expect(await n8n.executions(workflow)).toHaveLength(1);

		await editor().openNode('Place Call');
		await editor().execute();
		await editor().readOutput('919876543210');
		expect(simulator.callsTo(`+91${PHONE}`)).toBe(1);
		expect(editor().errors.splice(0)).toEqual([]);
	});
}
