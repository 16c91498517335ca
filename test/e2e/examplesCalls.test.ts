import merge from 'lodash/merge';
import type { INode, INodeParameters } from 'n8n-workflow';
import { DateTime } from 'luxon';
import { z } from 'zod';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import type { CallOutcome } from '../simulator';
import { firstReading, placeCalls } from './calls';
import { SHEET, useExamples, type Imported } from './exampleRun';
import { sharedN8n } from './shared';

describe('examples of calls, with only the credentials selected', () => {
	const run = useExamples();

	describe('03 call a new lead', () => {
		let workflow: Workflow;
		let form: string;

		beforeAll(async () => {
			workflow = await run.publish('03-new-lead-call.json', atAnyTime);
			form = await webhookAt('new-lead');
		});

		async function webhookAt(path: string): Promise<string> {
			const url = `${sharedN8n().baseUrl}/webhook/${path}`;
			await until('the webhook', async () => (await fetch(url, { method: 'POST' })).status !== 404);
			return url;
		}

		/** Submits the website form. Returns the page that the visitor sees. */
		async function send(lead: Record<string, string>): Promise<string> {
			const response = await fetch(form, { method: 'POST', body: new URLSearchParams(lead) });
			expect(response.headers.get('content-type')).toContain('text/html');
			return await response.text();
		}
		const contact = async (email: string) =>
			await until('the lead in the CRM', () => run.parties.hubspot.contacts.get(email));

		it('calls a visitor who sends the form twice once, and saves the outcome to the CRM', async () => {
			const lead = { name: 'Asha <Rao>', email: 'asha@example.com', phone: '+91 98765 43210' };
			const pages = await Promise.all([send(lead), send({ ...lead, phone: '098765-43210' })]);
			for (const page of pages) expect(page).toContain('Thank you, Asha &lt;Rao>');
			const call = await until('the call', () => run.simulator.placedCalls().at(0));
			expect(call).toMatchObject({ phone: '+919876543210', callerName: 'Asha <Rao>' });
			expect(ringsAt(call.request)).toBe('now');
			await run.simulator.completeCall(
				call.callId,
				{ summary: 'Wants a visit.' },
				{ deliverTimes: 2 },
			);
			expect(await contact('asha@example.com')).toEqual({
				firstname: 'Asha <Rao>',
				phone: expect.stringMatching(/98765.43210$/),
				call_outcome: 'Answered',
				call_summary: 'Wants a visit.',
			});
			await run.ended(workflow, 2);
			expect(run.simulator.callsTo('9876543210')).toBe(1);
		});

		it('outside the calling hours, waits until they begin, and then calls once', async () => {
			const path = 'before-the-hours';
			await run.publish('03-new-lead-call.json', (node) =>
				node.name === 'New Lead'
					? merge({}, node, { parameters: { path } })
					: fromNextMinute(atAnyTime(node)),
			);
			const url = await webhookAt(path);
			const lead = { name: 'Bela', email: 'bela@example.com', phone: '98765 43214' };
			await fetch(url, { method: 'POST', body: new URLSearchParams(lead) });
			await until('the call', () => run.simulator.callsTo('9876543214') === 1, {
				timeout: 180_000,
			});
			const [call] = run.simulator.placedCalls();
			await run.simulator.completeCall(call?.callId ?? '', {});
			expect(await contact('bela@example.com')).toMatchObject({ call_outcome: 'Answered' });
			expect(run.simulator.callsTo('9876543214')).toBe(1);
		});

		it.each([
			[
				'a landline number with a missing digit',
				{ email: 'farah@example.com', phone: '022 2345 678' },
			],
			[
				'an email address that changes the URL of a CRM',
				{ email: '../Id/1?farah@example.com', phone: '9876543210' },
			],
		])('%s: asks the visitor to check the details, and calls nobody', async (_what, lead) => {
			expect(await send({ name: 'Farah', ...lead })).toContain('Please check your details');
			await run.ended(workflow, 1);
			expect(run.simulator.requests).toEqual([]);
			expect(run.parties.hubspot.contacts.size).toBe(0);
		});

		it('does not place a call again if its response is lost, and saves to the CRM that the outcome is unknown', async () => {
			run.simulator.faults.inject({
				kind: 'resetAfter',
				match: { method: 'POST', path: '/v1/call' },
				times: 1,
			});
			await send({ name: 'Ravi', email: 'ravi@example.com', phone: '098765-43211' });
			const { call_outcome, call_summary } = await contact('ravi@example.com');
			expect(call_outcome).toContain('Not called, or unknown');
			expect(call_summary).toContain('9876543211');
			expect(run.simulator.callsTo('9876543211')).toBe(1);
		});

		describe.each([
			{
				crm: 'Update Zoho CRM',
				leads: () => run.parties.zoho.leads,
				firstName: 'First_Name',
				lastName: 'Last_Name',
			},
			{
				crm: 'Update Salesforce',
				leads: () => run.parties.salesforce.leads,
				firstName: 'FirstName',
				lastName: 'LastName',
			},
		])('with $crm activated instead of HubSpot', ({ crm, leads, firstName, lastName }) => {
			beforeAll(async () => {
				// Another path, because the unchanged workflow is published, too.
				const path = crm.replaceAll(' ', '-');
				await run.publish('03-new-lead-call.json', (node) => {
					if (node.name === 'New Lead') return merge({}, node, { parameters: { path } });
					return node.name.startsWith('Update ')
						? { ...node, disabled: node.name !== crm }
						: atAnyTime(node);
				});
				form = await webhookAt(path);
			});

			it('updates the lead with the email address, and adds a lead for another one', async () => {
				const asha = 'asha+flats@example.com';
				leads().set(asha, { Company: 'Rao', Rating: 'Hot' });
				leads().set('meera@example.com', { Company: 'Nair' });
				await send({
					name: 'Asha Devi Rao',
					email: asha,
					phone: '98765 43212',
					company: 'Rao & Co',
				});
				await send({ name: 'Ravi', email: 'ravi@example.com', phone: '98765 43213' });
				const called = async (phone: string, outcome: CallOutcome) => {
					const call = await until(`the call to ${phone}`, () =>
						run.simulator.placedCalls().find((one) => one.phone.endsWith(phone)),
					);
					await run.simulator.completeCall(call.callId, outcome);
				};
				await called('9876543212', { summary: 'Wants a visit.' });
				await called('9876543213', { status: 'not_picked', summary: null });
				await until(
					'the outcomes in the CRM',
					() => leads().get(asha)?.Description !== undefined && leads().has('ravi@example.com'),
				);
				expect(Object.fromEntries(leads())).toEqual({
					[asha]: {
						Rating: 'Hot',
						[firstName]: 'Asha Devi',
						[lastName]: 'Rao',
						Company: 'Rao & Co',
						Phone: '98765 43212',
						Description: 'Answered. Wants a visit.',
					},
					'meera@example.com': { Company: 'Nair' },
					'ravi@example.com': {
						[firstName]: '',
						[lastName]: 'Ravi',
						Company: 'Ravi',
						Phone: '98765 43213',
						Description: 'Not answered',
					},
				});
				expect(run.parties.hubspot.contacts.size).toBe(0);
			});
		});
	});

	describe('05 call unanswered people again', () => {
		const DAY_MS = 86_400_000;
		const phone = (last: number) => `900000000${last}`;

		/** Places and completes one call per outcome, in the order of the numbers. */
		async function called(...outcomes: CallOutcome[]): Promise<void> {
			const ids = await placeCalls(run.simulator, outcomes.length, 'https://example.com/ignored');
			for (const [index, id] of ids.entries())
				await run.simulator.completeCall(id, outcomes[index]);
		}
		/** Imports it with calling hours of the whole day, or of one hour that is half a day away. */
		async function importWith(isOpen: boolean, people: INodeParameters = {}): Promise<Imported> {
			const zone = 'Asia/Kolkata';
			const later = DateTime.now().setZone(zone).plus({ hours: 12 });
			const closed = {
				callingFrom: later.toFormat('HH:00'),
				callingUntil: later.toFormat('HH:30'),
			};
			const hours = isOpen ? { callingFrom: '00:00', callingUntil: '24:00' } : closed;
			const changes: Record<string, INodeParameters> = {
				'Call Again': { callingDays: WEEK, ...hours, timeZone: zone },
				'Unreached People': people,
			};
			return await run.import('05-call-unanswered-again.json', (node) =>
				merge({}, node, { parameters: changes[node.name] ?? {} }),
			);
		}
		const missed = { status: 'not_picked' };
		const reached = { status: 'picked' };
		const COLUMNS = ['phone', 'person_name', 'attempts', 'placed', 'not_placed_reason', 'error'];
		beforeEach(() => {
			run.parties.sheets.setSpreadsheet(SHEET, { Calls: [COLUMNS] });
		});
		/** Calls of other tests, which the simulator starts with. */
		const isOwn = ({ phone: number }: { phone: string }) => number.startsWith('+919000000');
		/** The new calls since there were so many. */
		const since = (before: number) =>
			run.simulator
				.placedCalls()
				.slice(before)
				.filter(isOwn)
				.map(({ phone: number }) => number);

		it('outside the calling hours, calls nobody, schedules nothing, and writes who was not called', async () => {
			const workflow = await importWith(false, { hoursBetween: 0 });
			await called(missed);
			await run.run(workflow, 'Every Calling Day');
			expect(run.simulator.callsTo(phone(0))).toBe(1);
			const rows = run.parties.sheets.rows('Calls');
			expect(rows.filter(({ phone: to }) => String(to).endsWith(phone(0)))).toMatchObject([
				{ attempts: 1, placed: false, not_placed_reason: 'outside_calling_hours', error: '' },
			]);
		});

		it('calls unanswered people again, at most three times in total, and nobody with a call in progress', async () => {
			const workflow = await importWith(true);
			const { simulator } = run;
			simulator.clock.advance(-6 * DAY_MS);
			await called(missed, missed, missed, missed);
			simulator.clock.advance(4 * DAY_MS);
			await called(missed, missed, missed, missed);
			simulator.clock.advance(DAY_MS);
			await called(missed, reached, missed);
			simulator.clock.advance(DAY_MS);
			const before = simulator.placedCalls().length;
			// 0 and 2 already had three calls, and 1 was reached later.
			await run.run(workflow, 'Every Calling Day');
			expect(since(before)).toEqual([`+91${phone(3)}`]);
			const again = simulator.placedCalls().findLast(({ phone: to }) => to === `+91${phone(3)}`);
			expect(ringsAt(again?.request)).toBe('now');
			// The call is still in progress.
			await run.run(workflow, 'Every Calling Day');
			expect(since(before)).toHaveLength(1);
			// The third call isn't answered either.
			await simulator.completeCall(again?.callId ?? '', missed);
			await run.run(workflow, 'Every Calling Day');
			expect(since(before)).toHaveLength(1);
		});
	});

	describe('04 call outcomes to a sheet', () => {
		it('saves each outcome once, sorted by the captured data', async () => {
			const workflow = await run.publish('04-call-outcomes-to-sheet.json');
			// Calls that have ended before it start nothing.
			await firstReading(run.n8n, workflow);
			run.parties.sheets.setSpreadsheet(SHEET, {
				Visits: [['called_at', 'phone', 'name', 'visit_day', 'summary', 'call_id']],
				'Other Calls': [],
			});
			const [visit = '', other = ''] = await placeCalls(run.simulator, 2, 'https://example.com');
			const captured = { data_captured: { visit_day: 'Saturday' } };
			await run.simulator.endCall(visit, captured);
			await run.simulator.endCall(other, { status: 'not_picked', summary: null });
			const rows = (tab: string) => run.parties.sheets.rows(tab);
			// Publishing begins with a reading, and others are a minute apart.
			await run.n8n.deactivate(workflow);
			await run.n8n.activate(workflow);
			await until('the rows', () => rows('Visits').length > 0 && rows('Other Calls').length > 0);
			expect(rows('Visits')).toMatchObject([
				{ call_id: visit, phone: '+919000000000', visit_day: 'Saturday' },
			]);
			expect(rows('Other Calls')).toMatchObject([
				{ call_id: other, phone: '+919000000001', outcome: 'Not answered' },
			]);
			await run.ended(workflow, 1);
			// It writes into the same sheet as the workflow of the next test.
			await run.n8n.deactivate(workflow);
		});
	});

	describe('08 campaign report', () => {
		it('emails one table, which says why a campaign or the calls could not be read', async () => {
			const workflow = await run.import('08-campaign-report.json');
			const fail = (path: string, status: number, error: string) =>
				run.simulator.faults.respond(path, status, { body: { success: false, error } });
			fail('/v1/campaigns/102/status', 404, "Couldn't find Campaign");
			fail('/v1/calls', 500, 'unavailable');
			await run.run(workflow, 'Every Evening');
			expect(run.parties.gmail.mails).toHaveLength(1);
			const [mail] = run.parties.gmail.mails;
			expect(mail).toMatchObject({ to: 'marketing@example.com' });
			expect(mail?.subject).toMatch(/^Campaigns on \d+ \w+ \d{4}$/);
			expect(mail?.body).toContain(
				'<td>Morning Leads</td><td>Active</td><td>38</td><td>30</td><td>1</td><td>7</td><td>79 %</td>',
			);
			const bar = /<tr>((?:<td width="\d+%" bgcolor="#\w+">&nbsp;<\/td>)+)<\/tr>/.exec(
				mail?.body ?? '',
			);
			const widths = [...(bar?.[1] ?? '').matchAll(/width="(\d+)%"/g)].map(([, width]) =>
				Number(width),
			);
			expect(widths).toEqual([79, 3, 18]);
			expect(mail?.body).toMatch(
				/<td>Campaign 102<\/td><td>[^<]*doesn't know this campaign[^<]*<\/td>(<td><\/td>){7}<\/tr>/,
			);
			expect(mail?.body).toMatch(
				/<td colspan="5">The service or a proxy returned HTTP status 500\. [^<]*Try again later/,
			);
		});

		it('shows the report as a page, with the calls of each day and agent', async () => {
			const httpBasicAuth = await run.n8n.createCredential('httpBasicAuth', {
				user: 'marketing',
				password: 'a password',
			});
			await run.publish('08-campaign-report.json', (node) =>
				node.name === 'Report Page' ? { ...node, credentials: { httpBasicAuth } } : node,
			);
			const url = `${sharedN8n().baseUrl}/webhook/campaign-report`;
			const headers = { authorization: `Basic ${btoa('marketing:a password')}` };
			const page = await until('the page', async () => {
				const response = await fetch(url, { headers });
				return response.ok && (await response.text());
			});
			expect((await fetch(url)).status).toBe(401);
			expect(page).toContain('<td>Morning Leads</td>');
			expect(page).toMatch(
				/<td>\d{4}-\d\d-\d\d<\/td><td>Sales India<\/td><td>\d+<\/td><td>\d+<\/td><td><table[^>]*><tr>(<td width="\d+%" bgcolor="#\w+">&nbsp;<\/td>)+<\/tr><\/table>/,
			);
			expect(run.parties.gmail.mails).toEqual([]);
		});
	});
});

/** The requested time of a call. */
function ringsAt(request: unknown): string {
	const { scheduled_at: at } = z.object({ scheduled_at: z.string().optional() }).parse(request);
	return at === undefined ? 'now' : (DateTime.fromISO(at).toUTC().toISO() ?? at);
}

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Without a limit by the time at which the test runs. */
function atAnyTime(node: INode): INode {
	const hours = { callingDays: WEEK, callingFrom: '00:00', callingUntil: '24:00' };
	return node.name === 'Place Call' ? merge({}, node, { parameters: hours }) : node;
}

/** Calling begins in the next minute, in a time zone in which it isn't midnight. */
function fromNextMinute(node: INode): INode {
	const zone = DateTime.now().setZone('Asia/Kolkata').hour < 23 ? 'Asia/Kolkata' : 'UTC';
	const callingFrom = DateTime.now().setZone(zone).plus({ minutes: 1 }).toFormat('HH:mm');
	const hours = { callingFrom, timeZone: zone };
	return node.name === 'Place Call' ? merge({}, node, { parameters: hours }) : node;
}
