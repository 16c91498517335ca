import { DateTime } from 'luxon';
import { z } from 'zod';
import { withTrialTimes } from '../../scripts/sampleCampaign';
import { DataTables } from '../n8n/dataTables';
import { fixtures, outcomeByNumber, type Call } from '../simulator';
import { useExamples } from './exampleRun';
import { publishForm, submitPage, submitToEnd } from './forms';

/** Examples in which a person is called because of a form or a row of a data table. */
const run = useExamples();
let tables: DataTables;

beforeAll(async () => {
	tables = await DataTables.open(run.n8n);
});
beforeEach(() => {
	const outcome = outcomeByNumber.bind(null, run.simulator.state);
	run.simulator.setAutoComplete({ afterMs: 500, outcome });
});

async function removeTables(...names: string[]): Promise<void> {
	for (const name of names) await tables.remove(await tables.get(name));
}

/** The requests for calls that the service accepted, or that may have been accepted. */
const placed = () =>
	run.simulator.requests.filter(
		({ path, outcome }) => path === '/v1/call' && outcome.status !== 400,
	);

describe('13 test call', () => {
	/** Each time at another URL, because the others stay published. */
	const publish = async (id: string) =>
		await publishForm(run, '13-test-call.json', (node) =>
			node.name === 'Call Me' ? { ...node, webhookId: `test-call-${id}` } : node,
		);

	it.each([
		['9876543210', 'Answered', /is interested.*interested: yes.*Call ID: /s],
		[
			'12345',
			"The call wasn't placed",
			/^'Phone Number' "12345" has 5 digits instead of 10.*Enter the ten digits/s,
		],
	])('calls %s from the form, and shows the outcome: %s', async (phone, title, message) => {
		const form = await publish(phone);
		const agents = await submitPage(form, [phone, 'Asha']);
		expect(agents.html).toContain(`It calls ${phone}`);
		const [shown, ...lines] = await submitToEnd(agents.url, [
			`Sales India, ${fixtures.agents.full}`,
		]);
		expect(shown).toBe(title);
		expect(lines.join('\n')).toMatch(message);
		expect(placed()).toHaveLength(title === 'Answered' ? 1 : 0);
	});
});

describe('14 calls with consent and an audit trail', () => {
	afterAll(async () => await removeTables('People to Call', 'Call Audit'));

	it('calls who agreed once in two executions, and writes down each decision', async () => {
		const workflow = await run.import('14-consent-and-audit-trail.json', withTrialTimes);
		await run.run(workflow, 'Start Here');
		const peopleTable = await tables.get('People to Call');
		const agreed_on = DateTime.now().minus({ days: 2 }).toISODate();
		await tables.insert(peopleTable, [
			{ person_name: 'Nisha Gill', phone: '9876543213', agreed_on },
			{ person_name: 'Asha Rao', phone: '98765 43210', agreed_on },
			{ person_name: 'Ravi Kumar', phone: '9876543211', agreed_on: '2020-01-31' },
			{ person_name: 'Sunil Das', phone: '9876543214', agreed_on: '2999-12-31' },
			{ person_name: 'Meera Iyer', phone: '9876543212' },
			{ person_name: 'Gopal Menon', phone: fixtures.dndPhone, agreed_on },
			{ person_name: 'Asha R.', phone: '09876543210', agreed_on },
			{ person_name: 'Farah Ali', phone: 'later', agreed_on },
		]);
		// The service doesn't respond to the first call.
		run.simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, times: 1 });
		await run.run(workflow, 'Start Here');
		const decisions = [
			['Nisha Gill', 'unknown'],
			['Asha Rao', 'called'],
			['Ravi Kumar', 'no consent'],
			['Sunil Das', 'no consent'],
			['Meera Iyer', 'no consent'],
			['Gopal Menon', 'on the list'],
			['Asha R.', 'same number'],
			['Farah Ali', 'not called'],
		];
		const people = async () =>
			(await tables.rows(peopleTable)).map((row) => [row.person_name, row.decision]);
		expect(await people()).toEqual(decisions);
		const audit = await tables.rows(await tables.get('Call Audit'));
		const sorted = decisions.map(([name]) => audit.find((row) => row.person_name === name));
		expect(sorted.map((row) => [row?.person_name, row?.decision])).toEqual(decisions);
		expect(sorted[1]).toMatchObject({
			decided_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
			phone: '98765 43210',
			agreed_on,
			call_id: expect.stringMatching(/-/),
			agent_id: fixtures.agents.full,
			execution_id: expect.stringMatching(/^\d+$/),
		});
		expect(sorted.slice(2).map((row) => row?.reason)).toEqual([
			'Agreed on 2020-01-31',
			'Agreed on 2999-12-31',
			'No date in agreed_on',
			expect.any(String),
			'Another row has this number',
			expect.stringContaining('"later"'),
		]);
		expect(placed()).toHaveLength(2);

		await run.run(workflow, 'Start Here');
		expect(placed()).toHaveLength(2);
		expect(await people()).toEqual(decisions);
		// Who was called, or may have been, gets no further decision, nor does the other row of the same person.
		expect(await tables.rows(await tables.get('Call Audit'))).toHaveLength(8 + 5);

		// To call Asha again in the same month, the note says to raise the limit, too.
		const [, asha] = await tables.rows(peopleTable);
		await tables.update(peopleTable, Number(asha?.id), { decision: '' });
		await run.run(workflow, 'Start Here');
		expect(await people()).toContainEqual(['Asha Rao', 'over the limit']);
		expect(placed()).toHaveLength(2);
	});
});

