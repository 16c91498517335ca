import { dialects, fixtures, outcomeByNumber, startSimulator, type Simulator } from '.';
import { eventually } from '../n8n/until';
import { call } from './testing/api';

const agent_uuid = fixtures.agents.full;
const { active, draft } = fixtures.campaigns;
const FAST = { everyMs: 2, lastsMs: 10 };

const people = [
	{ phone: '9800000001', person_name: 'Asha Rao' },
	{ phone: '9800000002', person_name: 'Vikram Iyer' },
	{ phone: '9800000007', person_name: 'Meera Nair' },
	{ phone: '9800000008', person_name: 'Rohan Das' },
	{ phone: '9800000009', person_name: 'Farah Ali' },
];

describe.each(Object.values(dialects))('campaigns that call, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterEach(() => {
		jest.useRealTimers();
	});
	afterAll(async () => await sim.stop());

	async function push(id: number, contacts: object[], enqueue = true): Promise<number> {
		const body = { agent_uuid, contacts, enqueue };
		const { data } = await call(sim, 'POST', `/v1/campaigns/${id}/contacts`, body);
		return Number(data.campaign_upload_id);
	}

	const callsOf = (list: number) =>
		[...sim.state.calls.values()].filter(({ uploadId }) => uploadId === list);

	const isCompleted = (campaign: number, list: number) =>
		sim.state.campaigns
			.get(campaign)
			?.uploads.find(({ id }) => id === list)
			?.queues.every(({ completed }) => completed) === true;

	/** Waits for the end of a contact list. */
	async function completed(campaign: number, list: number): Promise<void> {
		await eventually(() => isCompleted(campaign, list));
	}

	/** Waits until the campaign has called a contact that is pushed now, after everyone whose turn it was. */
	async function laterCall(): Promise<void> {
		await completed(active, await push(active, [{ phone: '9800000099' }]));
	}

	it('call each released contact once, and each call has its outcome', async () => {
		sim.setAutoDial(FAST);
		const list = await push(active, people);
		expect(isCompleted(active, list)).toBe(false);
		await completed(active, list);
		const calls = callsOf(list);
		expect(calls.map(({ phone, callerName }) => [phone, callerName])).toEqual(
			people.map(({ phone, person_name: name }) => [`+91${phone}`, name]),
		);
		expect(calls.map(({ outcome }) => outcome.status)).toEqual([
			'picked',
			'picked',
			'not_picked',
			'not_picked',
			'failed',
		]);
		const path = `/v1/call/${calls[0]?.callId}`;
		expect((await call(sim, 'GET', path)).data).toMatchObject({
			campaign_id: active,
			campaign_upload_id: list,
			caller_name: 'Asha Rao',
			data_captured: { interested: 'yes', visit_day: 'Tuesday' },
			summary: 'Asha Rao is interested and wants to visit on Tuesday.',
		});
		expect((await call(sim, 'GET', `${path}/recording`)).status).toBe(200);
		expect(calls[1]?.outcome.data_captured).toEqual({ interested: 'no' });
		expect(calls[4]?.outcome.call_ended_reason_message).toBe('The line was busy');
		await laterCall();
		expect(callsOf(list)).toHaveLength(people.length);
	});

	it('call nobody on the do-not-disturb list, also if the number is added after the push', async () => {
		const added = { phone: '9800000004' };
		const list = await push(active, [{ phone: fixtures.dndPhone }, added, ...people]);
		sim.state.dnd.push({
			id: 1,
			agentUuid: agent_uuid,
			phone: `+91${added.phone}`,
			reason: 'asked',
			createdAt: new Date().toISOString(),
		});
		sim.setAutoDial(FAST);
		await completed(active, list);
		expect(callsOf(list)).toHaveLength(people.length);
		expect(sim.contactsOf(active)[0]).toMatchObject({ dialed: 'do_not_disturb' });
		expect(callsOf(list).map(({ phone }) => phone)).not.toContain(`+91${added.phone}`);
	});

	it('call contacts that wait only after they are released, and only in an active campaign', async () => {
		sim.setAutoDial(FAST);
		const held = await push(active, people, false);
		const waiting = await push(draft, people);
		await laterCall();
		expect([...callsOf(held), ...callsOf(waiting)]).toEqual([]);
		sim.changeCampaign(draft, 'Active');
		await completed(draft, waiting);
		expect(callsOf(waiting)).toHaveLength(people.length);
		expect(callsOf(held)).toEqual([]);
	});

	it('gives placed calls outcomes by number, too', async () => {
		sim.setAutoComplete({ afterMs: 0, outcome: (one) => outcomeByNumber(sim.state, one) });
		const place = async (number: string, data_extraction?: object[]) => {
			const body = { agent_uuid, phone_number: number, country_code: 'IN', data_extraction };
			const { data } = await call(sim, 'POST', '/v1/call', body);
			const found = () => sim.state.calls.get(String(data.call_id));
			await eventually(() => found()?.finished === true);
			return found()?.outcome;
		};
		const status = async (number: string) => (await place(number))?.status;
		expect([await status('9800000007'), await status('9800000007')]).toEqual([
			'not_picked',
			'picked',
		]);
		expect([await status('9800000008'), await status('9800000008')]).toEqual([
			'not_picked',
			'not_picked',
		]);
		expect([await status('9800000009'), await status('9800000009')]).toEqual(['failed', 'picked']);
		expect(await place('9800000001', [{ key: 'budget', description: 'Ask' }])).toMatchObject({
			data_captured: { budget: 'answer 1' },
		});
	});
});
