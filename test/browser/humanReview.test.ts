import { packageName } from '../n8n/package-install';
import { manualTrigger, node } from '../n8n/workflow';
import { inEditor } from './inEditor';

const NAME = 'Voice Agent: Place Call';

describe('Place Call as a human review', () => {
	const { test, editor } = inEditor();

	/** The entry of Place Call in the open list. */
	const listEntry = () => editor().page.getByTestId('item-iterator-item').filter({ hasText: NAME });
	const labels = async () => {
		const fields = editor().page.getByTestId('ndv').getByTestId('input-label');
		return (await fields.allInnerTexts()).map((text) => text.split('\n')[0]);
	};

	it('can be added between an agent and its tool, with its own form, and is found as a question by phone', async () => {
		const { page } = editor();
		const start = manualTrigger();
		const workflow = await test().n8n.createWorkflow({
			name: 'review',
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
		await page.locator('.vue-flow__edge').last().hover({ force: true });
		await page.getByTestId('add-connection-button').last().click({ force: true });
		await listEntry().click();
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
		const review = page.locator(`[data-test-id="canvas-node"][data-node-name="${NAME}"]`);
		await review.getByText('Send and wait').waitFor();
		await page.locator('.vue-flow__edge').nth(2).waitFor({ state: 'attached' });

		await page.getByTestId('node-creator-plus-button').click();
		await page.getByTestId('node-creator-search-bar').fill('human review');
		await listEntry().first().click();
		await page.getByText('Ask person by phone and wait for answer').click();
		await page.getByTestId('ndv').waitFor();
		expect(await labels()).toEqual(expect.arrayContaining(['Operation', 'Question']));
		await test().n8n.deleteWorkflow(workflow);
	});
});
