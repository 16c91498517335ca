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

	it('adds Place Call as a human review between an agent and its tool, with its own form, and as a question by phone', async () => {
		const { page } = editor();
		const listEntry = entries().filter({ hasText: PLACE_CALL });
		await page.locator('.vue-flow__edge').last().hover({ force: true });
		await page.getByTestId('add-connection-button').last().click({ force: true });
		await listEntry.click();
		await page.getByRole('button', { name: 'Add to workflow' }).click();
		await page.getByTestId('ndv').waitFor();
		const shown = await labels();
		expect(shown).toEqual(
			expect.arrayContaining(['Message', 'Agent', 'Country', 'Phone Number', 'Counts as Yes']),
		);
		expect(shown).not.toContain('Tool Description');
		expect(shown).not.toContain('Operation');
		await page.keyboard.press('Escape');
		// The agent, the review, and the tool are connected.
		const review = page.locator(`[data-test-id="canvas-node"][data-node-name="${PLACE_CALL}"]`);
		await review.getByText('Send and wait').waitFor();
		await page.locator('.vue-flow__edge').nth(2).waitFor({ state: 'attached' });

		await search('human review');
		await listEntry.first().click();
		await page.getByText('Ask person by phone and wait for answer').click();
		await page.getByTestId('ndv').waitFor();
		expect(await labels()).toEqual(expect.arrayContaining(['Operation', 'Question']));
	});
}
