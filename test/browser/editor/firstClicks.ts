import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INodeParameters } from 'n8n-workflow';
import type { Account } from '../../e2e/account';
import { firstReading } from '../../e2e/calls';
import { DataTables } from '../../n8n/dataTables';
import { readExample, withCredentials } from '../../n8n/examples';
import { projectFolder } from '../../n8n/package-install';
import { until } from '../../n8n/until';
import { chain, manualTrigger, node, type WorkflowJson } from '../../n8n/workflow';
import { fixtures } from '../../simulator';
import type { Editor } from '../editor';
import { Clicks } from './clicks';

const MOST_CLICKS = { campaign: 15, outcomes: 5 };
const { active: CAMPAIGN } = fixtures.campaigns;
/** Of this test alone, because others use the table of the example at the same time. */
const OUTCOMES_TABLE = 'Outcomes of First Clicks';

/** Without selecting a credential, because n8n selects the only one. */
export function firstClicks(account: Account, editor: () => Editor): void {
	let clicks: Clicks;
	beforeEach(() => {
		clicks = new Clicks(editor());
	});

	it('a campaign from an empty canvas takes at most 15 clicks with pasted rows, checks them first, and shows no error', async () => {
		const { page } = editor();
		const leads = await readFile(join(projectFolder, 'examples', 'leads.csv'), 'utf8');
		const contacts = () => account.simulator.contactsOf(CAMPAIGN);
		await editor().show('/workflow/new', page.getByTestId('canvas-add-button'));
		await clicks.addNode(page.getByTestId('canvas-add-button'), 'Push Campaign Contacts');
		await clicks.pick('campaignId', 'Morning Leads');
		await clicks.pick('agentUuid', 'Sales India');
		await clicks.choose('contactsFrom', 'Pasted Rows');
		await clicks.on(page.getByTestId('parameter-input-pastedRows').locator('textarea'));
		await page.keyboard.insertText(leads);
		await page.getByText('This node checks the rows, and sends nothing').waitFor();
		await clicks.execute();
		await editor().readOutput('ready');
		await editor().readOutput(
			/The agent is active\. The agent's do-not-disturb list has 0 of 9 ready rows/,
		);
		expect(contacts()).toEqual([]);
		await clicks.choose('whatToDo', 'Add and Release');
		await page.getByText('can start real phone calls right away').waitFor();
		await clicks.execute();
		await editor().readOutput('campaign_upload_id');
		await until('the contacts', () => contacts().length === 9);
		expect(clicks.count).toBeLessThanOrEqual(MOST_CLICKS.campaign);
	});

	it('the outcomes are in a data table after at most 5 more clicks', async () => {
		const { page } = editor();
		const { n8n, simulator } = account;
		const example = readExample('16-call-outcomes-to-table.json');
		const outcomes = await account.create(
			withTable(OUTCOMES_TABLE, withCredentials(example, account.credentials)),
		);
		await n8n.activate(outcomes);
		await firstReading(n8n, outcomes);
		const ended = () =>
			[...simulator.state.calls.values()].filter(({ finished }) => finished).length;
		const before = ended();
		simulator.setAutoDial({ everyMs: 50, lastsMs: 50 });
		simulator.setAutoComplete({ afterMs: 50 });
		await until('the calls to end', () => ended() === before + 9);
		// Publishing begins with a reading, and others are a minute apart.
		await n8n.deactivate(outcomes);
		await n8n.activate(outcomes);
		await until('the execution', async () => (await n8n.executions(outcomes)).length > 0);
		await page.keyboard.press('Escape');
		await clicks.on(page.getByTestId('project-home-menu-item'));
		await clicks.on(page.getByText('Data tables', { exact: true }));
		await clicks.on(page.getByText(OUTCOMES_TABLE, { exact: true }));
		await page.getByText('Asha Rao').first().waitFor();
		await page.getByText('Answered').first().waitFor();
		expect(clicks.count).toBeLessThanOrEqual(MOST_CLICKS.outcomes);
		await n8n.deactivate(outcomes);
		const tables = await DataTables.open(n8n);
		await tables.remove(await tables.get(OUTCOMES_TABLE));
		expect(editor().errors.splice(0)).toEqual([]);
	});

	it('calls from rows are checked and then placed, within calling hours and a limit, in the steps of the docs', async () => {
		const { page } = editor();
		account.simulator.reset();
		const row = { phone: '98765 43210', person_name: 'Asha Rao' };
		const rows = { mode: 'raw', jsonOutput: JSON.stringify(row) };
		const start = chain('rows', manualTrigger(), node('Rows', 'n8n-nodes-base.set', 3.4, rows));
		const workflow = await account.create(start);
		await editor().openWorkflow(workflow.id);
		const end = page.locator('[data-node-name="Rows"]').getByTestId('canvas-handle-plus');
		await clicks.addNode(end, 'Place Call', 'Place call');
		await clicks.pick('agentUuid', 'Sales India');
		await editor().write('phoneNumber', '{{ $json.phone }}');
		await clicks.choose('callingHours', 'Within Hours');
		await clicks.choose('callLimit', 'Per Day');
		await clicks.execute();
		await editor().readOutput('check_only');
		expect(account.simulator.placedCalls()).toEqual([]);
		await clicks.choose('whatToDo', 'Place Calls');
		await clicks.execute();
		// The output of the check also shows a call_id.
		await until('the call', () => account.simulator.placedCalls().length > 0);
		expect(account.simulator.placedCalls()).toMatchObject([{ phone: '+919876543210' }]);
		expect(editor().errors.splice(0)).toEqual([]);
	});
}

function withTable(name: string, { nodes, ...workflow }: WorkflowJson): WorkflowJson {
	const named: { [node: string]: INodeParameters } = {
		'Outcomes Table': { tableName: name },
		'Write Outcome': { dataTableId: { __rl: true, mode: 'name', value: name } },
	};
	return {
		...workflow,
		nodes: nodes.map((one) => ({ ...one, parameters: { ...one.parameters, ...named[one.name] } })),
	};
}
