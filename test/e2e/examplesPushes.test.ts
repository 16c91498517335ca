import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { jsonParse, type INode } from 'n8n-workflow';
import { examplesFolder } from '../n8n/examples';
import { fixtures } from '../simulator';
import { SHEET, useExamples } from './exampleRun';
import { publishForm, submitToEnd } from './forms';

const campaign = fixtures.campaigns.active;

const HEADER = 'phone,person_name\n';
const GOOD_ROWS = '9876543210,Asha\n9876543211,Ravi\n';
const WAITS = expect.stringMatching(
	/^Nobody is called yet\. Ask the person who gave you the form to have the contacts released \(contact list \d+\)\./,
);
const NO_ROWS =
	'The file has no rows. Nothing was sent. Of an Excel file, only the first sheet is read.';
/** The beginning of an image. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('examples of pushes, with only the credentials selected', () => {
	const run = useExamples();

	describe('01 morning push', () => {
		const header = ['person_name', 'phone', 'city', 'push_status', 'rejection_reason'];
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
				rejection_reason: expect.stringContaining('6 digits after its 0 instead of 10'),
			});
			expect(sheets.rows('Rejected')).toMatchObject([
				{ person_name: 'Farah Ali', push_status: 'rejected' },
			]);
			expect(gmail.mails).toHaveLength(1);
			expect(gmail.mails[0]).toMatchObject({
				to: 'marketing@example.com',
				subject: expect.stringMatching(/^1 row to check on /),
				body: expect.stringMatching(
					/<li>Row 3, 022 1234 Farah Ali: [^<]*6 digits after its 0 instead of 10/,
				),
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
					['person_name', 'phone', 'city', 'push_status', 'rejection_reason'],
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

			// With a corrected number.
			sheets.type('Leads', 'B4', ['9876500123']);
			await run.run(workflow, 'Start Here');
			expect(sheets.rows('Leads')[2]).toMatchObject({
				push_status: 'pushed',
				rejection_reason: '',
			});
			expect(run.simulator.contactsOf(campaign)).toMatchObject([{}, { phone: '+919876500123' }]);
		});
	});

	describe('02 upload a list', () => {
		/**
		 * With this value in Settings. Returns the URL of the form. A workflow pushes a number once, so lists with the same
		 * numbers need several.
		 */
		async function publish(whatToDo: string): Promise<string> {
			const webhookId = randomUUID();
			return await publishForm(run, '02-list-upload-form.json', (node) => {
				if (node.name === 'Upload Form') return { ...node, webhookId };
				if (node.name !== 'Settings') return node;
				const settings = JSON.stringify(node).replace('"value":"check"', `"value":"${whatToDo}"`);
				return jsonParse<INode>(settings);
			});
		}
		/** For lists of which nothing is pushed. */
		let form: string;
		beforeAll(async () => {
			form = await publish('wait');
		});

		/** Submits the form. Returns the title and the lines of the final page. */
		async function upload(file: string, content: Buffer | string, url = form): Promise<string[]> {
			return await submitToEnd(url, [
				new File([new Uint8Array(Buffer.from(content))], basename(file)),
			]);
		}

		it.each([
			['leads.csv', examplesFolder, 'city', 'Meera Iyer \\(row 5\\)'],
			// n8n leaves out blank rows, so the number of a row in the file is unknown.
			['leads.xlsx', join(__dirname, 'files'), 'City', 'Meera Iyer'],
		])(
			'pushes the messy rows of %s, and lists each row that is not called on the page',
			async (file, folder, city, kept) => {
				const content = await readFile(join(folder, file));
				const [title, ...lines] = await upload(file, content, await publish('wait'));
				const pushed = run.simulator.contactsOf(campaign);
				expect(
					pushed.map(({ phone, personName, extra }) => [phone, personName ?? '', extra[city]]),
				).toEqual(messyRows);
				expect(pushed.every(({ enqueued }) => !enqueued)).toBe(true);
				expect(title).toBe('9 of 13 rows were added to the campaign');
				expect(lines).toEqual([
					WAITS,
					'The other rows, each with its reason:',
					expect.stringMatching(/^Farah Ali.*has 5 digits instead of 10/),
					expect.stringMatching(/^Gopal Menon.*The phone column of this row is empty/),
					expect.stringMatching(/^Nisha Gill.*isn't a phone number/),
					expect.stringMatching(new RegExp(`^Meera,.*: ${kept} has the same number`)),
				]);
			},
		);

		it('first only checks a list, whose people can still be called after that', async () => {
			const content = await readFile(join(examplesFolder, 'leads.csv'));
			const url = await publish('check');
			expect(await upload('leads.csv', content, url)).toEqual([
				'9 of 13 rows can be added to the campaign',
				'The list was only checked, so nobody is called. The other rows, each with its reason:',
				expect.stringMatching(/^Farah Ali/),
				expect.stringMatching(/^Gopal Menon/),
				expect.stringMatching(/^Nisha Gill/),
				expect.stringMatching(/^Meera,.*: Meera Iyer \(row 5\) has the same number/),
			]);
			expect(await upload('leads.csv', `${HEADER}${GOOD_ROWS}`, url)).toEqual([
				'2 of 2 rows can be added to the campaign',
				'The list was only checked, so nobody is called.',
			]);
			expect(run.simulator.contactsOf(campaign)).toEqual([]);
			await upload('leads.csv', content, await publish('release'));
			const contacts = run.simulator.contactsOf(campaign);
			expect(contacts.filter(({ enqueued }) => enqueued)).toHaveLength(9);
		});

		it('says that every row is in the campaign, and of rows that were uploaded before that they are not pushed again', async () => {
			const url = await publish('wait');
			expect(await upload('leads.csv', `${HEADER}${GOOD_ROWS}`, url)).toEqual([
				'2 of 2 rows were added to the campaign',
				WAITS,
				'Every row is in the campaign.',
			]);
			const before = [
				`9876543210, Asha: This number was uploaded before, so it isn't added again. Whether it's called depends on that upload.`,
				`9876543211, Ravi: This number was uploaded before, so it isn't added again. Whether it's called depends on that upload.`,
			];
			expect(await upload('leads.csv', `${HEADER}${GOOD_ROWS}`, url)).toEqual([
				'0 of 2 rows were added to the campaign, 2 were uploaded before',
				'No row was added:',
				...before,
			]);
			expect(await upload('leads.csv', `${HEADER}${GOOD_ROWS}9876543212,Meera\n`, url)).toEqual([
				'1 of 3 rows were added to the campaign, 2 were uploaded before',
				WAITS,
				'The other rows, each with its reason:',
				...before,
			]);
			expect(run.simulator.contactsOf(campaign)).toHaveLength(3);
		});

		const SAVE =
			'Save the list as CSV or Excel (.xlsx) with the names of the columns in the first row, and upload it again.';

		it.each([
			['a header only', 'leads.csv', HEADER, [NO_ROWS]],
			['an image as Excel', 'leads.xlsx', PNG, ["The file couldn't be read.", SAVE]],
			[
				'another name of the column',
				'leads.csv',
				`Telefon,person_name\n${GOOD_ROWS}`,
				[
					"The list couldn't be used:",
					'The input has no column "phone", so nothing was sent.',
					'The first row must name the columns. Name the column with the phone numbers "phone", and the one with the names "person_name", and upload the list again.',
				],
			],
		])(
			'says what to do with a file with %s, and pushes nothing',
			async (_case, file, content, text) => {
				expect(await upload(file, content)).toEqual(['Nothing was sent', ...text]);
				const methods = run.simulator.requests.map(({ method }) => method);
				expect(methods).not.toContain('POST');
			},
		);

		it("says which rows may be in the campaign if the service doesn't respond", async () => {
			const match = { method: 'POST' };
			run.simulator.faults.inject({ kind: 'resetAfter', match, times: 1 });
			const list = `${HEADER}${GOOD_ROWS}12345,Farah\n`;
			const [title, ...lines] = await upload('leads.csv', list, await publish('wait'));
			expect(title).toBe('0 of 3 rows were added to the campaign, 2 may have been added');
			expect(lines).toEqual([
				"Don't upload the list again. Show this page to the person who gave you the form. These rows aren't in the campaign, or may not be:",
				expect.stringMatching(/^9876543210, Asha: /),
				expect.stringMatching(/^9876543211, Ravi: /),
				expect.stringMatching(/^12345, Farah: "12345" has 5 digits/),
			]);
			expect(run.simulator.contactsOf(campaign)).toHaveLength(2);
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
