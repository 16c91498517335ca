import { completed, readExample } from '../n8n/examples';
import { TestAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import { Editor } from './editor';

describe('the editor', () => {
	let test: TestAccount;
	let editor: Editor;

	beforeAll(async () => {
		test = await TestAccount.open('page-token-00001');
		editor = await Editor.open(sharedN8n().baseUrl);
	});

	afterAll(async () => {
		await editor.close();
		await test.close();
	});

	it('offers the active agents of the account in the panel of Place Call', async () => {
		const example = completed(readExample('place-a-call.json'), { ...test.account, agentUuid: '' });
		const nodes = example.nodes.map((node) => {
			if (node.name !== 'Place Call') return node;
			const agentUuid = { __rl: true, mode: 'list', value: '' } as const;
			return { ...node, parameters: { ...node.parameters, agentUuid } };
		});
		const workflow = await test.n8n.createWorkflow({ ...example, nodes });
		await editor.openWorkflow(workflow.id);
		await editor.openNode('Place Call');
		const { page } = editor;
		await page.getByTestId('resource-locator-agentUuid').locator('input').last().click();
		await page.getByText('Sales India').click();
		const chosen = page.getByTestId('resource-locator-agentUuid').locator('input').last();
		await chosen.waitFor();
		expect(await chosen.inputValue()).toBe('Sales India');
		await test.n8n.deleteWorkflow(workflow);
	});

	it('shows that the token of a credential is accepted, and never the token', async () => {
		await editor.openCredential(test.account.credential.id);
		await editor.page.getByText('Connection tested successfully').waitFor();
		expect(await editor.page.content()).not.toContain(test.simulator.token);
	});
});
