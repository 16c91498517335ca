import { PACKAGE } from '../e2e/calls';
import { credentialType } from '../n8n/examples';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { withOpenNode } from './inEditor';

const NODE = 'Push Campaign Contacts';

describe('an option that is added in the editor is on', () => {
	const { service, editor } = withOpenNode(NODE, ({ account }) => {
		const row = { phone: '98765 43210', person_name: 'Asha Rao' };
		const rows = node('Rows', 'n8n-nodes-base.set', 3.4, {
			mode: 'raw',
			jsonOutput: JSON.stringify(row),
		});
		const credentials = { [credentialType]: account.credential };
		const push = node(NODE, `${PACKAGE}.pushCampaignContacts`, 1, {}, { credentials });
		return chain('added options', manualTrigger(), rows, push);
	});
	const contacts = () => service().contactsOf(fixtures.campaigns.active);
	const add = async (option: string) => {
		const { page } = editor();
		await page.locator('[data-test-id^="collection-parameter-add"]').first().click();
		await page.getByText(option, { exact: true }).filter({ visible: true }).last().click();
		await page
			.getByTestId(/^parameter-input-(dryRun|skipPushedBefore)$/)
			.last()
			.waitFor();
	};
	it('pushes nothing after Add Option > Dry Run', async () => {
		await editor().enterId('campaignId', String(fixtures.campaigns.active));
		await editor().pick('agentUuid', 'Sales India');
		await add('Dry Run');
		await editor().execute();
		await editor().readOutput('phone_to_send');
		expect(contacts()).toEqual([]);
	});
});
