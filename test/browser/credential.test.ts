import { credentialFor } from '../contract/credentialFor';
import { providerSettingsOf } from '../contract/providerBlock';
import { credentialType } from '../n8n/examples';
import { inEditor } from './inEditor';

describe('the settings of a provider in the credential', () => {
	const { test, editor } = inEditor();

	it('are saved and tested, and the editor shows what is wrong with them', async () => {
		const { baseUrl, apiToken, ...fields } = credentialFor(test().simulator);
		const created = await test().n8n.createCredential(credentialType, { baseUrl, apiToken });
		await editor().openCredential(created.id);
		const { page } = editor();
		const master = page.getByTestId('parameter-input-providerSentSettings').locator('.el-switch');
		expect(await page.getByText('Set Up the Call List').count()).toBe(0);
		await master.click();
		const field = page.getByTestId('parameter-input-providerSettings').locator('textarea');

		await field.fill('{ "callList": {} }');
		await page.getByTestId('credential-save-button').click();
		await page.getByText('More details').click();
		await page.getByText('"callList" lacks "callListStatusName"').waitFor();

		await field.fill(JSON.stringify(providerSettingsOf(fields), null, 2));
		const before = test().simulator.requests.length;
		await page.getByTestId('credential-save-button').click();
		await page.getByText('Connection tested successfully').waitFor();
		const since = test().simulator.requests.slice(before);
		const read = since.map(({ method, path }) => `${method} ${path}`);
		expect([...new Set(read)].sort()).toEqual([
			'GET /v1/active_agents',
			'GET /v1/calls',
			'GET /v1/dnd_numbers',
		]);
		await test().n8n.request('DELETE', `/credentials/${created.id}`);
	});
});
