import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { plainText } from '../../nodes/core/values/values';
import { until } from '../n8n/until';
import { chain, manualTrigger } from '../n8n/workflow';
import type { CallOutcome } from '../simulator';
import { loopOver, useAccount } from './account';
import { callIdOf } from './calls';
import { KEY } from './questions';

const NODE = 'Place Call';
const WAIT = { options: { waitMinutes: 60 } };
const ASK = { operation: 'askAndWait', question: 'May we?', yesValues: 'yes', noValues: 'no' };

const captured = (answer: string): CallOutcome => ({ data_captured: { [KEY]: answer } });
/** What four people say, and the answer that the node returns. */
const ANSWERS: Array<[CallOutcome, string]> = [
	[captured('Yes'), 'yes'],
	[captured('no'), 'no'],
	[{ status: 'not_picked', data_captured: null }, 'not_reached'],
	[captured('call me tomorrow'), 'unclear'],
];

/** `killed.test.ts` has waits that end because n8n was killed, and `examplesChats.test.ts` a question as a tool. */
describe('Place Call waits for completion in real n8n', () => {
	const account = useAccount();
	const { n8n, simulator, placeCall } = account;

	afterEach(async () => {
		await account.removeWorkflows();
		simulator.reset();
	});

	const people = (count: number) =>
		Array.from({ length: count }, (_, index) => String(9_000_000_000 + index));

	/** Starts Webhook → one item per person → Place Call. Returns the execution ID. */
	const start = async (count: number, parameters: INodeParameters) =>
		(await account.start(people(count), [placeCall(parameters)])).id;

	async function result(id: string): Promise<INodeExecutionData[]> {
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		return await n8n.output(id, NODE);
	}

	const placedIds = () => simulator.placedCalls().map(({ callId }) => callId);
	const untilPlaced = async (count: number) =>
		await until(`${count} calls`, () => placedIds().length === count);

	it('waits in a manual execution', async () => {
		const place = placeCall({ ...WAIT, phoneNumber: '9000000000' });
		const workflow = await account.create(chain('wait by hand', manualTrigger(), place));
		simulator.setAutoComplete({ afterMs: 1_000 });
		const { id } = await n8n.runManually(workflow, 'Start');
		expect(await result(id)).toMatchObject([{ json: { timed_out: false } }]);
	});

	it('waits in each round of a loop, and calls each person once', async () => {
		simulator.setAutoComplete({ afterMs: 0 });
		const flow = (trigger: INode) => loopOver(trigger, placeCall(WAIT));
		const { id } = await account.startFlow(people(2), flow);
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		const items = await n8n.output(id, 'Loop');
		expect(items.map(({ json }) => json.timed_out)).toEqual([false, false]);
		expect(items.map(callIdOf)).toEqual(placedIds());
	});

	it('ends at the time limit with the known results', async () => {
		const id = await start(3, { options: { waitMinutes: 0.2 } });
		await untilPlaced(3);
		const [first = '', ...pending] = placedIds();
		await simulator.completeCall(first);
		const items = await result(id);
		expect(items.map(callIdOf)).toEqual([first, ...pending]);
		for (const { json } of items) expect(json.timed_out).toBe(json.call_id !== first);
	});

	it('returns a call that is scheduled for later as scheduled', async () => {
		const time = '2099-01-31T18:30:00+05:30';
		const id = await start(1, { ...WAIT, when: 'dateTime', scheduledAt: time });
		const [item] = await result(id);
		expect(item?.json).toMatchObject({ placed: true, call_id: placedIds()[0] });
		expect(Date.parse(plainText(item?.json.scheduled_for))).toBe(Date.parse(time));
		expect(item?.json).not.toHaveProperty('timed_out');
	});

	it('a question returns yes, no, not_reached, or unclear', async () => {
		const id = await start(ANSWERS.length, ASK);
		await untilPlaced(ANSWERS.length);
		for (const [index, callId] of placedIds().entries())
			await simulator.completeCall(callId, ANSWERS[index]?.[0]);
		const answers = ANSWERS.map(([, answer]) => answer);
		expect((await result(id)).map(({ json }) => json.answer)).toEqual(answers);
	});
});
