import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sortBy from 'lodash/sortBy';
import type { INode, INodeParameters } from 'n8n-workflow';
import { isJsonObject, type JsonObject } from '../../nodes/core/values/json';
import { until } from '../n8n/until';
import { condition, byId, chain, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { runFlow, runOnRows } from './rowRun';
import { n8nFolder } from './n8nFolder';
import { sharedN8n } from './shared';

/** Rows as people's sheets and exports have them. */
const account = useAccount();
const { n8n, simulator, ours, placeCall, publish, executionOf } = account;

const campaign = fixtures.campaigns.active;

afterEach(() => simulator.reset());

const run = async (last: INode, rows: JsonObject[], ...read: INode[]) => {
	const { outputs, ...ended } = await runOnRows(account, last, rows, ...read);
	return { ...ended, rejected: outputs[1] ?? [] };
};

const pushNode = (parameters: INodeParameters = {}) =>
	ours('Push', 'pushCampaignContacts', {
		campaignId: byId(campaign),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		...parameters,
	});

const push = async (rows: JsonObject[], parameters: INodeParameters = {}) =>
	await run(pushNode(parameters), rows);

const contacts = () =>
	simulator.contactsOf(campaign).map(({ phone, personName, extra }) => [phone, personName, extra]);

describe('columns', () => {
	const phone = '9876543210';

	it.each<[JsonObject, INodeParameters, string]>([
		[{ phone, पता: '12 MG Road' }, { personNameColumn: 'पिता' }, 'पिता'],
		[{ 'पति का फोन': phone }, { phoneColumn: 'पिता का फोन' }, 'पिता का फोन'],
		[{ phone, Q11: 'no' }, { otherColumns: 'listed', columnsToSend: 'Q1.1' }, 'Q1.1'],
		[
			{ phone, 'Price ($)': 5 },
			{ otherColumns: 'listed', columnsToSend: 'Price (₹)' },
			'Price (₹)',
		],
	])('%j is not read with %j', async (row, parameters, name) => {
		const { status, error } = await push([row], parameters);
		expect(status).toBe('error');
		expect(error?.message).toContain(`The input has no column "${name}", so nothing was sent`);
		expect(contacts()).toEqual([]);
	});

	it('are found by usual headings', async () => {
		const headings = [
			...['Contact No', 'WhatsApp No', 'Mob', 'Cell', 'Mobile Phone Number', 'Phone1'],
			...['Phone (Primary)', 'Student Mobile Number', 'Mob. No.', 'Phone *'],
		];
		for (const [index, heading] of headings.entries()) {
			const { error } = await push([{ Name: heading, [heading]: `987654320${index}` }]);
			expect(error).toBeUndefined();
		}
		expect(contacts()).toEqual(headings.map((name, i) => [`+91987654320${i}`, name, {}]));
	});

	it('are found in another spelling, and a hint names them', async () => {
		const { hints } = await push([{ 'MOBILE_NO.': phone, 'Full Name': 'Asha', पिता: 'Ravi' }]);
		expect(contacts()).toEqual([['+919876543210', 'Asha', { पिता: 'Ravi' }]]);
		expect(hints).toContain('Columns used: "MOBILE_NO." as phone, "Full Name" as person_name.');
	});
});

test('phone numbers and names are read as sheets write them, or the reason is said', async () => {
	const { rejected, hints } = await push([
		{ phone: '९८७६५४३२१०', person_name: '#NAME?' },
		{ phone: '9876543210', person_name: 'Asha', city: '#REF!' },
		{ phone: '9,876,543,211.00', person_name: 'NULL' },
		{ phone: '٩٨٧٦٥٤٣٢١٢', person_name: 'N/A' },
		{ phone: '9876543213', person_name: '-' },
		{ phone: -9876543119, person_name: 'Ravi' },
		{ phone: '#N/A', person_name: 'Zoya' },
	]);
	expect(contacts()).toEqual([
		['+919876543210', 'Asha', { city: '' }],
		['+919876543211', null, {}],
		['+919876543212', null, {}],
		['+919876543213', null, {}],
	]);
	expect(rejected.map(({ rejection_reason: reason }) => reason)).toEqual([
		expect.stringMatching(/^Asha \(row 2\) has the same number and was kept/),
		expect.stringMatching(/^"-9876543119" may have been calculated by the spreadsheet/),
		expect.stringMatching(/^"#N\/A" is what a spreadsheet shows if a formula fails/),
	]);
	expect(hints).toContainEqual(
		expect.stringMatching(
			/^5 cells have a word that stands for no value, such as "#NAME\?", "#REF!", "NULL"\./,
		),
	);
});

test('a file with spaces, backslashes, and names with commas is read', async () => {
	const file = join(n8nFolder().files, `${randomUUID()}.csv`);
	const lines = [
		'Name (Last, First);phone;note',
		'Rao, Asha; "98765 43210";"says \\"hi\\""',
		'Rao, Bela;9876543211; "a; b"',
	];
	await writeFile(file, lines.join('\r\n') + '\r\n');
	const read = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: file });
	const parameters = { contactsFrom: 'csv', personNameColumn: "['Name (Last, First)']" };
	const { error } = await run(pushNode(parameters), [], read);
	expect(error).toBeUndefined();
	expect(contacts()).toEqual([
		['+919876543210', 'Rao, Asha', { note: 'says "hi"' }],
		['+919876543211', 'Rao, Bela', { note: 'a; b' }],
	]);
});

