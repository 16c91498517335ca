/** `npm run screenshots -- [--dark] <folder>`: takes screenshots of the nodes, the credential, and the outputs. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { INode, INodeParameters } from 'n8n-workflow';
import { Editor } from '../test/browser/editor';
import { DataTables } from '../test/n8n/dataTables';
import {
	withCredentials,
	CREDENTIAL_OF,
	credentialType,
	type Credentials,
	exampleFiles,
	examplesFolder,
	readExample,
} from '../test/n8n/examples';
import {
	installPackage,
	listedFiles,
	packageName,
	projectFolder,
} from '../test/n8n/package-install';
import { freePort } from '../test/n8n/ports';
import { placesIn } from '../test/n8n/server';
import { until } from '../test/n8n/until';
import { byId, chain, manualTrigger, node, type WorkflowJson } from '../test/n8n/workflow';
import { fixtures } from '../test/simulator';
import { build } from './build';
import { startStack, type Stack } from './stack';

const OVERVIEW = '01-morning-push.json';
/** The sample list of the examples. */
const SAMPLE = 'leads.csv';
/** Shows all columns with outcomes. */
const TABLE_SCREEN = { width: 3000, height: 560 };
const { values, positionals } = parseArgs({
	options: { dark: { type: 'boolean', default: false } },
	allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(projectFolder, 'docs', 'images'));

async function takeAll(): Promise<void> {
	build(console.log);
	const home = await mkdtemp(join(tmpdir(), 'screenshots-'));
	const stack = await startStack(
		{ home, port: await freePort(), install: installPackage },
		console.log,
	);
	try {
		await copyFile(join(examplesFolder, SAMPLE), join(placesIn(stack.home).files, SAMPLE));
		const editor = await Editor.open(stack.n8n, values.dark ? 'dark' : 'light');
		try {
			await takePanels(stack, editor);
			await takeExamples(stack, editor);
			await takeOverview(stack, editor);
			await takeOutputs(stack, editor);
			await takeErrors(stack, editor);
			await editor.openCredential(stack.credential.id);
			await editor.screenshot(folder, 'credential');
			await takeCampaign(stack, editor);
		} finally {
			await editor.close();
		}
	} finally {
		await stack.stop();
		await rm(home, { recursive: true, force: true });
	}
}

/** The panel of every node of the package, as it opens for a new node. */
async function takePanels(stack: Stack, editor: Editor): Promise<void> {
	for (const name of await nodeNames()) {
		const title = titleOf(name);
		const before = name.endsWith('Trigger') ? [] : [manualTrigger()];
		const workflow = chain(name, ...before, ours(stack, title));
		const { id } = await stack.driver.createWorkflow(workflow);
		await editor.openWorkflow(id);
		await editor.openNode(title);
		await editor.screenshot(folder, `panel-${name}`);
	}
}

/** The whole canvas of each example, with credentials in its nodes. */
async function takeExamples(stack: Stack, editor: Editor): Promise<void> {
	const credentials = await credentialsIn(stack);
	for (const file of exampleFiles()) {
		const workflow = withCredentials(readExample(file), credentials);
		const { id } = await stack.driver.createWorkflow(workflow);
		await editor.openWorkflow(id);
		await editor.canvasPicture(folder, `example-${basename(file, '.json')}`);
	}
}

/** The data table of example 12 after its campaign, which takes more than a minute. */
async function takeCampaign({ driver, campaign }: Stack, editor: Editor): Promise<void> {
	const tables = await DataTables.open(driver);
	await driver.startByForm(campaign.workflow);
	const hasSummary = async () => {
		const summary = await tables.find('Campaign Summary');
		return summary !== undefined && (await tables.rows(summary)).length > 0;
	};
	await until('the summary', hasSummary, { timeout: 180_000, every: 1_000 });
	await editor.page.setViewportSize(TABLE_SCREEN);
	await editor.show(new URL(campaign.table).pathname, editor.page.getByText('Not answered'));
	await editor.screenshot(folder, 'example-12-leads');
}

/** The picture at the top of docs/campaigns.md: an example without its notes, because their text would be too small to read. */
async function takeOverview(stack: Stack, editor: Editor): Promise<void> {
	const example = withCredentials(readExample(OVERVIEW), await credentialsIn(stack));
	const nodes = example.nodes.filter(({ type }) => type !== 'n8n-nodes-base.stickyNote');
	const { id } = await stack.driver.createWorkflow({ ...example, nodes });
	await editor.openWorkflow(id);
	await editor.canvasPicture(folder, 'overview');
}

async function credentialsIn({ driver, credential }: Stack): Promise<Credentials> {
	const credentials: Credentials = { [credentialType]: credential };
	for (const type of Object.values(CREDENTIAL_OF)) {
		credentials[type] ??= await driver.createCredential(type, {});
	}
	return credentials;
}

/** The outputs of Push Campaign Contacts and Place Call. */
async function takeOutputs(stack: Stack, editor: Editor): Promise<void> {
	const { full } = fixtures.agents;
	const rows = push(stack, full, fixtures.campaigns.active);
	await takeRun(
		'output-pushCampaignContacts-pushed',
		rows,
		'Push Campaign Contacts',
		stack,
		editor,
	);
	await editor.page.getByText('Rejected Branch').click();
	await editor.screenshot(folder, 'output-pushCampaignContacts-rejected');
	await takeRun('output-placeCall', call(stack, full), 'Place Call', stack, editor);
}

/** An error of Push Campaign Contacts and of Place Call, as the panel shows it. */
async function takeErrors(stack: Stack, editor: Editor): Promise<void> {
	const { noNumber } = fixtures.agents;
	const rows = push(stack, noNumber, fixtures.campaigns.archived);
	await takeRun('error-pushCampaignContacts', rows, 'Push Campaign Contacts', stack, editor);
	await takeRun('error-placeCall', call(stack, noNumber), 'Place Call', stack, editor);
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

/** Pushes the rows of the sample list in n8n's folder for files. */
function push(stack: Stack, agentUuid: string, campaignId: number): WorkflowJson {
	const file = { fileSelector: join(placesIn(stack.home).files, SAMPLE) };
	return chain(
		'Push the sample list',
		manualTrigger(),
		node('Read List', 'n8n-nodes-base.readWriteFile', 1.1, file),
		node('Rows of the List', 'n8n-nodes-base.extractFromFile', 1.1, {
			operation: 'csv',
			options: { enableBOM: true },
		}),
		ours(stack, 'Push Campaign Contacts', {
			campaignId: byId(campaignId),
			agentUuid: chosen(agentUuid),
			whatToDo: 'release',
		}),
	);
}

function call(stack: Stack, agentUuid: string): WorkflowJson {
	return chain(
		'Place one call',
		manualTrigger(),
		ours(stack, 'Place Call', {
			whatToDo: 'place',
			agentUuid: chosen(agentUuid),
			countryCode: 'IN',
			phoneNumber: '98765 43210',
			personName: 'Asha Rao',
		}),
	);
}

const chosen = (agentUuid: string) => ({ __rl: true, mode: 'id', value: agentUuid });

function ours({ credential }: Stack, title: string, parameters: INodeParameters = {}): INode {
	const type = title.replaceAll(' ', '').replace(/^./, (first) => first.toLowerCase());
	const credentials = { [credentialType]: credential };
	return node(title, `${packageName}.${type}`, 1, parameters, { credentials });
}

/** Converts placeCall to Place Call. */
function titleOf(name: string): string {
	return name.replace(/[A-Z]/g, ' $&').replace(/^./, (first) => first.toUpperCase());
}

async function nodeNames(): Promise<string[]> {
	const { nodes } = await listedFiles(projectFolder);
	return nodes.map((file) => {
		const name = basename(file, '.node.js');
		return name.charAt(0).toLowerCase() + name.slice(1);
	});
}

takeAll().then(
	// Exit now, because a browser or a simulator may be slow to end.
	() => process.exit(0),
	(error: unknown) => {
		console.error(error);
		process.exit(1);
	},
);
