import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completed, examplesFolder, readExample } from '../n8n/examples';
import type { Workflow } from '../n8n/driver';
import { TestAccount } from './account';
import { sharedN8n } from './shared';

const example = readExample('campaign-feed-from-spreadsheet.json');
const pushNode = 'Push Campaign Contacts';
const messyRows = [
	{ phone: '+919876543210', personName: 'Asha Rao', city: 'Pune' },
	{ phone: '+919876543211', personName: 'Ravi Kumar', city: 'Nagpur' },
	{ phone: '+919876543212', personName: 'Meera Iyer', city: 'Chennai' },
	{ phone: '+919876543213', personName: 'Imran Khan', city: 'Delhi' },
	{ phone: '+919876543214', personName: 'Sunita Das', city: 'Kolkata' },
	{ phone: '+919876543216', personName: 'Dev Patel', city: 'Surat' },
	{ phone: '+919876543217', personName: 'Leela Nair', city: 'Kochi' },
	{ phone: '+919876543218', personName: 'Joshi, Anil', city: 'Pune' },
];

describe('the example "Campaign feed from a spreadsheet"', () => {
	const { files } = sharedN8n();
	let test: TestAccount;
	let workflow: Workflow;

	beforeAll(async () => {
		test = await TestAccount.open('feed-token-00001');
		workflow = await test.n8n.createWorkflow(completed(example, test.account));
	});

	beforeEach(() => {
		test.simulator.reset();
	});

	afterAll(async () => {
		await test.n8n.deleteWorkflow(workflow);
		await test.close();
	});

	async function feed(source: string, name: string): Promise<string> {
		const target = join(files, name);
		await copyFile(source, target);
		try {
			const { id, status } = await test.n8n.runManually(workflow, 'Start');
			expect(status).toBe('success');
			return id;
		} finally {
			await rm(target);
		}
	}

	it.each([
		['leads.csv', examplesFolder, 'city'],
		['leads.xlsx', join(__dirname, 'files'), 'City'],
	])('feeds the messy rows of %s', async (name, folder, cityColumn) => {
		const execution = await feed(join(folder, name), name);

		const held = test.simulator.contactsOf(test.account.campaignId);
		const known = held.filter(({ personName }) => personName !== null && personName !== '');
		expect(
			known.map(({ phone, personName, extra }) => ({ phone, personName, city: extra[cityColumn] })),
		).toEqual(messyRows);
		const nameless = held.filter((contact) => !known.includes(contact));
		expect(nameless.map(({ phone }) => phone)).toEqual(['+919876543215']);
		expect(held.every(({ enqueued }) => !enqueued)).toBe(true);

		const rejected = await test.n8n.output(execution, pushNode, 1);
		expect(rejected.map(({ json }) => [json.rejection_status, json[cityColumn]])).toEqual([
			['rejected', 'Mumbai'],
			['rejected', 'Mysuru'],
			['rejected', 'Jaipur'],
		]);
		const saved = await readFile(join(files, 'leads-rejected.csv'), 'utf8');
		for (const { json } of rejected) {
			expect(json.rejection_reason).toEqual(expect.stringMatching(/\S/));
		}
		const [header, ...lines] = saved.trim().split('\n');
		expect(header).toContain('rejection_reason');
		expect(lines.map((line) => /Mumbai|Mysuru|Jaipur/.exec(line)?.[0])).toEqual([
			'Mumbai',
			'Mysuru',
			'Jaipur',
		]);
		const [pushed, ...more] = await test.n8n.output(execution, pushNode);
		expect(more).toEqual([]);
		expect(pushed?.json).toMatchObject({ contacts_received: 9, contacts_accepted: 9 });
	});

	it('holds each good number of 25,000 rows once with its longest name, and each bad row once in Rejected', async () => {
		const sheet = bigFeed();
		const source = join(files, 'big-source.csv');
		await writeFile(source, sheet.csv);
		const execution = await feed(source, 'leads.csv');
		await rm(source);

		const held = test.simulator
			.contactsOf(test.account.campaignId)
			.map(({ phone, personName }) => `${phone} ${personName}`);
		expect(held).toHaveLength(sheet.good.size);
		expect(new Set(held)).toEqual(
			new Set([...sheet.good].map(([phone, name]) => `+91${phone} ${name}`)),
		);

		const rejected = await test.n8n.output(execution, pushNode, 1);
		expect(rejected.map(({ json }) => json.row)).toEqual(sheet.bad);
		for (const { json } of rejected) {
			expect(json.rejection_reason).toEqual(expect.stringMatching(/\S/));
		}
		const refused = rejected.find(({ json }) => json.row === sheet.refused);
		expect(refused?.json.rejection_reason).toContain('is not a mobile number');
		const posts = test.simulator.requests.filter(({ method }) => method === 'POST');
		expect(posts.filter(({ outcome }) => outcome.status === 200)).toHaveLength(3);
		// The whole request, and the refused row alone: what its index is counted from.
		expect(posts).toHaveLength(5);
	});

	it('leaves the token in no file of n8n', async () => {
		expect(await test.filesHoldingToken()).toEqual([]);
	});
});

/** 25,000 rows: 1% unusable, 3% duplicates with other names, and one that only the service refuses. */
function bigFeed() {
	const good = new Map<string, string>();
	const bad: string[] = [];
	const refused = 12_345;
	const lines = ['phone,person_name,row'];
	for (let row = 0; row < 25_000; row++) {
		let phone = String(6_000_000_000 + row * 7);
		let name = `Person ${row}`;
		if (row === refused) {
			phone = '+911234567890';
			bad.push(String(row));
		} else if (row % 100 === 50) {
			phone = row % 200 === 50 ? '' : '12345';
			bad.push(String(row));
		} else if (row % 100 >= 97) {
			// The number of a row before, in another spelling, half of them with a longer name.
			const original = String(6_000_000_000 + (row - 60) * 7);
			name = row % 2 === 0 ? 'P' : `${good.get(original)} the Second`;
			if (row % 2 === 1) good.set(original, name);
			phone = `0${original.slice(0, 5)} ${original.slice(5)}`;
		} else {
			good.set(phone, name);
		}
		lines.push(`${phone},${name},${row}`);
	}
	return { csv: lines.join('\n'), good, bad, refused: String(refused) };
}
