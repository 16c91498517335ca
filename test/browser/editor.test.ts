import { useAccount } from '../e2e/account';
import { sharedN8n } from '../e2e/shared';
import { Editor } from './editor';
import { everyNode } from './editor/everyNode';
import { firstClicks } from './editor/firstClicks';
import { firstSteps } from './editor/firstSteps';
import { nodeCreator } from './editor/nodeCreator';
import { panels } from './editor/panels';
import { previousNodes } from './editor/previousNodes';
import { screens } from './editor/screens';

/** All tests in n8n's editor. In one file, because loading the editor takes long. */
const account = useAccount({ isMapped: true });
let editor: Editor;

beforeAll(async () => {
	editor = await Editor.open(sharedN8n());
});
afterAll(async () => {
	await editor.close();
});

describe.each([
	['every node', everyNode],
	['the first campaign and calls', firstClicks],
	['the workflow that npm start opens', firstSteps],
	['the list of nodes', nodeCreator],
	['the panel of', panels],
	['the screen:', screens],
	["'Execute previous nodes' below a webhook", previousNodes],
])('%s', (_name, tests) => {
	beforeAll(() => account.simulator.reset());
	tests(account, () => editor);
});
