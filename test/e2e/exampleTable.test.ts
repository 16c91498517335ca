import { people, withTrialTimes } from '../../scripts/sampleCampaign';
import { DataTables } from '../n8n/dataTables';
import type { Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { fixtures, outcomeByNumber } from '../simulator';
import { allExecutions } from './calls';
import { ExampleRun, withSettings, type Imported } from './exampleRun';

const campaign = fixtures.campaigns.active;
const LIMIT_MS = 120_000;

/** Each person of the sample, with the status of the push and the outcomes of both calls. */
const OUTCOMES = [
	['Asha Rao', 'pushed', 'Answered', null],
	['Vikram Iyer', 'pushed', 'Answered', null],
	['Meera Nair', 'pushed', 'Answered', null],
	['Sunita Das', 'pushed', 'Not answered', 'Answered'],
	['Farah Ali', 'pushed', 'Answered', null],
	['Leela Nair', 'pushed', 'Not answered', 'Not answered'],
	['Imran Khan', 'pushed', 'Answered', null],
	['Anil Joshi', 'pushed', 'Failed', 'Answered'],
	['Gopal Menon', 'do_not_disturb', null, null],
	['Nisha Gill', 'rejected', null, null],
	['Dev Patel', 'pushed', 'Not answered', 'Answered'],
	['Rohan Das', 'pushed', 'Answered', null],
];

describe('12 whole campaign on a data table, with the credentials selected and the times of the trial', () => {
	let run: ExampleRun;
	let tables: DataTables;
	let workflow: Imported;

	beforeAll(async () => {
		run = await ExampleRun.open();
		const { simulator } = run;
		simulator.setAutoDial({ everyMs: 200, lastsMs: 2_000 });
		const outcome = outcomeByNumber.bind(null, simulator.state);
		simulator.setAutoComplete({ afterMs: 2_000, outcome });
		tables = await DataTables.open(run.n8n);
		workflow = await run.publish('12-campaign-on-data-table.json', withTrialTimes);
		// Publishing begins with a reading, which must not find the calls of this test.
		await until('the first reading to be stored', async () => {
			const stored = await run.n8n.request('GET', `/workflows/${workflow.id}`);
			return JSON.stringify(stored).includes('"polled"');
		});
	});
	afterAll(async () => {
		for (const name of ['Leads', 'Campaign Summary']) {
			const table = await tables.find(name);
			if (table !== undefined) await tables.remove(table);
		}
		await run.close();
	});

	const readings = () =>
		run.simulator.requests.filter(({ path }) => path === `/v1/campaigns/${campaign}/status`).length;

	async function table(name: string): Promise<Reference> {
		const found = await tables.find(name);
		if (found === undefined) throw new Error(`There is no table ${name}`);
		return found;
	}

	/** How often the people of the sample were called, by number: by the campaign or by Place Call. */
	function calls(): Map<string, number> {
		const counts = new Map<string, number>();
		for (const { phone, campaignId, request, uploadId } of run.simulator.state.calls.values()) {
			const isSeeded =
				request === null && Object.values<unknown>(fixtures.uploads).includes(uploadId);
			if (isSeeded || (request === null && campaignId === null)) continue;
			counts.set(phone, (counts.get(phone) ?? 0) + 1);
		}
		return counts;
	}

	it('creates the tables, and calls nobody while there are no people', async () => {
		await run.run(workflow, 'Start Here');
		expect(await tables.rows(await table('Leads'))).toEqual([]);
		expect(run.simulator.contactsOf(campaign)).toEqual([]);
	});

	it('calls everyone, calls unreached people again, and sums up, in less than two minutes', async () => {
		const leads = await table('Leads');
		await tables.insert(leads, people);
		const started = Date.now();
		await run.run(workflow, 'Start Here');
		const pushed = await tables.rows(leads);
		expect(pushed.map((row) => [row.person_name, row.push_status])).toEqual(
			OUTCOMES.map(([name, status]) => [name, status]),
		);
		expect(pushed[9]).toMatchObject({ rejection_reason: expect.stringContaining('022 1234') });
		expect(run.simulator.contactsOf(campaign)[0]).toMatchObject({
			phone: '+919876543210',
			personName: 'Asha Rao',
			extra: { city: 'Pune' },
		});

		const summary = await until(
			'the summary',
			async () => {
				const rows = await tables.rows(await table('Campaign Summary'));
				return rows.length > 0 && rows;
			},
			{ timeout: 2 * LIMIT_MS, every: 500 },
		);
		expect(Date.now() - started).toBeLessThan(LIMIT_MS);
		expect(summary).toEqual([
			expect.objectContaining({
				campaign_id: String(campaign),
				summary:
					'12 people: 9 reached, 3 of them by the second call. 1 not reached, 1 on the do-not-disturb list, 1 not pushed, 0 without a known outcome.',
				people: 12,
				reached: 9,
				reached_by_second_call: 3,
				not_reached: 1,
				do_not_disturb: 1,
				not_pushed: 1,
			}),
		]);
		const rows = await tables.rows(leads);
		expect(
			rows.map((row) => [row.person_name, row.push_status, row.first_call, row.second_call]),
		).toEqual(OUTCOMES);
		expect(rows[0]).toMatchObject({
			interested: 'yes',
			visit_day: 'Monday',
			call_summary: 'Asha Rao is interested and wants to visit on Monday.',
		});
	});

	it('calls nobody else when it reads the calls again and is executed again', async () => {
		const second = OUTCOMES.filter(([, , , outcome]) => outcome !== null).map(([name]) => name);
		const rows = await tables.rows(await table('Leads'));
		const expected = new Map(
			rows
				.filter(({ push_status: status }) => status === 'pushed')
				.map((row) => [
					`+${String(row.phone_key)}`,
					second.includes(String(row.person_name)) ? 2 : 1,
				]),
		);
		expect(calls()).toEqual(expected);
		const before = readings();
		// Publishing begins with a reading.
		await run.n8n.deactivate(workflow);
		await run.n8n.activate(workflow);
		await until('another reading', async () => Promise.resolve(readings() > before));
		// The editor suggests this trigger. Its test returns a completed call, and starts the campaign as well.
		await run.run(workflow, 'Call Completed');
		await run.run(workflow, 'Start Here');
		await until('all executions to end', async () => {
			const all = await allExecutions(run.n8n, workflow);
			return all.every(({ status }) => status === 'success');
		});
		expect(calls()).toEqual(expected);
		expect(await tables.rows(await table('Leads'))).toEqual(rows);
	});
});

/** With 7 as the last digit, the person answers from the second call on. */
const SUNITA = '9812034567';

/** Of a campaign that has ended. */
const EARLIER = {
	person_name: 'Sunita Das',
	phone: SUNITA,
	campaign_id: '99',
	push_status: 'pushed',
	phone_key: `91${SUNITA}`,
	first_call: 'Answered',
	call_summary: 'She wants to visit.',
};

describe('12 whole campaign on a data table, repeated and interrupted', () => {
	let run: ExampleRun;
	let tables: DataTables;
	let workflow: Imported;
	let leads: Reference;

	beforeAll(async () => {
		run = await ExampleRun.open();
		tables = await DataTables.open(run.n8n);
		workflow = await run.publish('12-campaign-on-data-table.json', withTrialTimes);
		const path = `/v1/campaigns/${campaign}/status`;
		const isRead = () => run.simulator.requests.some((request) => request.path === path);
		await until('the first reading', async () => Promise.resolve(isRead()));
		await run.run(workflow, 'Start Here');
		leads = await table('Leads');
		await tables.insert(leads, [
			EARLIER,
			{ person_name: 'Sunita Das', phone: '98120-34567' },
			{ person_name: 'Sunita again', phone: '+91 98120 34567' },
			{ person_name: 'Asha Rao', phone: '98765 43210' },
		]);
	});
	afterAll(async () => {
		for (const name of ['Leads', 'Campaign Summary']) {
			const found = await tables.find(name);
			if (found !== undefined) await tables.remove(found);
		}
		await run.close();
	});

	async function table(name: string): Promise<Reference> {
		const found = await tables.find(name);
		if (found === undefined) throw new Error(`There is no table ${name}`);
		return found;
	}

	const columns = async (...names: string[]) =>
		(await tables.rows(leads)).map((row) => names.map((name) => row[name]));

	it('keeps "pushed" if two executions push the same rows at the same time', async () => {
		// Both read the rows before either has pushed them.
		run.simulator.configure({ latencyMs: 2_000 });
		await Promise.all([run.run(workflow, 'Start Here'), run.run(workflow, 'Start Here')]);
		run.simulator.configure({ latencyMs: 0 });
		expect(run.simulator.contactsOf(campaign)).toHaveLength(2);
		expect(await columns('person_name', 'push_status')).toEqual([
			['Sunita Das', 'pushed'],
			// The row with the longer name is pushed.
			['Sunita Das', 'duplicate'],
			['Sunita again', 'pushed'],
			['Asha Rao', 'pushed'],
		]);
	});

	it('pushes nobody twice if an execution ended before it wrote the status, and finds the calls', async () => {
		const asha = (await tables.rows(leads)).at(-1);
		await tables.update(leads, Number(asha?.id), { push_status: '', phone_key: '' });
		await run.run(workflow, 'Start Here');
		expect(run.simulator.contactsOf(campaign)).toHaveLength(2);
		expect((await columns('push_status')).at(-1)).toEqual(['pushed_before']);

		run.simulator.setAutoDial({ everyMs: 200, lastsMs: 500 });
		run.simulator.setAutoComplete({ afterMs: 500 });
		await until(
			'the outcomes',
			async () => {
				const outcomes = await columns('first_call', 'second_call');
				return outcomes[2]?.[1] === 'Answered' && outcomes[3]?.[0] === 'Answered';
			},
			{ timeout: 150_000, every: 500 },
		);
		expect((await tables.rows(leads))[0]).toMatchObject(EARLIER);
		const summary = await until('the summary', async () => {
			const rows = await tables.rows(await table('Campaign Summary'));
			return rows.some(({ reached }) => reached === 2) && rows;
		});
		expect(summary).toEqual([
			expect.objectContaining({
				campaign_id: String(campaign),
				summary:
					'3 people: 2 reached, 1 of them by the second call. 0 not reached, 0 on the do-not-disturb list, 1 not pushed, 0 without a known outcome.',
			}),
		]);
	});
});

describe("12 whole campaign on a data table, with an ID that the service doesn't know", () => {
	let run: ExampleRun;
	let tables: DataTables;
	beforeAll(async () => {
		run = await ExampleRun.open();
		tables = await DataTables.open(run.n8n);
	});
	afterEach(async () => {
		for (const name of ['Leads', 'Campaign Summary']) {
			const found = await tables.find(name);
			if (found !== undefined) await tables.remove(found);
		}
	});
	afterAll(async () => await run.close());

	it.each([
		['campaign_id', '999999', "The service doesn't know this campaign. Check the ID in 'Campaign'"],
		['agent_id', 'agent_x', 'The service found no such agent in the account of this API token'],
	])('%s: each row says that it was not pushed, and why', async (setting, value, reason) => {
		const change = withSettings({ [setting]: value });
		const workflow = await run.import('12-campaign-on-data-table.json', (node) =>
			change(withTrialTimes(node)),
		);
		await run.run(workflow, 'Start Here');
		const leads = await tables.find('Leads');
		if (leads === undefined) throw new Error('There is no table Leads');
		await tables.insert(leads, people.slice(0, 2));
		await run.run(workflow, 'Start Here');
		const notSent = { push_status: 'not_sent', rejection_reason: expect.stringContaining(reason) };
		expect(await tables.rows(leads)).toEqual([
			expect.objectContaining(notSent),
			expect.objectContaining(notSent),
		]);
		expect(run.simulator.contactsOf(campaign)).toEqual([]);
	});
});
