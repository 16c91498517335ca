import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sortBy from 'lodash/sortBy';
import type { INode, INodeParameters } from 'n8n-workflow';
import { until } from '../n8n/until';
import { condition, byId, chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { executeFlow, runOnRows } from './rowRun';
import { n8nFolder } from './n8nFolder';
import { sharedN8n } from './shared';

const account = useAccount();
const { n8n, simulator, ours, publish, executionOf } = account;

const campaign = fixtures.campaigns.active;

afterEach(() => simulator.reset());

/** Runs a push on what `read` returns. */
const run = async (last: INode, ...read: INode[]) => await runOnRows(account, last, [{}], ...read);

const pushNode = (parameters: INodeParameters = {}) =>
	ours('Push', 'pushCampaignContacts', {
		campaignId: byId(campaign),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		contactsFrom: 'csv',
		...parameters,
	});

const contacts = () =>
	simulator.contactsOf(campaign).map(({ phone, personName, extra }) => [phone, personName, extra]);

describe('several files', () => {
	const leads = 'Phone,Name\n9876543210,Asha\n9876543211,Ravi\n';
	const others = 'Phone;City;Name\n9876543212;Pune;\n+91 98765 43210;Goa;\n';
	const all = [
		['+919876543210', 'Asha', {}],
		['+919876543211', 'Ravi', {}],
		['+919876543212', null, { City: 'Pune' }],
	];

	it('that a form with its defaults returns in one item are all pushed', async () => {
		const webhookId = randomUUID();
		const form = node(
			'Form',
			'n8n-nodes-base.formTrigger',
			2.3,
			{ formTitle: 'Lists', formFields: { values: [{ fieldLabel: 'List', fieldType: 'file' }] } },
			{ webhookId },
		);
		const workflow = await publish(chain('form', form, pushNode()));
		const url = `${sharedN8n().baseUrl}/form/${webhookId}`;
		await until('the form', async () => (await fetch(url)).ok);
		const body = new FormData();
		body.append('field-0', new File([leads], 'leads.csv', { type: 'text/csv' }));
		body.append('field-0', new File([others], 'others.csv', { type: 'text/csv' }));
		expect((await fetch(url, { method: 'POST', body })).ok).toBe(true);
		const { id, status } = await n8n.finished(await executionOf(workflow));
		expect(status).toBe('success');
		// n8n stores the files of a form at the same time, so they come in any order.
		expect(sortBy(contacts(), 0)).toEqual(all);
		expect((await n8n.output(id, 'Push', 2)).map(({ json }) => json)).toMatchObject([
			{ push_status: 'duplicate' },
		]);
	});

	describe('of several items', () => {
		let folder: string;
		let read: INode;
		beforeAll(async () => {
			folder = join(n8nFolder().files, randomUUID());
			await mkdir(folder);
			await writeFile(join(folder, 'a.csv'), leads);
			await writeFile(join(folder, 'b.csv'), others);
			await writeFile(join(folder, 'logo.png'), Buffer.from('89504e470d0a1a0a00', 'hex'));
			const parameters = { fileSelector: `${folder}/*` };
			read = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, parameters);
		});

		it('are not pushed if one of them is no CSV file, which is named', async () => {
			const { error } = await run(pushNode(), read);
			expect(error?.message).toContain('The file "logo.png" can\'t be read as CSV');
			expect(contacts()).toEqual([]);
		});

		it("are pushed from an item's fields, where Execution Logic v2 of the workflow has them", async () => {
			const parameters = { fileSelector: `${folder}/*.csv` };
			const lists = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, parameters);
			const push = pushNode({ options: { output: 'rows' } });
			const { runs } = await executeFlow(account, {
				...chain('files', manualTrigger(), lists, push),
				settings: { binaryMode: 'combined' },
			});
			expect(contacts()).toEqual(all);
			expect(runs('Push')[0]?.[0]).toHaveLength(3);
		});

		it('are pushed after Split Out and Filter have left out the others, as the docs advise', async () => {
			const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: '$binary' });
			const filter = node(
				'Filter',
				'n8n-nodes-base.filter',
				2.2,
				condition('={{ $binary.values().first().fileExtension }}', 'equals', 'csv'),
			);
			const { error, outputs } = await run(
				pushNode({ options: { output: 'rows' } }),
				...[read, split, filter],
			);
			expect(error).toBeUndefined();
			expect(contacts()).toEqual(all);
			expect(outputs[2]).toMatchObject([{ push_status: 'duplicate' }]);
		});
	});
});

test('a row whose country column says another country is in Rejected, with the reason', async () => {
	const pastedRows = 'Phone,Name,ISD Code\n6502530000,Ann,+1\n9876543210,Asha,+91';
	const { error, outputs } = await run(pushNode({ contactsFrom: 'pasted', pastedRows }));
	expect(error).toBeUndefined();
	expect(contacts()).toEqual([['+919876543210', 'Asha', { 'ISD Code': '+91' }]]);
	expect(outputs[1]).toMatchObject([
		{
			rejection_reason: expect.stringMatching(
				/^The column "ISD Code" says "\+1", and this campaign/,
			),
		},
	]);
});
