import { useAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import { Editor } from './editor';

/** For one test file: an account, and n8n's editor in a browser. */
export function inEditor() {
	const account = useAccount({ isMapped: true });
	let editor: Editor;

	beforeAll(async () => {
		editor = await Editor.open(sharedN8n());
	});
	afterAll(async () => {
		await editor.close();
	});

	return { test: () => account, editor: () => editor };
}
