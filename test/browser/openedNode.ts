import { TestAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import type { Workflow } from '../n8n/driver';
import type { WorkflowJson } from '../n8n/workflow';
import { Editor } from './editor';

/** For one test file: an account, and a workflow with one node open in the editor. */
export function openedNode(
	token: string,
	node: string,
	workflowOf: (account: TestAccount) => WorkflowJson,
) {
	let account: TestAccount;
	let editor: Editor;
	let workflow: Workflow;

	beforeAll(async () => {
		account = await TestAccount.open(token);
		workflow = await account.n8n.createWorkflow(workflowOf(account));
		editor = await Editor.open(sharedN8n());
		await editor.openWorkflow(workflow.id);
		await editor.openNode(node);
	});
	afterAll(async () => {
		await editor.close();
		await account.n8n.deleteWorkflow(workflow);
		await account.close();
	});

	return { service: () => account.simulator, editor: () => editor };
}
