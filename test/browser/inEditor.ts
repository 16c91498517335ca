import { TestAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
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
