import { firstSteps } from '../../scripts/firstSteps';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { fixtures } from '../simulator';
import { inEditor } from './inEditor';

describe('the workflow that npm start opens', () => {
	const { test, editor } = inEditor();
	let workflow: Workflow;

	beforeAll(async () => {
		workflow = await test().n8n.createWorkflow(firstSteps(test().credential));
	});
	afterAll(async () => {
		await test().n8n.deleteWorkflow(workflow);
	});

	it('pushes its first contacts to a campaign after one click', async () => {
		await editor().openWorkflow(workflow.id);
		const before = test().simulator.contactsOf(fixtures.campaigns.active).length;
		await editor().page.getByTestId('execute-workflow-button').click();
		const pushed = () => test().simulator.contactsOf(fixtures.campaigns.active).length - before;
		await until('the contacts', () => pushed() > 0);
		// Of five rows, one is a duplicate, one has an invalid number, and one is on the do-not-disturb list.
		expect(pushed()).toBe(2);
		await editor().openNode('Push Campaign Contacts');
		await editor().readOutput('campaign_upload_id');
		expect(editor().errors.splice(0)).toEqual([]);
	});
});
