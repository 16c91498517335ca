import { firstSteps as workflowOf } from '../../../scripts/firstSteps';
import type { Account } from '../../e2e/account';
import { until } from '../../n8n/until';
import { fixtures } from '../../simulator';
import type { Editor } from '../editor';

export function firstSteps(account: Account, editor: () => Editor): void {
	it('pushes its first contacts to a campaign after one click', async () => {
		const workflow = await account.create(workflowOf(account.credential));
		await editor().openWorkflow(workflow.id);
		const contacts = () => account.simulator.contactsOf(fixtures.campaigns.active);
		await editor().page.getByTestId('execute-workflow-button').click();
		// Of five rows, one is a duplicate, one has an invalid number, and one is on the do-not-disturb list.
		await until('the contacts', () => contacts().length === 2);
		await editor().openNode('Push Campaign Contacts');
		await editor().readOutput('campaign_upload_id');
		expect(contacts()).toHaveLength(2);
		expect(editor().errors.splice(0)).toEqual([]);
	});
}
