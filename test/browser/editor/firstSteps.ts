import { firstSteps as workflowOf } from '../../../scripts/firstSteps';
import type { Account } from '../../e2e/account';
import { fixtures } from '../../simulator';
import type { Editor } from '../editor';

export function firstSteps(account: Account, editor: () => Editor): void {
	it('checks its contacts after one click, pushes them after three more, and then nobody twice', async () => {
		const { page } = editor();
		const workflow = await account.create(workflowOf(account.credential));
		await editor().openWorkflow(workflow.id);
		const contacts = () => account.simulator.contactsOf(fixtures.campaigns.active);
		await page.getByTestId('execute-workflow-button').click();
		await page.getByText('Ready', { exact: true }).first().waitFor();
		await editor().openNode('Push Campaign Contacts');
		await editor().readOutput(/5 rows: 3 ready, 1 rejected, 1 duplicate/);
		expect(contacts()).toEqual([]);
		await editor().choose('whatToDo', 'Add and Release');
		await editor().execute();
		// One is on the do-not-disturb list.
		await editor().readOutput(/5 rows: 2 pushed, 1 rejected/);
		await editor().execute();
		await editor().readOutput(/5 rows: 0 pushed, .* 2 sent before/);
		await editor().readOutput(/rejection_reason of each row in 'Skipped' says how/);
		expect(contacts()).toHaveLength(2);
		expect(editor().errors.splice(0)).toEqual([]);
	});
}
