import { credentialType } from '../n8n/examples';
import { packageName } from '../n8n/package-install';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { TestAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import { fixtures } from '../simulator';
import { Editor } from './editor';

describe('Chat Session in the editor', () => {
	let test: TestAccount;
	let editor: Editor;

	beforeAll(async () => {
		test = await TestAccount.open('page-token-00002');
		editor = await Editor.open(sharedN8n().baseUrl);
	});

	afterAll(async () => {
		await editor.close();
		await test.close();
	});

	/** Puts the node on the canvas as it is saved, and opens it. */
	async function open(version: number, parameters: { [name: string]: string }) {
		const credentials = { [credentialType]: test.account.credential };
		const session = node(
			'Session',
			`${packageName}.chatSession`,
			version,
			{ sessionId: fixtures.sessions.open, ...parameters },
			{ credentials },
		);
		const workflow = await test.n8n.createWorkflow(chain('sessions', manualTrigger(), session));
		await editor.openWorkflow(workflow.id);
		await editor.openNode('Session');
		return workflow;
	}

	const chosen = async (parameter: string) =>
		await editor.page.getByTestId(`parameter-input-${parameter}`).locator('input').inputValue();

	it('that was saved before it had resources shows its operation and runs', async () => {
		const workflow = await open(1, { operation: 'close' });
		expect(await chosen('operation')).toBe('Close');
		expect(await editor.page.getByTestId('parameter-input-resource').count()).toBe(0);
		expect(await editor.page.getByTestId('parameter-input-sessionId').count()).toBe(1);
		const { status } = await test.n8n.runManually(workflow, 'Start');
		expect(status).toBe('success');
		expect(test.simulator.sessions.get(fixtures.sessions.open).status).toBe('closed');
		await test.n8n.deleteWorkflow(workflow);
	});

	it('offers for each resource what belongs to it', async () => {
		const workflow = await open(2, {});
		expect([await chosen('resource'), await chosen('operation')]).toEqual(['Session', 'Create']);
		const { page } = editor;
		await page.getByTestId('parameter-input-resource').locator('input').click();
		await page.getByRole('option', { name: 'Watch List' }).click();
		await page.getByTestId('parameter-input-triggerAddress').waitFor();
		expect(await chosen('operation')).toBe('Watch');
		await test.n8n.deleteWorkflow(workflow);
	});
});