describe('15 compare two greetings', () => {
	afterAll(async () => await removeTables('Greeting Test', 'Greeting Results'));

	it('calls each person once, with one greeting, and compares answers and goals', async () => {
		const { state } = run.simulator;
		// As without data points, which get a value of their own.
		const outcome = (call: Call) => outcomeByNumber(state, { ...call, request: null });
		run.simulator.setAutoComplete({ afterMs: 500, outcome });
		const workflow = await run.import('15-compare-two-greetings.json', withTrialTimes);
		await run.run(workflow, 'Start Here');
		const peopleTable = await tables.get('Greeting Test');
		const phones = Array.from({ length: 10 }, (_, index) => `98765432${10 + index}`);
		await tables.insert(peopleTable, [
			...phones.map((phone, index) => ({ person_name: `Person ${index}`, phone })),
			{ person_name: 'Farah Ali', phone: '12345' },
			{ person_name: 'Person 0 again', phone: '098765 43210' },
		]);
		await run.run(workflow, 'Start Here');
		const rows = await tables.rows(peopleTable);
		const outcomes = phones.map((phone) => outcomeOf(phone));
		expect(rows.slice(0, 10).map((row) => [row.outcome, row.answered, row.goal])).toEqual(outcomes);
		expect(rows[10]).toMatchObject({ outcome: '', note: expect.stringContaining('12345') });
		const sameNumber = { outcome: 'Same number', note: 'Another row has this number' };
		expect(rows[11]).toMatchObject(sameNumber);
		const greetings = z.array(z.enum(['A', 'B'])).parse(rows.map((row) => row.greeting));
		expect(new Set(greetings.slice(0, 10))).toEqual(new Set(['A', 'B']));
		for (const [index, { body }] of placed().entries()) {
			const start = greetings[index] === 'A' ? 'Hello, this is' : 'Hello, you asked';
			expect(body).toMatchObject({
				initial_greeting: expect.stringContaining(start),
				data_extraction: [expect.objectContaining({ key: 'interested' })],
			});
		}
		const results = await tables.rows(await tables.get('Greeting Results'));
		expect(results.map((row) => [row.greeting, row.calls, row.answered, row.goals])).toEqual(
			['A', 'B'].map((greeting) => {
				const own = outcomes.filter((_, index) => greetings[index] === greeting);
				const answered = own.filter(([, isAnswered]) => isAnswered);
				return [greeting, own.length, answered.length, own.filter(([, , goal]) => goal).length];
			}),
		);
		expect(results[0]).toMatchObject({ advice: expect.stringMatching(/^Only \d answers/) });

		await run.run(workflow, 'Start Here');
		expect(placed()).toHaveLength(10);
		const again = await tables.rows(peopleTable);
		expect(again.map((row) => row.greeting)).toEqual(greetings);
		expect(again[11]).toMatchObject(sameNumber);
	});

	/** The outcome, whether the person answered, and whether the agent captured the goal. See `outcomeByNumber`. */
	function outcomeOf(phone: string): [string, boolean, boolean] {
		const digit = Number(phone.at(-1));
		if (digit === 9) return ['Failed', false, false];
		if (digit === 7 || digit === 8) return ['Not answered', false, false];
		return ['Answered', true, digit % 3 !== 2];
	}
});
