import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { examplesFolder } from '../n8n/examples';
import { until } from '../n8n/until';
import { fixtures } from '../simulator';
import { ExampleRun, SHEET } from './exampleRun';
import { sharedN8n } from './shared';

const campaign = fixtures.campaigns.active;

describe('examples of pushes, with only the credentials selected', () => {
	let run: ExampleRun;

	beforeAll(async () => {
		run = await ExampleRun.open();
	});
	beforeEach(() => run.reset());
	afterAll(async () => {
		await run.close();
		expect(run.parties.rejected).toEqual([]);
	});

	describe('01 morning push', () => {
		const header = ['person_name', 'phone', 'city'];
		const rejection = { success: false, error: 'agent_not_found', details: null };

		it('pushes each row once on two mornings, and saves the result to each row', async () => {
			const workflow = await run.import('01-morning-push.json');
			const { sheets, gmail } = run.parties;
			sheets.setSpreadsheet(SHEET, {
				Leads: [
					header,
					['Asha Rao', 9876543210, 'Pune'],
					['Farah Ali', '022 1234', 'Mumbai'],
					['Ravi Kumar', '98765 43211', 'Nagpur'],
					['Asha', '+91 98765 43210', 'Pune'],
				],
				Rejected: [],
			});
			await run.run(workflow, 'Every Morning');
			const statuses = () => sheets.rows('Leads').map((row) => row.push_status);
			expect(statuses()).toEqual(['pushed', 'rejected', 'pushed', 'duplicate']);
			expect(sheets.rows('Leads')[1]).toMatchObject({
				phone: '022 1234',
				rejection_reason: expect.stringContaining('digits instead of 10'),
			});
			expect(sheets.rows('Rejected')).toMatchObject([
				{ person_name: 'Farah Ali', push_status: 'rejected' },
				{ person_name: 'Asha', push_status: 'duplicate' },
			]);
			expect(gmail.mails).toHaveLength(1);
			expect(gmail.mails[0]).toMatchObject({
				to: 'marketing@example.com',
				subject: expect.stringMatching(/^2 rows were not pushed on /),
				body: expect.stringMatching(/<li>Row 3, 022 1234 Farah Ali: [^<]*digits instead of 10/),
			});
			const contacts = () =>
				run.simulator
					.contactsOf(campaign)
					.map(({ phone, personName, extra }) => [phone, personName, extra]);
			const first = [
				['+919876543210', 'Asha Rao', { city: 'Pune' }],
				['+919876543211', 'Ravi Kumar', { city: 'Nagpur' }],
			];
			expect(contacts()).toEqual(first);

			// The next morning, with a corrected row, a new row, and the unchanged others.
			sheets.type('Leads', 'B3', ['98765 43219', 'Mumbai', '', '']);
			sheets.type('Leads', 'A6', ['Meera Iyer', '9876543212', 'Chennai']);
			await run.run(workflow, 'Every Morning');
			expect(statuses()).toEqual(['pushed', 'pushed', 'pushed', 'duplicate', 'pushed']);
			expect(sheets.rows('Leads')[1]).toMatchObject({ rejection_reason: '' });
			expect(contacts()).toEqual([
				...first,
				['+919876543219', 'Farah Ali', { city: 'Mumbai' }],
				['+919876543212', 'Meera Iyer', { city: 'Chennai' }],
			]);
			expect(gmail.mails).toHaveLength(1);
		});

		it.each([
			['rejected', { kind: 'status', status: 404, body: rejection }, 'not_sent', 1],
			['lost', { kind: 'resetAfter' }, 'unknown', 1],
		] as const)(
			'saves the status of each row if the request is %s, and pushes nobody twice',
			async (_description, fault, status, contactCount) => {
				const workflow = await run.import('01-morning-push.json');
				const { sheets, gmail } = run.parties;
				sheets.setSpreadsheet(SHEET, {
					Leads: [header, ['Asha Rao', '9876543210', 'Pune']],
					Rejected: [],
				});
				run.simulator.faults.inject({ ...fault, match: { method: 'POST' }, times: 1 });
				await run.run(workflow, 'Every Morning');
				expect(sheets.rows('Leads')).toMatchObject([{ push_status: status }]);
				expect(gmail.mails).toHaveLength(1);
				await run.run(workflow, 'Every Morning');
				expect(run.simulator.contactsOf(campaign)).toHaveLength(contactCount);
			},
		);
	});

	describe('07 check a sheet before pushing', () => {
		it('marks numbers on the list, pushes the others, and names numbers that could not be compared', async () => {
			const workflow = await run.import('07-check-sheet-before-push.json');
			const { sheets } = run.parties;
			sheets.setSpreadsheet(SHEET, {
				Leads: [
					['person_name', 'phone', 'city'],
					['Asha Rao', '9876543210', 'Pune'],
					['Never Again', '98123 45678', 'Delhi'],
					['Farah Ali', 'will tell later', 'Mumbai'],
				],
			});
			await run.run(workflow, 'Start Here');
			expect(sheets.rows('Leads')).toMatchObject([
				{ push_status: 'pushed' },
				{ push_status: 'do_not_disturb' },
				{
					push_status: 'not_compared',
					rejection_reason: expect.stringContaining('will tell later'),
				},
			]);
			expect(run.simulator.contactsOf(campaign)).toMatchObject([
				{ phone: '+919876543210', personName: 'Asha Rao', extra: { city: 'Pune' } },
			]);
			expect(run.simulator.contactsOf(campaign)[0]?.extra).toEqual({ city: 'Pune' });
		});
	});

	describe('02 upload a list', () => {
		let form: string;

		beforeAll(async () => {
			const workflow = await run.publish('02-list-upload-form.json');
			const trigger = workflow.json.nodes.find(({ name }) => name === 'Upload Form');
			form = `${sharedN8n().baseUrl}/form/${trigger?.webhookId}`;
			await until('the form', async () => (await fetch(form)).ok);
		});

		/** Submits the form. Returns the final page. */
		async function upload(file: string, content: Buffer): Promise<string> {
			const body = new FormData();
			body.set('field-0', new File([new Uint8Array(content)], basename(file)));
			const response = await fetch(form, { method: 'POST', body });
			const { formWaitingUrl } = z
				.object({ formWaitingUrl: z.string() })
				.parse(await response.json());
			const status = new URL(formWaitingUrl);
			status.pathname += '/n8n-execution-status';
			await until(
				'the last page',
				async () => (await (await fetch(status)).text()) === 'form-waiting',
			);
			const page = await (await fetch(formWaitingUrl)).text();
			// As the script of that page does.
			await fetch(formWaitingUrl, { method: 'POST', body: '{}' });
			return page;
		}

		it.each([
			['leads.csv', examplesFolder, 'city'],
			['leads.xlsx', join(__dirname, 'files'), 'City'],
		])(
			'pushes the messy rows of %s, and lists each row that is not called on the page',
			async (file, folder, city) => {
				const page = await upload(file, await readFile(join(folder, file)));
				const pushed = run.simulator.contactsOf(campaign);
				expect(
					pushed.map(({ phone, personName, extra }) => [phone, personName ?? '', extra[city]]),
				).toEqual(messyRows);
				expect(pushed.every(({ enqueued }) => !enqueued)).toBe(true);
				expect(page).toContain('9 of 13 rows are in the campaign');
				for (const [name, reason] of [
					['Meera,', 'has the same phone number'],
					['Farah Ali', 'has 5 digits instead of 10'],
					['Gopal Menon', 'This row has no phone number'],
					['Nisha Gill', 'is not a phone number'],
				]) {
					expect(page).toMatch(new RegExp(`<li>${name}[^<]*${reason}`));
				}
			},
		);

		it('pushes each good number of 25,000 rows once, with its longest name', async () => {
			const sheet = bigPush();
			const page = await upload('big.csv', Buffer.from(sheet.csv));
			const pushed = run.simulator
				.contactsOf(campaign)
				.map(({ phone, personName }) => `${phone} ${personName}`);
			expect(pushed).toHaveLength(sheet.good.size);
			expect(new Set(pushed)).toEqual(
				new Set([...sheet.good].map(([phone, name]) => `+91${phone} ${name}`)),
			);
			expect(page).toContain(`${sheet.good.size} of 25000 rows are in the campaign`);
		});

		it.each([
			['leads.xlsx', '%PDF-1.7 not a spreadsheet'],
			['leads.csv', 'phone,person_name'],
		])('reports that %s has no rows, and pushes nobody', async (file, content) => {
			const page = await upload(file, Buffer.from(content));
			expect(page).toContain('rows are in the campaign');
			expect(page).toContain('If this was not a list');
			expect(run.simulator.requests).toEqual([]);
		});

		it('names the type of a file that is not CSV, whatever its name', async () => {
			const page = await upload('leads.csv', Buffer.from('<!doctype html><p>Sign in</p>'));
			expect(page).toContain('0 of 1 rows are in the campaign');
			expect(page).toMatch(/<li>The file [^<]*leads\.csv[^<]* is a web page or XML, not CSV/);
			expect(run.simulator.requests).toEqual([]);
		});

		it('shows the reason if the service rejects the whole list', async () => {
			run.simulator.changeCampaign(campaign, 'Archived');
			const page = await upload('leads.csv', await readFile(join(examplesFolder, 'leads.csv')));
			expect(page).toContain('0 of 13 rows are in the campaign');
			expect(page).toContain('archived');
		});
	});
});

