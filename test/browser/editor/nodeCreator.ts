import type { Account } from '../../e2e/account';
import { packageName } from '../../n8n/package-install';
import { manualTrigger, node } from '../../n8n/workflow';
import type { Editor } from '../editor';

const PLACE_CALL = 'Voice Agent: Place Call';

export function nodeCreator(account: Account, editor: () => Editor): void {
	/** An agent with a tool. */
	beforeAll(async () => {
		const start = manualTrigger();
		const workflow = await account.create({
			name: 'node creator',
			nodes: [
				start,
				node('Agent', '@n8n/n8n-nodes-langchain.agent', 3.1, {}, { position: [400, 0] }),
				node('Tool', `${packageName}.dndTool`, 1, {}, { position: [600, 400] }),
			],
			connections: {
				[start.name]: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				Tool: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
		});
		await editor().openWorkflow(workflow.id);
	});

	const entries = () => editor().page.getByTestId('item-iterator-item');
	async function search(words: string): Promise<void> {
		await editor().page.getByTestId('node-creator-plus-button').click();
		await editor().page.getByTestId('node-creator-search-bar').fill(words);
	}
	const labels = async () => {
		const fields = editor().page.getByTestId('ndv').getByTestId('input-label');
		return (await fields.allInnerTexts()).map((text) => text.split('\n')[0]);
	};

	it.each([
		['outbound call', PLACE_CALL],
		['auto dialer', 'Voice Agent: Push Campaign Contacts'],
		['call recording', 'Voice Agent: Get Call'],
	])('%s finds %s first', async (words, name) => {
		await search(words);
		await entries().filter({ hasText: name }).first().waitFor();
		expect(await entries().first().innerText()).toContain(name);
		await editor().page.keyboard.press('Escape');
	});

	it('adds Place Call as a question by phone', async () => {
		const { page } = editor();
		await search('outbound call');
		await entries().filter({ hasText: PLACE_CALL }).first().click();
		await page.getByText('Ask person by phone and wait for answer').click();
		await page.getByTestId('ndv').waitFor();
		expect(await labels()).toEqual(expect.arrayContaining(['Operation', 'Question']));
	});
}
