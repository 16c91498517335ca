import { PACKAGE } from '../e2e/calls';
import { credentialType } from '../n8n/examples';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { withOpenNode } from './inEditor';

const NODE = 'Push Campaign Contacts';
/** The content of a file from the previous nodes. */
const LEADS = 'phone;person_name;city\n98765 43210;Asha Rao;Pune\n12;Farah Ali;Mumbai\n';

describe('pushing a CSV file in the editor', () => {
	const { service, editor } = withOpenNode(NODE, ({ account }) => {
		const text = node('Text', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: JSON.stringify({ text: LEADS }),
		});
		const file = node('File', 'n8n-nodes-base.convertToFile', 1.1, {
			operation: 'toText',
			sourceProperty: 'text',
			options: { fileName: 'leads.csv' },
		});
		const credentials = { [credentialType]: account.credential };
		const push = node(NODE, `${PACKAGE}.pushCampaignContacts`, 1, {}, { credentials });
		return chain('csv file', manualTrigger(), text, file, push);
	});

	it('reports a file if rows are expected', async () => {
		await editor().enterId('campaignId', String(fixtures.campaigns.active));
		await editor().pick('agentUuid', 'Sales India');
		await editor().execute();
		await editor().readOutput('The input is a file, not rows, so nothing was sent');
	});

	it('pushes the file if Contacts From is CSV File, and returns its rows in both outputs', async () => {
		await editor().choose('contactsFrom', 'CSV File');
		expect(
			await editor()
				.page.getByTestId('parameter-input-binaryPropertyName')
				.locator('input')
				.first()
				.inputValue(),
		).toBe('data');
		await editor().execute();
		await editor().readOutput('campaign_upload_id');
		const contacts = service().contactsOf(fixtures.campaigns.active);
		expect(contacts).toMatchObject([{ phone: '+919876543210', extra: { city: 'Pune' } }]);
		await editor().page.getByTestId('output-panel').getByText('Rejected Branch').click();
		await editor().readOutput('source_row');
	});

	it('reports a missing file if the field name is wrong', async () => {
		await editor().write('binaryPropertyName', 'list');
		await editor().execute();
		await editor().readOutput('Item 0 has no file in field "list", so nothing was sent');
	});
});
