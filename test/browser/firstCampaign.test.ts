import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { projectFolder } from '../n8n/package-install';
import { until } from '../n8n/until';
import { fixtures } from '../simulator';
import { inEditor } from './inEditor';

const MOST_CLICKS = { campaign: 15, outcome: 5 };
const { active: CAMPAIGN } = fixtures.campaigns;

describe('a first campaign from an empty canvas', () => {
	const { test, editor } = inEditor();
	let clicks = 0;

	async function click(part: Locator): Promise<void> {
		clicks++;
		await part.first().click();
	}

	async function addNode(plus: Locator, name: string): Promise<void> {
		const { page } = editor();
		await click(plus);
		await page.getByTestId('node-creator-search-bar').fill(name);
		await click(page.getByTestId('item-iterator-item').filter({ hasText: name }));
		await click(page.getByRole('button', { name: 'Add to workflow' }));
		await page.getByTestId('ndv').waitFor();
	}

	/** Opens a list, and selects the entry by typing. */
	async function pick(parameter: string, text: string): Promise<void> {
		const { page } = editor();
		await click(page.getByTestId(`resource-locator-${parameter}`).locator('input').last());
		await page.keyboard.type(text);
		await page.getByTestId('rlc-item').filter({ hasText: text }).first().waitFor();
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Enter');
	}

	async function choose(parameter: string, name: string): Promise<void> {
		const { page } = editor();
		await click(page.getByTestId(`parameter-input-${parameter}`));
		await click(page.getByTestId('parameter-input-item').filter({ hasText: name, visible: true }));
	}

	const execute = async () => await click(editor().page.getByTestId('node-execute-button'));

	it('takes at most 15 clicks with pasted rows, checks them first, and shows no error', async () => {
		const { page } = editor();
		const leads = await readFile(join(projectFolder, 'examples', 'leads.csv'), 'utf8');
		const contacts = () => test().simulator.contactsOf(CAMPAIGN);
		await editor().show('/workflow/new', page.getByTestId('canvas-add-button'));
		await addNode(page.getByTestId('canvas-add-button'), 'Push Campaign Contacts');
		await pick('campaignId', 'Morning Leads');
		await pick('agentUuid', 'Sales India');
		await choose('contactsFrom', 'Pasted Rows');
		await click(page.getByTestId('parameter-input-pastedRows').locator('textarea'));
		await page.keyboard.insertText(leads);
		await execute();
		await editor().readOutput('ready');
		expect(contacts()).toEqual([]);
		await choose('whatToDo', 'Add and Release');
		await execute();
		await editor().readOutput('campaign_upload_id');
		expect(contacts()).toHaveLength(9);
		expect(clicks).toBeLessThanOrEqual(MOST_CLICKS.campaign);
	});

	it('shows an outcome in the same workflow after at most 5 more clicks', async () => {
		const { page } = editor();
		clicks = 0;
		test().simulator.setAutoDial({ everyMs: 50, lastsMs: 50 });
		test().simulator.setAutoComplete({ afterMs: 50 });
		await until('a completed call', () =>
			[...test().simulator.state.calls.values()].some(({ finished }) => finished),
		);
		await page.keyboard.press('Escape');
		await addNode(page.getByTestId('node-creator-plus-button'), 'Campaign Calls Trigger');
		await pick('campaignId', 'Morning Leads');
		await execute();
		await editor().readOutput('Answered');
		expect(clicks).toBeLessThanOrEqual(MOST_CLICKS.outcome);
		expect(editor().errors.splice(0)).toEqual([]);
	});
});
