/** The form of example 02 in a browser: the template that it offers, filled in and uploaded. */
import { readFile } from 'node:fs/promises';
import { jsonParse, type INode } from 'n8n-workflow';
import type { Browser, Page } from 'playwright-core';
import { publishForm } from '../e2e/forms';
import { useExamples } from '../e2e/exampleRun';
import { fixtures } from '../simulator';
import { openBrowser } from './browser';

const run = useExamples();
let browser: Browser;
let page: Page;

beforeAll(async () => {
	browser = await openBrowser();
	page = await browser.newPage();
});
afterAll(async () => {
	await browser.close();
});

/** Publishes the example so that its contacts are pushed, and wait. */
const publish = async (): Promise<string> =>
	await publishForm(run, '02-list-upload-form.json', (node) => {
		if (node.name === 'Upload Form') return { ...node, webhookId: 'template' };
		if (node.name !== 'Settings') return node;
		return jsonParse<INode>(JSON.stringify(node).replace('"check"', '"wait"'));
	});

test('a submission without a file downloads a template, which the push reads as it is', async () => {
	const url = await publish();
	await page.goto(url);
	await page.getByText('Submit the form without a file to get a template').waitFor();
	await page.getByLabel('Other columns of the template').fill(' city, प्लान,Phone,, plan "B"');
	const downloading = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Submit' }).click();
	const download = await downloading;
	expect(download.suggestedFilename()).toBe('template.csv');
	const template = await readFile(await download.path(), 'utf8');
	expect(template).toBe('\uFEFF"phone","person_name","city","प्लान","plan ""B"""');
	await page.getByText('The template is downloaded').waitFor();
	await page.getByText('Enter one row per person, and keep the first row.').waitFor();

	await page.goto(url);
	await page.getByLabel('List').setInputFiles({
		name: 'template.csv',
		mimeType: 'text/csv',
		buffer: Buffer.from(`${template}\n98765 43210,Asha Rao,Pune,सोना,yes\n`),
	});
	await page.getByRole('button', { name: 'Submit' }).click();
	await page.getByText('1 of 1 rows were added to the campaign').waitFor();
	expect(run.simulator.contactsOf(fixtures.campaigns.active)).toMatchObject([
		{
			phone: '+919876543210',
			personName: 'Asha Rao',
			extra: { city: 'Pune', प्लान: 'सोना', 'plan "B"': 'yes' },
		},
	]);
});
