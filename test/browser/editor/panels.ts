import get from 'lodash/get';
import isMatch from 'lodash/isMatch';
import { isJsonObject } from '../../../nodes/core/values/json';
import { credentialFor } from '../../contract/credentialFor';
import type { Account } from '../../e2e/account';
import { PACKAGE } from '../../e2e/calls';
import type { Workflow } from '../../n8n/driver';
import { credentialType } from '../../n8n/examples';
import { until } from '../../n8n/until';
import { byId, chain, manualTrigger, node, type WorkflowJson } from '../../n8n/workflow';
import { dialects, fixtures } from '../../simulator';
import { profileOf } from '../../simulator/dialects/profile';
import type { Editor } from '../editor';

export function panels(account: Account, editor: () => Editor): void {
	/** Opens the panel of a node in a new workflow. */
	async function open(name: string, json: WorkflowJson): Promise<Workflow> {
		const workflow = await account.create(json);
		await editor().openWorkflow(workflow.id);
		await editor().openNode(name);
		return workflow;
	}

	describe('Push Campaign Contacts', () => {
		const NODE = 'Push Campaign Contacts';
		const row = {
			phone: '98765 43210',
			'Full Name': 'Asha Rao',
			properties: { phone: '9000000001', city: 'Pune' },
		};

		beforeAll(async () => {
			const rows = { mode: 'raw', jsonOutput: JSON.stringify(row) };
			const make = node('Rows', 'n8n-nodes-base.set', 3.4, rows);
			const parameters = { options: { columnsToSend: '' } };
			const { credentials } = account;
			const push = node(NODE, `${PACKAGE}.pushCampaignContacts`, 1, parameters, { credentials });
			await open(NODE, chain('push', manualTrigger(), make, push));
			await editor().page.getByText('Execute previous nodes').first().click();
		});

		/** Drags a column from the input to a field. Returns the text of the field. */
		async function drag(path: string, field: string): Promise<string> {
			const { page } = editor();
			const pill = page
				.getByTestId('ndv-input-panel')
				.locator(`.pill[data-path="${path}"]`)
				.first();
			const target = page.getByTestId(`parameter-input-${field}`).first();
			await pill.waitFor();
			await pill.hover();
			await page.mouse.down();
			const box = await target.boundingBox();
			if (box === null) throw new Error(`${field} is not on the screen`);
			await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 15 });
			await editor().letTimersEnd(300);
			const text = async () => await target.locator('input').first().inputValue();
			const before = await text();
			await page.mouse.up();
			return await until('the new text', async () => {
				const after = await text();
				return after !== before && after;
			});
		}

		it('a column that is dragged into a field inserts its name', async () => {
			// The field contains "phone" at first.
			expect(await drag('.properties.phone', 'phoneColumn')).toBe('properties.phone');
			expect(await drag("['Full Name']", 'columnsToSend')).toBe("['Full Name']");
			const both = "['Full Name'], properties.city";
			expect(await drag('.properties.city', 'columnsToSend')).toBe(both);
		});
	});

	describe('Place Call', () => {
		const NODE = 'Place Call';
		const ZONE = 'Asia/Kolkata';

		const savedParameters = async ({ id }: Workflow): Promise<object> => {
			const saved = await account.n8n.request('GET', `/workflows/${id}`);
			const parameters: unknown = get(saved, ['nodes', 1, 'parameters']);
			return isJsonObject(parameters) ? parameters : {};
		};

		it('has the calling hours, the limit, and the check one click away, and warns of calls whatever the limit is', async () => {
			const { page } = editor();
			const placeCall = node(NODE, `${PACKAGE}.placeCall`, 1);
			const workflow = await open(NODE, chain('hours', manualTrigger(), placeCall));
			const field = (parameter: string) =>
				page.getByTestId(`parameter-input-${parameter}`).locator('input');
			const warning = page.getByText('places a real phone call for each item');

			await page.getByTestId('parameter-input-countryCode').first().click();
			await page.keyboard.type('India');
			const countries = page.getByTestId('parameter-input-item').filter({ visible: true });
			await until('India to be the first country', async () =>
				(await countries.allTextContents())[0]?.includes('India (IN)'),
			);
			await countries.filter({ hasText: 'India (IN)' }).click();
			await editor().choose('callingHours', 'Within Hours');
			expect(await field('callingFrom').inputValue()).toBe('09:00');
			await field('callingFrom').fill('10:00');
			await field('timeZone').fill(ZONE);
			expect(await warning.count()).toBe(0);
			await editor().choose('whatToDo', 'Place Calls');
			await warning.waitFor();
			await editor().choose('callLimit', 'Per Week');
			await page.getByTestId('parameter-input-maximumCalls').waitFor();
			expect(await warning.count()).toBe(1);

			await page.keyboard.press('Escape');
			await page.keyboard.press('Control+s');
			const expected = {
				...{ whatToDo: 'place' },
				...{ callingHours: 'within', callingFrom: '10:00', timeZone: ZONE },
			};
			await until('the workflow to be saved', async () =>
				isMatch(await savedParameters(workflow), expected),
			);
		});
	});

	describe('Campaign Calls Trigger', () => {
		const NODE = 'Campaign Calls';

		const openTrigger = async (name: string): Promise<Workflow> => {
			const { credentials } = account;
			return await open(
				NODE,
				chain(name, node(NODE, `${PACKAGE}.campaignCallsTrigger`, 1, {}, { credentials })),
			);
		};

		/** Waits until n8n has saved this value of a parameter, and returns the saved parameters. */
		async function saved({ id }: Workflow, path: string[], value: string): Promise<unknown> {
			const { page } = editor();
			await page.keyboard.press('Escape');
			await page.keyboard.press('Control+s');
			return await until(`${path.join('.')} to be saved`, async () => {
				const workflow = await account.n8n.request('GET', `/workflows/${id}`);
				const parameters: unknown = get(workflow, ['nodes', 0, 'parameters']);
				return get(parameters, path) === value && parameters;
			});
		}

		it('Start From: Last 7 Days is chosen, and the calls of these days start the workflow', async () => {
			const { n8n } = account;
			const workflow = await openTrigger('last 7 days');
			await editor().enterId('campaignId', String(fixtures.campaigns.active));
			const notice = editor().page.getByText(
				'Calls that end before you first publish the workflow',
			);
			await notice.waitFor();
			await editor().choose('startFrom', 'Last 7 Days');
			await notice.waitFor({ state: 'hidden' });
			await saved(workflow, ['startFrom'], 'last7Days');
			await n8n.activate(await n8n.workflow(workflow.id));
			const [execution] = await until('the execution', async () => {
				const executions = await n8n.executions(workflow);
				return executions.length > 0 && executions;
			});
			const { id } = await n8n.finished(execution?.id ?? '');
			const found = (await n8n.output(id, NODE)).map(({ json }) => json.call_id);
			expect(found).toContain(fixtures.calls.finished);
			await n8n.deactivate(workflow);
		});

		it('Statuses: a group of statuses is chosen by a word of its name', async () => {
			const { page } = editor();
			const [value, name] = ['not_picked, failed', 'Not Answered or Failed'];
			const workflow = await openTrigger('statuses');
			await editor().add('Filters', 'Statuses');
			await page.getByTestId('resource-locator-statuses').locator('input').last().click();
			await editor().searchList('failed');
			await page.getByTestId('rlc-item').getByText(name, { exact: true }).click();
			expect(await saved(workflow, ['filters', 'statuses', 'value'], value)).toMatchObject({
				filters: { statuses: { __rl: true, mode: 'list', value, cachedResultName: name } },
			});
		});
	});

	describe('a rejection with HTML', () => {
		it('is shown as text, without a link', async () => {
			const error = '<a href="https://evil.example">Sign in again</a> <b>now</b>\u001b[31m';
			const body = { success: false, error };
			account.simulator.faults.inject({ kind: 'status', status: 422, body });
			const parameters = { campaignId: byId(fixtures.campaigns.active) };
			const { credentials } = account;
			const status = node('Status', `${PACKAGE}.campaignStatus`, 1, parameters, { credentials });
			await open('Status', chain('hostile words', manualTrigger(), status));
			await editor().execute();
			await editor().readOutput('‹a href="https://evil.example">Sign in again‹/a> ‹b>now‹/b>[31m');
			const panel = editor().page.getByTestId('output-panel');
			expect(await panel.locator('a', { hasText: 'Sign in again' }).count()).toBe(0);
			account.simulator.reset();
		});
	});

	describe('the credential', () => {
		it('is tested when it is opened, and never shows its token', async () => {
			await editor().openCredential(account.credential.id);
			await editor().page.getByText('Connection tested successfully').waitFor();
			expect(await editor().page.content()).not.toContain(account.simulator.token);
		});

		it('shows Service Profile under More Settings, and what is wrong in it, and tests the credential by reading the active agents', async () => {
			const { baseUrl, apiToken } = credentialFor(account.simulator);
			const created = await account.n8n.createCredential(credentialType, { baseUrl, apiToken });
			await editor().openCredential(created.id);
			const { page } = editor();
			const field = page.getByTestId('parameter-input-serviceProfile').locator('textarea');
			const more = page.getByTestId('parameter-input-moreSettings');
			await more.waitFor();
			expect(await field.count()).toBe(0);
			await more.locator('.el-switch__core').click();

			await field.fill('{ "dnd.add": { "body": { "phone": "{fone}" } } }');
			await page.getByTestId('credential-save-button').click();
			await page.getByText('More details').click();
			await page.getByText('"body.phone" in "dnd.add": can only have {agent}, {phone}').waitFor();

			await field.fill(JSON.stringify(profileOf(dialects.plain), null, 2));
			const before = account.simulator.requests.length;
			await page.getByTestId('credential-save-button').click();
			await page.getByText('Connection tested successfully').waitFor();
			const since = account.simulator.requests.slice(before);
			const read = since.map(({ method, path }) => `${method} ${path}`);
			expect(new Set(read)).toEqual(new Set(['GET /v1/active_agents']));
			await account.n8n.request('DELETE', `/credentials/${created.id}`);
		});
	});
}