const messyRows = [
	['+919876543210', 'Asha Rao', 'Pune'],
	['+919876543211', 'Ravi Kumar', 'Nagpur'],
	['+919876543212', 'Meera Iyer', 'Chennai'],
	['+919876543213', 'Imran Khan', 'Delhi'],
	['+919876543214', 'Sunita Das', 'Kolkata'],
	['+919876543215', '', 'Surat'],
	['+919876543216', 'Dev Patel', 'Surat'],
	['+919876543217', 'Leela Nair', 'Kochi'],
	['+919876543218', 'Joshi, Anil', 'Pune'],
];

/** 25,000 rows: 1% unusable, 3% duplicates with other names, and one that only the service rejects. */
function bigPush() {
	const good = new Map<string, string>();
	const bad: string[] = [];
	const rejected = 12_345;
	const lines = ['phone,person_name,row'];
	for (let row = 0; row < 25_000; row++) {
		let phone = String(6_000_000_000 + row * 7);
		let name = `Person ${row}`;
		if (row === rejected) {
			phone = '+911234567890';
			bad.push(String(row));
		} else if (row % 100 === 50) {
			phone = row % 200 === 50 ? '' : '12345';
			bad.push(String(row));
		} else if (row % 100 >= 97) {
			// The number of an earlier row in another format, half of them with a longer name.
			const original = String(6_000_000_000 + (row - 60) * 7);
			name = row % 2 === 0 ? 'P' : `${good.get(original)} the Second`;
			if (row % 2 === 1) good.set(original, name);
			phone = `0${original.slice(0, 5)} ${original.slice(5)}`;
		} else {
			good.set(phone, name);
		}
		lines.push(`${phone},${name},${row}`);
	}
	return { csv: lines.join('\n'), good, bad, rejected: String(rejected) };
}
