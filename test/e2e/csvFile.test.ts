import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Execution, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { credentialFor, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const NODE = 'Push';
const { campaigns, agents } = fixtures;
const phones = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => String(9_000_000_000 + from + index));
const inCampaign = (numbers: string[]) => numbers.map((number) => `+91${number}`);

let n8n: N8nDriver;
let simulator: Simulator;
let credentials: Record<string, Reference>;
const workflows: Workflow[] = [];

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'csv-token-000001' });
	credentials = await credentialFor(n8n, simulator);
});
afterEach(() => simulator.reset());
afterAll(async () => {
	for (const workflow of workflows) await removeWorkflow(n8n, workflow);
	await simulator.stop();
});

const push = (overrides: INodeParameters = {}): INode =>
	node(
		NODE,
		`${PACKAGE}.pushCampaignContacts`,
		1,
		{
			campaignId: byId(campaigns.active),
			agentUuid: { __rl: true, mode: 'id', value: agents.full },
			contactsFrom: 'csv',
			...overrides,
		},
		{ credentials },
	);

async function publish(path: string, ...nodes: INode[]): Promise<Workflow> {
	const workflow = await n8n.createWorkflow(chain(`csv ${path}`, ...nodes));
	workflows.push(workflow);
	await n8n.activate(workflow);
	return workflow;
}

async function untilEnded(workflow: Workflow): Promise<Execution> {
	const { id } = await until('the execution', async () => {
		const [latest] = await n8n.executions(workflow);
		return latest !== undefined && latest;
	});
	return await n8n.finished(id);
}

const contacts = () => simulator.contactsOf(campaigns.active);
const pushed = () => contacts().map(({ phone }) => phone);

test('pushes a file from disk, and Retry sends only the rest, not rows that may have arrived', async () => {
	const path = randomUUID();
	const file = join(sharedN8n().files, `${path}.csv`);
	const rows = phones(0, 50).map((phone, index) => `"Person, ${index}";${phone};Köln`);
	await writeFile(file, `sep=;\r\nperson_name;phone;city\r\n${rows.join('\r\n')}\r\n`, 'latin1');
	const read = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: file });
	const node20 = push({ developerSettings: { contactsPerRequest: 20 } });
	const workflow = await publish(path, webhook(path), read, node20);

	simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, skip: 1, times: 1 });
	await n8n.webhook(path);
	const failed = await untilEnded(workflow);
	expect(failed.status).toBe('error');
	const { error } = await n8n.runData(failed.id);
	expect(error?.description).toMatch(
		/\nPushed: 20 rows \(rows 2 to 21, [^]*\nUnknown: 20 rows \(rows 22 to 41\)[^]*\nNot sent: 10 rows \(rows 42 to 51\)/,
	);
	expect(pushed()).toEqual(inCampaign(phones(0, 40)));

	const again = await n8n.retry(failed.id, 'original');
	const third = await n8n.retry(again.id, 'current');
	expect([again.status, third.status]).toEqual(['error', 'error']);
	expect(pushed()).toEqual(inCampaign(phones(0, 50)));
	expect(contacts()[49]).toMatchObject({ personName: 'Person, 49', extra: { city: 'Köln' } });
	expect((await n8n.runData(third.id)).error?.description).toMatch(
		/\nPushed: 30 rows .*\nUnknown: 20 rows/,
	);
});

test('pushes a file that is uploaded to a webhook, and returns each row with its file and row number', async () => {
	const path = randomUUID();
	const workflow = await publish(
		path,
		webhook(path),
		push({ binaryPropertyName: 'list', options: { output: 'rows' } }),
	);
	const content = await readFile(
		join(__dirname, '..', 'nodes', 'PushCampaignContacts', 'files', 'excel-unicode-text.txt'),
	);
	const body = new FormData();
	body.set('list', new File([new Uint8Array(content)], 'leads of May.txt'));
	const webhookResponse = await until('the webhook', async () => {
		const response = await fetch(`${sharedN8n().baseUrl}/webhook/${path}`, {
			method: 'POST',
			body,
		});
		return response.status !== 404 && response;
	});
	expect(webhookResponse.status).toBe(200);
	expect(contacts()).toMatchObject([
		{ phone: '+919876543210', personName: 'Asha Rao', extra: { note: 'tea, or\r\ncoffee' } },
		{ phone: '+919876543211', personName: 'ज़ोया', extra: { note: 'नमस्ते' } },
	]);
	const items = await n8n.output((await untilEnded(workflow)).id, NODE);
	expect(items.map(({ json }) => [json.source_file, json.source_row, json.push_status])).toEqual([
		['leads of May.txt', 2, 'pushed'],
		['leads of May.txt', 3, 'pushed'],
	]);
});
