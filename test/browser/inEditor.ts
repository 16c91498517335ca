import { TestAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import type { Workflow } from '../n8n/driver';
import type { WorkflowJson } from '../n8n/workflow';
import { Editor } from './editor';

/** For one test file: an account, and n8n's editor in a browser. */
export function inEditor() {
	let test: TestAccount;
	let editor: Editor;

	beforeAll(async () => {
		test = await TestAccount.open();
		editor = await Editor.open(sharedN8n());
	});
	afterAll(async () => {
		await editor.close();
		await test.close();
	});

	return { test: () => test, editor: () => editor };
}

/** The same, with a workflow in which one node is open. */
export function withOpenNode(node: string, workflowOf: (test: TestAccount) => WorkflowJson) {
	const { test, editor } = inEditor();
	let workflow: Workflow;

	beforeAll(async () => {
		workflow = await test().n8n.createWorkflow(workflowOf(test()));
		await editor().openWorkflow(workflow.id);
		await editor().openNode(node);
	});
	afterAll(async () => {
		await test().n8n.deleteWorkflow(workflow);
	});

	return { service: () => test().simulator, editor };
}
