import type { Browser, Page } from 'playwright-core';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { call } from '../simulator/testing/api';
import { openBrowser } from './browser';

const person = '<img src=x onerror=alert(1)>';
const place = {
	agent_uuid: fixtures.agents.full,
	phone_number: '9876543210',
	country_code: 'IN',
	person_name: person,
};

describe('the page of the simulated service', () => {
	let simulator: Simulator;
	let browser: Browser;
	let page: Page;
	const errors: string[] = [];

	beforeAll(async () => {
		simulator = await startSimulator({ dialect: dialects.plain, keepResponses: true });
		browser = await openBrowser();
		page = await browser.newPage();
		page.on('pageerror', ({ message }) => errors.push(message));
		page.on('console', (message) => {
			if (message.type() === 'error') errors.push(message.text());
		});
		await page.goto(simulator.baseUrl);
	});
	afterEach(() => expect(errors.splice(0)).toEqual([]));
	afterAll(async () => {
		await browser.close();
		await simulator.stop();
	});

	const section = (title: string) => page.getByRole('region', { name: title });
	const button = (name: string) => page.getByRole('button', { name });

	it('shows a call until it ends, with names as text', async () => {
		await section('Calls').getByText('No calls yet').waitFor();
		const { data } = await call(simulator, 'POST', '/v1/call', place);
		const row = section('Calls').getByRole('listitem');
		await row.getByText('Ringing').waitFor();
		expect(await row.innerText()).toContain(`+919876543210 ${person}`);
		await simulator.endCall(String(data.call_id));
		await row.getByText('Ended: picked').waitFor();
		expect(await page.locator('img').count()).toBe(0);
	});

	it('shows each request with its response, and keeps an opened one open', async () => {
		const first = section('Requests').locator('details').last();
		await first.locator('summary').click();
		await call(simulator, 'GET', '/v1/active_agents');
		await section('Requests').getByText('/v1/active_agents').waitFor();
		expect(await first.locator('pre').first().isVisible()).toBe(true);
		expect(await first.innerText()).toContain('"success": true');
	});

	it('the switch of a failed response places the call, and the page shows both', async () => {
		await button('Next Place Call: status 500').click();
		await page.getByText('Next Place Call: status 500 although it took effect').waitFor();
		const withFaults = { 'API-Token': simulator.token };
		const ravi = { ...place, person_name: 'Ravi' };
		const { status } = await call(simulator, 'POST', '/v1/call', ravi, withFaults);
		expect(status).toBe(500);
		await section('Calls').getByText('Ravi').waitFor();
		await section('Requests').getByText('500 · status 500 although it took effect').waitFor();
	});

	it('Back to normal switches everything off', async () => {
		await button('Slow').click();
		await page.getByText('Each response takes 5 s').waitFor();
		expect(await button('Slow').getAttribute('aria-pressed')).toBe('true');
		await button('Back to normal').click();
		await page.getByText('Each response takes 5 s').waitFor({ state: 'detached' });
	});

	it('lets one chat as the customer, and then as a person', async () => {
		await button('Start a chat as a customer').click();
		const chat = section('Chats');
		await chat.getByPlaceholder('Message').fill('Is the flat free?');
		await button('Send as customer').click();
		await chat.getByText('You said: Is the flat free?').waitFor();
		await chat.getByPlaceholder('Message').fill('It is.');
		await button('Take over').click();
		await chat.getByText('a person has taken over').waitFor();
		await button('Hand back').click();
		await chat.getByText('the agent replies').waitFor();
		await button('End the chat').click();
		await chat.getByText('closed, ').waitFor();
		expect(await chat.getByPlaceholder('Message').isDisabled()).toBe(true);
	});
});
