import { people, withTrialTimes } from '../../scripts/sampleCampaign';
import { DataTables } from '../n8n/dataTables';
import { until } from '../n8n/until';
import { fixtures, outcomeByNumber } from '../simulator';
import { allExecutions, firstReading, placeCalls } from './calls';
import { ExampleRun, useExamples, type Imported } from './exampleRun';

const FILE = '12-campaign-on-data-table.json';
const campaign = fixtures.campaigns.active;

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
	const run = new ExampleRun();
	let tables: DataTables;
	let workflow: Imported;

	beforeAll(async () => {
		await run.open();
		tables = await DataTables.open(run.n8n);
	});
	beforeEach(() => {
		const { simulator } = run;
		simulator.setAutoDial({ everyMs: 200, lastsMs: 1_000 });
		const outcome = outcomeByNumber.bind(null, simulator.state);
		simulator.setAutoComplete({ afterMs: 1_000, outcome });
	});
	afterAll(async () => {
		await removeTables();
		await run.close();
	});

	async function publish(): Promise<void> {
		workflow = await run.publish(FILE, withTrialTimes);
		// Publishing begins with a reading, which must not find the calls of this test.
		await firstReading(run.n8n, workflow);
	}

	async function removeTables(): Promise<void> {
		for (const name of ['Leads', 'Campaign Summary']) {
			const found = await tables.find(name);
			if (found !== undefined) await tables.remove(found);
		}
	}

	const columns = async (...names: string[]) =>
		(await tables.rows(await tables.get('Leads'))).map((row) => names.map((name) => row[name]));

	/** Publishes it again, because that begins with a reading, and others are a minute apart. */
	async function readCalls(): Promise<void> {
		const readings = () =>
			run.simulator.requests.filter(({ path }) => path === `/v1/campaigns/${campaign}/status`);
		const before = readings().length;
		await run.n8n.deactivate(workflow);
		await run.n8n.activate(workflow);
		await until('another reading', () => readings().length > before);
	}

	/** The calls by the campaign or by Place Call, without those with which the simulator starts. */
	const calls = () =>
		[...run.simulator.state.calls.values()].filter(({ campaignId, request, uploadId }) => {
			const isSeeded = Object.values<unknown>(fixtures.uploads).includes(uploadId);
			return request !== null || (campaignId !== null && !isSeeded);
		});
	const untilCalled = async (count: number) =>
		await until(`${count} calls to end`, async () => {
			const ended = calls().filter(({ finished }) => finished);
			return Promise.resolve(ended.length === count);
		});
	const summaryOf = async (reached: number) =>
		await until('the summary', async () => {
			const rows = await tables.rows(await tables.get('Campaign Summary'));
			return rows.some((row) => row.reached === reached) && rows;
		});

	it('creates the tables, and calls nobody while there are no people', async () => {
		await publish();
		await run.runByForm(workflow);
		expect(await columns('phone')).toEqual([]);
		expect(run.simulator.contactsOf(campaign)).toEqual([]);
	});

	it('calls everyone, also who was only checked before, calls unreached people again, and sums up', async () => {
		const leads = await tables.get('Leads');
		const [asha, ...others] = people;
		await tables.insert(leads, [{ ...asha, push_status: 'ready' }, ...others]);
		await run.runByForm(workflow);
		expect(await columns('person_name', 'push_status')).toEqual(
			OUTCOMES.map(([name, status]) => [name, status]),
		);
		expect((await tables.rows(leads))[9]).toMatchObject({
			rejection_reason: expect.stringContaining('022 1234'),
		});
		expect(run.simulator.contactsOf(campaign)[0]).toMatchObject({
			phone: '+919876543210',
			personName: 'Asha Rao',
			extra: { city: 'Pune' },
		});

		await untilCalled(10);
		await readCalls();
		expect(await summaryOf(9)).toEqual([
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
		expect(await columns('person_name', 'push_status', 'first_call', 'second_call')).toEqual(
			OUTCOMES,
		);
		expect((await tables.rows(leads))[0]).toMatchObject({
			interested: 'yes',
			visit_day: 'Monday',
			call_summary: 'Asha Rao is interested and wants to visit on Monday.',
		});
	});

	it('calls nobody else when it reads the calls again and is executed again', async () => {
		const rows = await tables.rows(await tables.get('Leads'));
		const expected = rows.flatMap(({ push_status: status, phone_key: key, second_call: second }) =>
			status === 'pushed' ? Array<string>(second === null ? 1 : 2).fill(`+${String(key)}`) : [],
		);
		const called = () =>
			calls()
				.map(({ phone }) => phone)
				.sort();
		expect(called()).toEqual(expected.sort());
		await readCalls();
		// The editor suggests this trigger. Its test returns a completed call, and starts the campaign as well.
		await run.run(workflow, 'Call Completed');
		await run.runByForm(workflow);
		await until('all executions to end', async () => {
			const all = await allExecutions(run.n8n, workflow);
			return all.every(({ status }) => status === 'success');
		});
		expect(called()).toEqual(expected);
		expect(await tables.rows(await tables.get('Leads'))).toEqual(rows);
	});
});

describe('16 call outcomes in a data table', () => {
	const run = useExamples();
	const TABLE = 'Call Outcomes';
	let tables: DataTables;
	beforeAll(async () => void (tables = await DataTables.open(run.n8n)));
	afterEach(async () => await tables.remove(await tables.get(TABLE)));
	const rows = async () => await tables.rows(await tables.get(TABLE));

	/** Publishes it again, because that begins with a reading, and others are a minute apart. */
	async function readCalls(workflow: Imported, count: number): Promise<void> {
		await run.n8n.deactivate(workflow);
		await run.n8n.activate(workflow);
		await run.ended(workflow, count);
	}

	it('writes a row per call, with the mapped columns of the trigger, and a later outcome of a call into its row', async () => {
		const workflow = await run.publish('16-call-outcomes-to-table.json');
		await firstReading(run.n8n, workflow);
		const { simulator } = run;
		const [visit = '', missed = ''] = await placeCalls(simulator, 2, 'https://example.com');
		await simulator.endCall(visit, { data_captured: { visit_day: 'Saturday', budget: 7 } });
		await simulator.endCall(missed, { status: 'not_picked', retry_count: 0, summary: 'Nobody' });
		await readCalls(workflow, 1);
		const called = {
			call_id: visit,
			phone_number: '+919000000000',
			outcome: 'Answered',
			captured_visit_day: 'Saturday',
		};
		expect(await rows()).toEqual([
			expect.objectContaining(called),
			expect.objectContaining({ call_id: missed, outcome: 'Not answered', summary: 'Nobody' }),
		]);
		await simulator.endCall(missed, { status: 'failed', retry_count: 1, summary: null });
		await readCalls(workflow, 2);
		expect(await rows()).toEqual([
			expect.objectContaining(called),
			expect.objectContaining({ call_id: missed, outcome: 'Failed', summary: null }),
		]);
		await run.n8n.deactivate(workflow);
	});
});
