/** `npm run screenshots -- <folder>`: what a user sees of each node, the credential and the outputs. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { Editor } from '../test/browser/editor';
import { completed, credentialType, readExample } from '../test/n8n/examples';
import { installPackage, packageName, projectFolder } from '../test/n8n/package-install';
import { freePort } from '../test/n8n/ports';
import { chain, manualTrigger, node, type WorkflowJson } from '../test/n8n/workflow';
import { fixtures } from '../test/simulator';
import { build } from './build';
import { startStack, type Stack } from './stack';

const folder = resolve(process.argv[2] ?? join(projectFolder, 'docs', 'images'));

async function takeAll(): Promise<void> {
	build(console.log);
	const home = await mkdtemp(join(tmpdir(), 'screenshots-'));
	const stack = await startStack(
		{ home, port: await freePort(), install: installPackage },
		console.log,
	);
	try {
		const editor = await Editor.open(stack.n8n.baseUrl);
		try {
			await takePanels(stack, editor);
			await takeExamples(stack, editor);
			await takeErrors(stack, editor);
			await editor.openCredential(stack.account.credential.id);
			await editor.screenshot(folder, 'credential');
		} finally {
			await editor.close();
		}
	} finally {
		await stack.stop();
		await rm(home, { recursive: true, force: true });
	}
}

/** The panel of every node of the package, as it is when it has just been put on the canvas. */
async function takePanels({ driver, account }: Stack, editor: Editor): Promise<void> {
	for (const name of await nodeNames()) {
		const credentials = { [credentialType]: account.credential };
		const title = titleOf(name);
		const under = node(title, `${packageName}.${name}`, 1, {}, { credentials });
		const before = name.endsWith('Trigger') ? [] : [manualTrigger()];
		const { id } = await driver.createWorkflow(chain(name, ...before, under));
		await editor.openWorkflow(id);
		await editor.openNode(title);
		await editor.screenshot(folder, `panel-${name}`);
	}
}

async function takeExamples(stack: Stack, editor: Editor): Promise<void> {
	const example = readExample('campaign-feed-from-spreadsheet.json');
	const feed = await stack.driver.createWorkflow(completed(example, stack.account));
	await editor.openWorkflow(feed.id);
	await editor.screenshot(folder, 'workflow-campaign-feed');
	const { id } = await stack.driver.runManually(feed, 'Start');
	await editor.openExecution(feed.id, id, 'Push Campaign Contacts');
	await editor.screenshot(folder, 'output-pushCampaignContacts-pushed');
	await editor.page.getByText('Rejected Branch').click();
	await editor.screenshot(folder, 'output-pushCampaignContacts-rejected');
	const call = completed(placeCall, stack.account);
	await takeRun('output-placeCall', call, 'Place Call', stack, editor);
}

/** One refusal of each node of the main path, as the panel tells it. */
async function takeErrors(stack: Stack, editor: Editor): Promise<void> {
	const refused = {
		...stack.account,
		agentUuid: fixtures.agents.noNumber,
		campaignId: fixtures.campaigns.archived,
	};
	const feed = completed(readExample('campaign-feed-from-spreadsheet.json'), refused);
	const push = 'Push Campaign Contacts';
	await takeRun('error-pushCampaignContacts', feed, push, stack, editor);
	await takeRun('error-placeCall', completed(placeCall, refused), 'Place Call', stack, editor);
}

async function takeRun(
	picture: string,
	workflow: WorkflowJson,
	nodeName: string,
	{ driver }: Stack,
	editor: Editor,
): Promise<void> {
	const { id } = await driver.createWorkflow(workflow);
	const execution = await driver.runManually({ id, name: picture }, 'Start');
	await editor.openExecution(id, execution.id, nodeName);
	await editor.screenshot(folder, picture);
}

const placeCall = chain(
	'Place one call',
	manualTrigger(),
	node('Place Call', `${packageName}.placeCall`, 1, {
		agentUuid: { __rl: true, mode: 'id', value: '' },
		countryCode: 'IN',
		phoneNumber: '98765 43210',
		personName: 'Asha Rao',
	}),
);

/** placeCall → Place Call */
function titleOf(name: string): string {
	return name.replace(/[A-Z]/g, ' $&').replace(/^./, (first) => first.toUpperCase());
}

async function nodeNames(): Promise<string[]> {
	const { n8n } = z
		.object({ n8n: z.object({ nodes: z.array(z.string()) }) })
		.parse(JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')));
	return n8n.nodes.map((file) => {
		const name = basename(file, '.node.js');
		return name.charAt(0).toLowerCase() + name.slice(1);
	});
}

takeAll().then(
	// A browser or a simulator that is slow to end does not hold up a finished job.
	() => process.exit(0),
	(error: unknown) => {
		console.error(error);
		process.exit(1);
	},
);
