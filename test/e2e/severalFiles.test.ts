import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sortBy from 'lodash/sortBy';
import { until } from '../n8n/until';
import { byId, chain, condition, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { n8nFolder } from './n8nFolder';
import { executeFlow } from './rowRun';
import { sharedN8n } from './shared';

const account = useAccount();
const { n8n, simulator, publish, executionOf } = account;
afterEach(() => simulator.reset());

const campaign = fixtures.campaigns.active;
const push = () =>
	account.ours('Push', 'pushCampaignContacts', {
		campaignId: byId(campaign),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		contactsFrom: 'csv',
		options: { output: 'rows' },
	});
const contacts = () =>
	simulator.contactsOf(campaign).map(({ phone, personName, extra }) => [phone, personName, extra]);

const LEADS = 'Phone,Name\n9876543210,Asha\n9876543211,Ravi\n';
const OTHERS = 'Phone;City;Name\n9876543212;Pune;\n+91 98765 43210;Goa;\n';
const ALL = [
	['+919876543210', 'Asha', {}],
	['+919876543211', 'Ravi', {}],
	['+919876543212', null, { City: 'Pune' }],
];
const DUPLICATE = [expect.objectContaining({ push_status: 'duplicate' })];

test('files that a form with its defaults returns in one item are all pushed', async () => {
	const webhookId = randomUUID();
	const formFields = { values: [{ fieldLabel: 'List', fieldType: 'file' }] };
	const parameters = { formTitle: 'Lists', formFields };
	const form = node('Form', 'n8n-nodes-base.formTrigger', 2.3, parameters, { webhookId });
	const workflow = await publish(chain('form', form, push()));
	const url = `${sharedN8n().baseUrl}/form/${webhookId}`;
	await until('the form', async () => (await fetch(url)).ok);
	const body = new FormData();
	body.append('field-0', new File([LEADS], 'leads.csv', { type: 'text/csv' }));
	body.append('field-0', new File([OTHERS], 'others.csv', { type: 'text/csv' }));
	expect((await fetch(url, { method: 'POST', body })).ok).toBe(true);
	const { id, status } = await n8n.finished(await executionOf(workflow));
	expect(status).toBe('success');
	// n8n stores the files of a form at the same time, so they come in any order.
	expect(sortBy(contacts(), 0)).toEqual(ALL);
	expect((await n8n.output(id, 'Push', 2)).map(({ json }) => json)).toEqual(DUPLICATE);
});

describe('files on disk, one an item,', () => {
	let folder: string;
	beforeAll(async () => {
		folder = join(n8nFolder().files, randomUUID());
		await mkdir(folder);
		await writeFile(join(folder, 'a.csv'), LEADS);
		await writeFile(join(folder, 'b.csv'), OTHERS);
		await writeFile(join(folder, 'logo.png'), Buffer.from('89504e470d0a1a0a00', 'hex'));
	});
	const read = (files: string) =>
		node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: `${folder}/${files}` });

	test("are pushed from the items' fields, where Execution Logic v2 of the workflow has them", async () => {
		const { runs } = await executeFlow(account, {
			...chain('files', manualTrigger(), read('*.csv'), push()),
			settings: { binaryMode: 'combined' },
		});
		expect(contacts()).toEqual(ALL);
		expect(runs('Push')[0]?.[0]).toHaveLength(3);
	});

	test('are pushed after Split Out and Filter have left out the others, as the docs advise', async () => {
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: '$binary' });
		const isCsv = condition('={{ $binary.values().first().fileExtension }}', 'equals', 'csv');
		const filter = node('Filter', 'n8n-nodes-base.filter', 2.2, isCsv);
		const flow = chain('files', manualTrigger(), read('*'), split, filter, push());
		const { error, runs } = await executeFlow(account, flow);
		expect(error).toBeUndefined();
		expect(contacts()).toEqual(ALL);
		expect(runs('Push')[0]?.[2]).toEqual(DUPLICATE);
	});
});