describe('several files', () => {
	const leads = 'Phone,Name\n9876543210,Asha\n9876543211,Ravi\n';
	const others = 'Mobile No;City\n9876543212;Pune\n+91 98765 43210;Goa\n';
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
		const workflow = await publish(chain('form', form, pushNode({ contactsFrom: 'csv' })));
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
		expect((await n8n.output(id, 'Push', 1)).map(({ json }) => json)).toMatchObject([
			{ source_file: 'others.csv', source_row: 3, rejection_status: 'duplicate' },
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
			const { error } = await run(pushNode({ contactsFrom: 'csv' }), [], read);
			expect(error?.message).toContain('The file "logo.png" can\'t be read as CSV');
			expect(contacts()).toEqual([]);
		});

		it("are pushed from an item's fields, where Execution Logic v2 of the workflow has them", async () => {
			const parameters = { fileSelector: `${folder}/*.csv` };
			const lists = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, parameters);
			const { outputs } = await runFlow(account, 'Push', [], (trigger) => ({
				...chain(
					'files',
					trigger,
					lists,
					pushNode({ contactsFrom: 'csv', options: { output: 'rows' } }),
				),
				settings: { binaryMode: 'combined' },
			}));
			expect(contacts()).toEqual(all);
			expect(outputs[0]).toMatchObject([{}, {}, { source_file: 'b.csv', source_row: 2 }]);
		});

		it('are pushed after Split Out and Filter have left out the others, as the docs advise', async () => {
			const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: '$binary' });
			const filter = node(
				'Filter',
				'n8n-nodes-base.filter',
				2.2,
				condition('={{ $binary.values().first().fileExtension }}', 'equals', 'csv'),
			);
			const { error, rejected } = await run(
				pushNode({ contactsFrom: 'csv', options: { output: 'rows' } }),
				[],
				...[read, split, filter],
			);
			expect(error).toBeUndefined();
			expect(contacts()).toEqual(all);
			expect(rejected).toMatchObject([{ source_file: 'b.csv', source_row: 3 }]);
		});
	});
});

describe('calls', () => {
	const sent = () => {
		const bodies = simulator.requests.map(({ body }) => body);
		return bodies.flatMap((body) => (isJsonObject(body) ? [body] : []));
	};

	it('take countries, names, and times of each row', async () => {
		const rows = [
			['India', 'Asha', '18:30:00'],
			['IN', '#NAME?', '6:30:00 PM'],
			['Bharat', 'NULL', 0.7708333333],
			['india', '-', '६.३० pm'],
			['IND', 'Asha undefined', '6.30'],
		].map(([country = '', name = '', time = ''], index) => ({
			phone: `987654321${index}`,
			country,
			name,
			time,
		}));
		const { error } = await run(
			placeCall({
				countryCode: '={{ $json.country }}',
				personName: '={{ $json.name }}',
				when: 'timeOfDay',
				scheduledTime: '={{ $json.time }}',
			}),
			rows,
		);
		expect(error).toBeUndefined();
		const names = ['Asha', undefined, undefined, undefined, 'Asha'];
		const times = ['18:30', '18:30', '18:30', '18:30', '06:30'];
		expect(sent().map((body) => [body.country_code, body.person_name, body.scheduled_at])).toEqual(
			names.map((name, index) => ['IN', name, times[index]]),
		);
	});

	it.each<[string, INodeParameters, string]>([
		['UK', { countryCode: 'UK' }, "but 'Country' is United Kingdom (+44)"],
		['a country of several', { countryCode: 'Korea' }, `'Country' must be a country (got "Korea")`],
		[
			'a word in a greeting',
			{ initialGreeting: '=Hello {{ $json.name }}' },
			`'Initial Greeting' has the word "#REF!" instead of a value`,
		],
		[
			'a time that may be another one',
			{ when: 'timeOfDay', scheduledTime: '0.30' },
			`'Time in India' must be a time of day (got "0.30")`,
		],
		[
			'a date of another zone',
			{ when: 'timeOfDay', scheduledTime: "={{ DateTime.fromFormat('18:30', 'HH:mm') }}" },
			"'Time in India' must be a time in India (got ",
		],
	])('are not placed with %s, and the message says why', async (_what, parameters, message) => {
		const { error } = await run(placeCall(parameters), [{ phone: '+919876543210', name: '#REF!' }]);
		expect(error?.message).toContain(message);
		expect(sent()).toEqual([]);
	});

	it('take dates of expressions, as the messages advise', async () => {
		const scheduled = async (parameters: INodeParameters) => {
			simulator.reset();
			const { error } = await run(placeCall(parameters), [{ phone: '9876543210', time: '18:30' }]);
			expect(error).toBeUndefined();
			return sent().map(({ scheduled_at: at }) => at);
		};
		const parsed = "DateTime.fromFormat($json.time, 'HH:mm')";
		expect(
			await scheduled({ when: 'timeOfDay', scheduledTime: `={{ ${parsed}.toFormat("HH:mm") }}` }),
		).toEqual(['18:30']);
		const tomorrow = "$now.setZone('Asia/Kolkata').plus({ days: 1 })";
		const dated = [expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+05:30$/)];
		expect(await scheduled({ when: 'timeOfDay', scheduledTime: `={{ ${tomorrow} }}` })).toEqual(
			dated,
		);
		expect(await scheduled({ when: 'dateTime', scheduledAt: `={{ ${tomorrow} }}` })).toEqual(dated);
		const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
		const hours = {
			...{ callingHours: 'within', callingDays: days, callingUntil: '24:00' },
			timeZone: byId('Asia/Kolkata'),
			callingFrom: `={{ DateTime.fromFormat('0:00', 'H:mm').toFormat("HH:mm") }}`,
		};
		expect(await scheduled(hours)).toEqual([undefined]);
	});
});
