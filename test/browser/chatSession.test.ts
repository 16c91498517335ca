import { credentialType } from '../n8n/examples';
import { packageName } from '../n8n/package-install';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { inEditor } from './inEditor';

describe('Chat Session in the editor', () => {
	const { test, editor } = inEditor();

	const selected = async (parameter: string) =>
		await editor().page.getByTestId(`parameter-input-${parameter}`).locator('input').inputValue();

	it('shows the operations and fields of the selected resource', async () => {
		const credentials = { [credentialType]: test().account.credential };
		const session = node('Session', `${packageName}.chatSession`, 1, {}, { credentials });
		const workflow = await test().n8n.createWorkflow(chain('sessions', manualTrigger(), session));
		await editor().openWorkflow(workflow.id);
		await editor().openNode('Session');
		expect([await selected('resource'), await selected('operation')]).toEqual([
			'Session',
			'Create',
		]);
		const { page } = editor();
		await page.getByTestId('parameter-input-resource').locator('input').click();
		await page.getByRole('option', { name: 'Watch List' }).click();
		await page.getByTestId('parameter-input-triggerUrl').waitFor();
		expect(await selected('operation')).toBe('Watch');
		await test().n8n.deleteWorkflow(workflow);
	});
});
