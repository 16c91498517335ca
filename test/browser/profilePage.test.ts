import type { Browser, Page } from 'playwright-core';
import { readProfile } from '../../nodes/core/profile/schema';
import { serveProfilePage, type ProfilePage } from '../../scripts/profilePage/server';
import { openBrowser } from './browser';

const TOKEN = 'abcdefghijklmnop';
const markup = '<img src=x onerror=alert(1)>';
const curls = `# Add a number
curl 'https://api.example.com/v1/dnd_numbers' \\
  -H 'API-Token: ${TOKEN}' \\
  --data-raw '{"bot":"agent_a1","entry":{"phone":"+919812345678","why":"${markup}"},"via":"api"}'

curl -H "API-Token: ${TOKEN}" https://api.example.com/v1/active_agents
curl 'https://api.example.com/v1/campaigns/7/status?api_key=${TOKEN}'`;

describe('the page "Service Profile from examples"', () => {
	let served: ProfilePage;
	let browser: Browser;
	let page: Page;
	const errors: string[] = [];

	beforeAll(async () => {
		served = await serveProfilePage();
		browser = await openBrowser();
		const context = await browser.newContext({
			permissions: ['clipboard-read', 'clipboard-write'],
		});
		page = await context.newPage();
		page.on('pageerror', ({ message }) => errors.push(message));
		page.on('console', (message) => {
			if (message.type() === 'error') errors.push(message.text());
		});
		await page.goto(served.url);
	});
	afterEach(() => expect(errors.splice(0)).toEqual([]));
	afterAll(async () => {
		await page.context().close();
		await browser.close();
		served.stop();
	});

	const part = (name: string) => page.getByRole('region', { name });

	it('asks where each value is, and preselects those with a clear form', async () => {
		await page.getByLabel('Requests').fill(curls);
		const add = part('dnd.add');
		await add.getByLabel('Where is the phone number?').waitFor();
		const chosen = async (label: string) =>
			await add.getByLabel(label).locator('option:checked').innerText();
		expect(await chosen('Where is the phone number?')).toBe(
			'entry.phone in the body: "+919812345678"',
		);
		expect(await chosen('Where is the agent?')).toBe('bot in the body: "agent_a1"');
		expect(await chosen('Where is the reason?')).toBe('Choose');
		await page.getByText('Answer each question: Where is the reason?').waitFor();
		expect(await page.locator('img').count()).toBe(0);
	});

	it('says what is no part of the profile, and shows no token', async () => {
		await page.getByText("GET /v1/campaigns/7/status isn't a part of the profile.").waitFor();
		expect(await page.locator('body').innerText()).not.toContain(TOKEN);
	});

	it('the finished profile is copied, and is a valid Service Profile', async () => {
		await part('dnd.add')
			.getByLabel('Where is the reason?')
			.selectOption(`entry.why in the body: "${markup}"`);
		const response = '{"data":{"our":[{"id":"agent_a1","title":"Asha"}]}}';
		await part('agents').getByLabel('Example response').fill(response);
		await part('agents').getByLabel("Where is an agent's name?").selectOption('title: "Asha"');
		await page.getByRole('button', { name: 'Copy' }).click();
		await page.getByText('Copied. Paste it into Service Profile').waitFor();
		const copied = await page.evaluate('navigator.clipboard.readText()');
		expect(readProfile(String(copied))).toEqual({
			agents: { list: 'data.our', id: 'id', name: 'title' },
			'dnd.add': {
				body: { bot: '{agent}', entry: { phone: '{phone}', why: '{reason?}' }, via: 'api' },
			},
		});
		const asWritten = part('dnd.add').getByRole('listitem').filter({ visible: true });
		expect(await asWritten.allInnerTexts()).toEqual(['via in the body: "api"']);
		expect(copied).not.toContain(TOKEN);
	});

	it('keeps what is being typed in a response while the questions change', async () => {
		const field = part('agents').getByLabel('Example response');
		await field.fill('');
		await field.pressSequentially('[{"id":"agent_a2"}]');
		await part('agents').getByLabel("Where is an agent's ID?").waitFor();
		expect(await field.inputValue()).toBe('[{"id":"agent_a2"}]');
	});
});
