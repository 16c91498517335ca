import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { N8nDriver } from '../n8n/driver';
import { chain, manualTrigger, node, webhook } from '../n8n/workflow';
import { until } from '../n8n/until';
import { sharedN8n } from './shared';

describe('the n8n that the other tests use', () => {
	const { baseUrl, files } = sharedN8n();
	const leads = join(files, 'host-leads.csv');
	const read = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: leads });
	const extract = node('Extract', 'n8n-nodes-base.extractFromFile', 1);
	let n8n: N8nDriver;

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(baseUrl);
		await writeFile(leads, 'person_name,phone\nAsha,9876543210\nRavi,9876543211\n');
	});

	afterAll(async () => {
		await rm(leads);
	});

	const rows = [
		{ person_name: 'Asha', phone: '9876543210' },
		{ person_name: 'Ravi', phone: '9876543211' },
	];

	it('runs a workflow manually', async () => {
		const workflow = await n8n.createWorkflow(chain('by hand', manualTrigger(), read, extract));
		const execution = await n8n.runManually(workflow, 'Start');
		expect(execution.status).toBe('success');
		const items = await n8n.output(execution.id, 'Extract');
		expect(items.map(({ json }) => json)).toEqual(rows);
		await n8n.deleteWorkflow(workflow);
	});

	it('runs a published workflow by its webhook until it is unpublished', async () => {
		const path = randomUUID();
		const parameters = { responseData: 'allEntries' };
		const workflow = await n8n.createWorkflow(
			chain('by webhook', webhook(path, parameters), read, extract),
		);
		await n8n.activate(workflow);
		const response = await n8n.webhook(path);
		expect(await response.json()).toEqual(rows);
		expect(await n8n.executions(workflow)).toMatchObject([{ status: 'success' }]);
		await n8n.deactivate(workflow);
		const status = async () =>
			(await fetch(`${baseUrl}/webhook/${path}`, { method: 'POST' })).status;
		await until('the webhook to be removed', async () => (await status()) === 404);
		await n8n.deleteWorkflow(workflow);
	});
});
