import { TestAccount } from '../e2e/account';
import { PACKAGE } from '../e2e/calls';
import { sharedN8n } from '../e2e/shared';
import type { Workflow } from '../n8n/driver';
import { credentialType } from '../n8n/examples';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { Editor } from './editor';

const NODE = 'Campaign Status';
const WORDS = '<a href="https://evil.example">Sign in again</a> <b>now</b>\u001b[31m';

describe('a service whose refusal holds HTML', () => {
	let account: TestAccount;
	let editor: Editor;
	let workflow: Workflow;

	beforeAll(async () => {
		account = await TestAccount.open('hostile-words-1a');
		const credentials = { [credentialType]: account.account.credential };
		const parameters = { campaignId: String(fixtures.campaigns.active) };
		const status = node(NODE, `${PACKAGE}.campaignStatus`, 1, parameters, { credentials });
		workflow = await account.n8n.createWorkflow(chain('hostile words', manualTrigger(), status));
		editor = await Editor.open(sharedN8n().baseUrl);
		await editor.openWorkflow(workflow.id);
		await editor.openNode(NODE);
	}, 200_000);
	afterAll(async () => {
		await editor.close();
		await account.n8n.deleteWorkflow(workflow);
		await account.close();
	});

	it('is shown as it is written, with no link to click', async () => {
		const body = { success: false, error: WORDS };
		account.simulator.faults.inject({ kind: 'status', status: 422, body });
		await editor.execute();
		await editor.readOutput('‹a href="https://evil.example">Sign in again‹/a> ‹b>now‹/b>[31m');
		const panel = editor.page.getByTestId('output-panel');
		expect(await panel.locator('a', { hasText: 'Sign in again' }).count()).toBe(0);
	});
});
