import { TestAccount } from '../e2e/account';
import { PACKAGE } from '../e2e/calls';
import { sharedN8n } from '../e2e/shared';
import type { Workflow } from '../n8n/driver';
import { credentialType } from '../n8n/examples';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { Editor } from './editor';

const NODE = 'Push Campaign Contacts';
/** What a node before this one gives: the text of a file, made a file. */
const LEADS = 'phone;person_name;city\n98765 43210;Asha Rao;Pune\n12;Farah Ali;Mumbai\n';

describe('a CSV file, as a person feeds it', () => {
	let account: TestAccount;
	let editor: Editor;
	let workflow: Workflow;

	beforeAll(async () => {
		account = await TestAccount.open('csv-in-browser-1');
		const text = node('Text', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: JSON.stringify({ text: LEADS }),
		});
		const file = node('File', 'n8n-nodes-base.convertToFile', 1.1, {
			operation: 'toText',
			sourceProperty: 'text',
			options: { fileName: 'leads.csv' },
		});
		const push = node(
			NODE,
			`${PACKAGE}.pushCampaignContacts`,
			1,
			{},
			{
				credentials: { [credentialType]: account.account.credential },
			},
		);
		workflow = await account.n8n.createWorkflow(
			chain('csv file', manualTrigger(), text, file, push),
		);
		editor = await Editor.open(sharedN8n().baseUrl);
		await editor.openWorkflow(workflow.id);
		await editor.openNode(NODE);
	}, 200_000);
	afterAll(async () => {
		await editor.close();
		await account.n8n.deleteWorkflow(workflow);
		await account.close();
	});

	it('is reported to be one where rows are expected', async () => {
		await editor.write('campaignId', String(fixtures.campaigns.active));
		await editor.pick('agentUuid', 'Sales India');
		await editor.execute();
		await editor.readOutput('The input is a file whose rows have not been read yet');
	});

	it('is fed once Contacts From says so, and both outputs tell of its rows', async () => {
		await editor.choose('contactsFrom', 'CSV File');
		expect(
			await editor.page
				.getByTestId('parameter-input-binaryPropertyName')
				.locator('input')
				.first()
				.inputValue(),
		).toBe('data');
		await editor.execute();
		await editor.readOutput('campaign_upload_id');
		const held = account.simulator.contactsOf(fixtures.campaigns.active);
		expect(held).toMatchObject([{ phone: '+919876543210', extra: { city: 'Pune' } }]);
		await editor.page.getByTestId('output-panel').getByText('Rejected Branch').click();
		await editor.readOutput('feed_row');
	});

	it('is reported to be missing where its field is another one', async () => {
		await editor.write('binaryPropertyName', 'list');
		await editor.execute();
		await editor.readOutput('Item 0 has no file in the field "list", so nothing was sent');
	});
});
