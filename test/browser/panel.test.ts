import { credentialType } from '../n8n/examples';
import { packageName } from '../n8n/package-install';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { inEditor } from './inEditor';

describe('the editor', () => {
	const { test, editor } = inEditor();

	it('lists the active agents of the account in the panel of Place Call', async () => {
		const agentUuid = { __rl: true, mode: 'list', value: '' };
		const credentials = { [credentialType]: test().account.credential };
		const placeCall = node(
			'Place Call',
			`${packageName}.placeCall`,
			1,
			{ agentUuid, countryCode: 'IN' },
			{ credentials },
		);
		const workflow = await test().n8n.createWorkflow(chain('panel', manualTrigger(), placeCall));
		await editor().openWorkflow(workflow.id);
		await editor().openNode('Place Call');
		const { page } = editor();
		await page.getByTestId('resource-locator-agentUuid').locator('input').last().click();
		await page.getByText('Sales India').click();
		const chosen = page.getByTestId('resource-locator-agentUuid').locator('input').last();
		await chosen.waitFor();
		expect(await chosen.inputValue()).toBe('Sales India');
		await test().n8n.deleteWorkflow(workflow);
	});

	it('shows the labels of all options of Agents in full', async () => {
		const developerSettings = { additionalQueryParameters: '{}', concurrency: 10 };
		const agents = node('Agents', `${packageName}.agents`, 1, { developerSettings });
		const workflow = await test().n8n.createWorkflow(chain('options', manualTrigger(), agents));
		await editor().openWorkflow(workflow.id);
		await editor().openNode('Agents');
		await editor().page.getByText('Additional Query').first().waitFor();
		// As text, because only the page has the types of its elements.
		const cut: unknown = await editor().page.evaluate(
			`[...document.querySelectorAll('[data-test-id="ndv"] label span')]
				.filter((label) => label.scrollWidth > label.clientWidth)
				.map((label) => label.textContent)`,
		);
		expect(cut).toEqual([]);
		await test().n8n.deleteWorkflow(workflow);
	});

	it('shows that the token of a credential is valid, but never the token', async () => {
		await editor().openCredential(test().account.credential.id);
		await editor().page.getByText('Connection tested successfully').waitFor();
		expect(await editor().page.content()).not.toContain(test().simulator.token);
	});
});
