import type { Workflow } from '../n8n/driver';
import { packageName } from '../n8n/package-install';
import { manualTrigger, node } from '../n8n/workflow';
import { inEditor } from './inEditor';

describe('searching for nodes in the editor', () => {
	const { test, editor } = inEditor();
	let workflow: Workflow;

	beforeAll(async () => {
		const start = manualTrigger();
		const place = node('Call Tool', `${packageName}.placeCallTool`, 1, {});
		workflow = await test().n8n.createWorkflow({
			name: 'panel',
			nodes: [start, node('Agent', '@n8n/n8n-nodes-langchain.agent', 3.1), place],
			connections: {
				[start.name]: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				'Call Tool': { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
		});
		await editor().openWorkflow(workflow.id);
	});
	afterAll(async () => {
		await test().n8n.deleteWorkflow(workflow);
	});

	it.each([
		['voice and chat agent', 'Voice Agent: Place Call'],
		['telephone', 'Voice Agent: Place Call'],
		['dialer', 'Voice Agent: Place Call'],
		['leads', 'Voice Agent: Push Campaign Contacts'],
		['do not disturb', 'Voice Agent: DND List'],
		['opt out', 'Voice Agent: DND List'],
		['whatsapp', 'Chat Agent: Send'],
		['takeover', 'Chat Agent: Session'],
		['call outcome', 'Voice Agent: Call Completed Trigger'],
	])('%s finds %s', async (words, name) => {
		const { page } = editor();
		await page.getByTestId('node-creator-plus-button').click();
		await page.getByTestId('node-creator-search-bar').fill(words);
		await page.getByTestId('item-iterator-item').filter({ hasText: name }).first().waitFor();
		await page.keyboard.press('Escape');
	});

	it.each([
		['outbound call', 'Voice Agent: Place Call'],
		['phone call', 'Voice Agent: Place Call'],
		['cold call', 'Voice Agent: Place Call'],
		['telecaller', 'Voice Agent: Place Call'],
		['voice bot', 'Voice Agent: Place Call'],
		['auto dialer', 'Voice Agent: Push Campaign Contacts'],
		['call list', 'Voice Agent: Push Campaign Contacts'],
		['call recording', 'Voice Agent: Get Call'],
	])('%s finds %s first', async (words, name) => {
		const { page } = editor();
		await page.getByTestId('node-creator-plus-button').click();
		await page.getByTestId('node-creator-search-bar').fill(words);
		const found = page.getByTestId('item-iterator-item');
		await found.filter({ hasText: name }).first().waitFor();
		expect(await found.first().innerText()).toContain(name);
		await page.keyboard.press('Escape');
	});

	it('an unrelated word finds no node of this package', async () => {
		const { page } = editor();
		await page.getByTestId('node-creator-plus-button').click();
		await page.getByTestId('node-creator-search-bar').fill('invoice');
		const found = page.getByTestId('item-iterator-item');
		await found
			.filter({ hasText: /invoice/i })
			.first()
			.waitFor();
		expect(await found.filter({ hasText: /(Voice|Chat) Agent:/ }).count()).toBe(0);
		await page.keyboard.press('Escape');
	});

	it('a model can fill in the country, the phone number, and the time of a call', async () => {
		const { page } = editor();
		await editor().openWorkflow(workflow.id);
		await editor().openNode('Call Tool');
		for (const parameter of ['countryCode', 'phoneNumber', 'when']) {
			await page.getByTestId(`parameter-input-${parameter}`).first().hover();
			const field = page.getByTestId('parameter-item').filter({
				has: page.getByTestId(`parameter-input-${parameter}`),
			});
			await field.getByTestId('from-ai-override-button').first().waitFor();
		}
	});
});
