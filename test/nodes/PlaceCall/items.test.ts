import { NodeConnectionTypes, type INode, type INodeExecutionData, type IRun } from 'n8n-workflow';
import nock from 'nock';
import {
	engineTool,
	hintsOf,
	InFlight,
	makeNode,
	makeWorkflow,
	output,
	runWorkflow,
	service,
	skipSleeps,
	storedCredentials,
} from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import {
	acceptCalls,
	BODY,
	CONTINUE,
	faultOf,
	HOURS,
	NIGHT,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
} from './placeCallHarness';

const harness = placeCallHarness();
const REJECTED = { success: false, error: 'phone_number is implausible' };

/** Responds by number, each after a different number of turns, and counts the requests in flight. */
function answer(count: number, rejected: string[] = [], together = 1) {
	const phones: string[] = [];
	const inFlight = new InFlight(together);
	service()
		.post('/v1/call')
		.times(count)
		.reply(async (_uri, body) => {
			const phone = phoneOf(body);
			phones.push(phone);
			await inFlight.enter();
			// The first of each ten responds last, so that the order isn't accidental.
			await eventLoopTurns(20 - 2 * (Number(phone) % 10));
			inFlight.leave();
			return rejected.includes(phone)
				? [400, REJECTED]
				: [200, { success: true, data: { call_id: `call-${phone}` } }];
		});
	return { phones, inFlight };
}

const ids = (items: INodeExecutionData[]) => items.map(({ json }) => json.call_id);

describe('several items', () => {
	it.each([
		['Continue', 'continueRegularOutput', { row_number: 3 }],
		// n8n adds the input, but only to an item with nothing else than the error.
		['Continue (using error output)', 'continueErrorOutput', {}],
	] as const)('if they fail with On Error set to %s, keep %j of their input', async (...one) => {
		const [, onError, kept] = one;
		acceptCalls(1);
		const items = [{ phone: '9876543210' }, { row_number: 3, phone: 'later' }];
		const options = { includeInputFields: true };
		const run = await harness.place({ ...perItem, options }, { items, over: { onError } });
		const [task] = run.data.resultData.runData.Node ?? [];
		const failed = (task?.data?.main ?? []).flatMap((out) => out ?? []).at(-1);
		expect(failed?.json).toMatchObject({ error: expect.stringContaining("'Phone Number'") });
		expect(failed?.json).toMatchObject({ ...kept, message: expect.any(String) });
		expect(hintsOf(run)).toEqual([
			"2 items: 1 called, 1 couldn't be called. The output has one item for each. If you execute this node again, people who were called may be called again.",
		]);
	});

	it('are sent at the same time up to Concurrency, and returned in order, with one read of the credential', async () => {
		const seen = answer(20, [], 5);
		const parameters = { ...perItem, developerSettings: { concurrency: 5 } };
		const before = storedCredentials.reads;
		const run = await harness.place(parameters, { items: people(20) });
		expect(seen.inFlight.max).toBe(5);
		expect(ids(output(run, 'Node'))).toEqual(people(20).map(({ phone }) => `call-${phone}`));
		expect(storedCredentials.reads - before).toBe(1);
	});
});

describe('when one item is rejected', () => {
	const bad = '9876543211';

	it('the node stops, and names the item and the placed calls', async () => {
		const seen = answer(2, [bad]);
		const run = await harness.place(perItem, { items: people(4) });
		const { message, description, context } = faultOf(run);
		expect(seen.phones).toEqual(['9876543210', bad]);
		expect(message).toBe('The service rejected the call [row 2]');
		expect(description).toContain(
			"Completed in this run: row 1. To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.",
		);
		expect(context).toMatchObject({ itemIndex: 1 });
	});
});

describe('when the outcome of an item is unknown', () => {
	const UNSENT = "To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue'";
	it.each([
		[4, 1],
		[4, 2],
	])('of %i items, item %i: the message says how to send those after it', async (all, at) => {
		acceptCalls(at);
		service().post('/v1/call').reply(500, {});
		const { message, description } = faultOf(await harness.place(perItem, { items: people(all) }));
		expect(message).toContain(`[row ${at + 1}]`);
		expect(description).toContain(UNSENT);
	});

	it('the message also says so if the service rejects an item, because a retry would stop there again', async () => {
		answer(2, ['9876543211']);
		const { description } = faultOf(await harness.place(perItem, { items: people(3) }));
		expect(description).toContain(UNSENT);
	});
});

describe('when a row cannot be called', () => {
	const [first, second, third] = ['9876543210', '+449876543211', 'n/a'];
	const items = [
		{ phone: first },
		{ phone: second, person_name: 'Asha' },
		{ phone: third, 'Full Name': 'Ravi' },
	];

	it('no call is placed, and every such row is reported', async () => {
		const { message, description, context } = faultOf(await harness.place(perItem, { items }));
		expect(message).toBe(
			`'Phone Number' "+449876543211" has another country code, but 'Country' is India (+91) [row 2, Asha]`,
		);
		expect(description).toContain(`[row 3, Ravi] 'Phone Number' "n/a" isn't a phone number. Enter`);
		expect(description).toContain(
			"No item was processed in this attempt. To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.",
		);
		expect(context).toMatchObject({ itemIndex: 1 });
	});

	it('with Continue the other rows are called, also if an expression is invalid', async () => {
		const bodies = acceptCalls(1);
		const parameters = { phoneNumber: '={{ $json.phone.trim() }}' };
		const setting = { items: [...items, { phone: null }], over: CONTINUE };
		const calls = output(await harness.place(parameters, setting), 'Node');
		expect(bodies).toHaveLength(1);
		expect(ids(calls)).toEqual(['call-9876543210', undefined, undefined, undefined]);
	});
});

it('when the credential is invalid, no item counts as a placed call', async () => {
	const details = await harness.addCredential({ apiToken: 'short' });
	const broken = async (over: Partial<INode> = {}): Promise<IRun> => {
		const credentials = { voiceChatAgentApiTokenApi: details };
		const sinks = ['Placed', 'Rejected'];
		return await harness.place(perItem, {
			items: people(2),
			over: { ...over, credentials },
			sinks,
		});
	};
	expect(faultOf(await broken()).message).toContain('must have 16 characters (got 5)');
	const run = await broken({ onError: 'continueErrorOutput' });
	expect(output(run, 'Placed')).toEqual([]);
	expect(output(run, 'Rejected')).toHaveLength(2);
});

describe('Retry On Fail', () => {
	const over: Partial<INode> = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

	it('places no call again, and sends rejected ones again', async () => {
		answer(2, ['9876543211']);
		answer(2);
		const run = await harness.place(perItem, { items: people(3), over });
		expect(ids(output(run, 'Node'))).toEqual(people(3).map(({ phone }) => `call-${phone}`));
		expect(nock.isDone()).toBe(true);
	});

	it('places no call again, also if errors are passed on with the items', async () => {
		// n8n runs the node again if the first item has an error.
		const seen = answer(3, ['9876543210']);
		const again = answer(1);
		const items = people(3);
		const run = await harness.place(perItem, { items, over: { ...over, ...CONTINUE } });
		const phones = items.map(({ phone }) => phone);
		expect(ids(output(run, 'Node'))).toEqual(phones.map((phone) => `call-${phone}`));
		expect([...seen.phones, ...again.phones]).toEqual([...phones, phones[0]]);
	});

	it('in the next run of a loop, the error of an invalid item says that a new execution sends completed items again', async () => {
		acceptCalls(1);
		const phoneNumber = '={{ $runIndex === 0 ? "9876543210" : "later" }}';
		const node = harness.placeCallNode({ phoneNumber });
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const to = { node: node.name, type: NodeConnectionTypes.Main, index: 0 };
		const workflow = makeWorkflow([start, node], { Start: { main: [[to, to]] } });
		const run = await runWorkflow(workflow, start, [{ json: {} }]);
		expect(faultOf(run).description).toMatch(
			/choose 'Retry with currently saved workflow'.* A new execution does\.$/,
		);
	});
});

describe('Check Only', () => {
	it('calls nobody, and returns who would be called, and when', async () => {
		skipSleeps(Date.parse(NIGHT));
		const items = [{ phone: phone(0) }, { phone: phone(0) }, { phone: 'none' }];
		const parameters = { ...perItem, ...HOURS, callLimit: 'day', whatToDo: 'check' };
		const agents = [{ agent_uuid: BODY.agent_uuid, agent_name: 'Sales' }];
		const data = { success: true, data: agents };
		service().get('/v1/active_agents').reply(200, data).persist();
		const run = await harness.place(parameters, { items, over: CONTINUE });
		const monday = '2026-11-23T09:00:00+05:30';
		expect(output(run, 'Node').map(({ json }) => json)).toEqual([
			{
				...{ phone: phone(0), placed: false, call_id: null, phone_key: `91${phone(0)}` },
				...{ not_placed_reason: 'check_only', would_call_at: monday },
			},
			expect.objectContaining({ placed: false, not_placed_reason: 'duplicate_number' }),
			expect.objectContaining({ error: expect.stringMatching(/^'Phone Number' "none"/) }),
		]);
		expect(hintsOf(run)).toEqual([
			"3 items: 1 with the number of another item, 1 would be called, 1 couldn't be called. Nobody was called. The output has one item for each.",
			"The agent is active. The credential doesn't describe the agent's do-not-disturb list, so only the service checks it.",
		]);
		const now = await harness.place({ whatToDo: 'check' });
		expect(output(now, 'Node')).toMatchObject([{ json: { would_call_at: 'now' } }]);
		const additionalBodyFields = { scheduled_at: monday };
		const later = { whatToDo: 'check', developerSettings: { additionalBodyFields } };
		expect(output(await harness.place(later), 'Node')).toMatchObject([
			{ json: { would_call_at: monday } },
		]);
	});

	it('as a tool tells the model that nobody was called', async () => {
		expect(await engineTool(harness.placeCallNode({ whatToDo: 'check' }))()).toEqual({
			outcome: 'not_sent',
			what_happened: "The call wasn't placed, because 'What to Do' is 'Check Only'.",
			next_step:
				'Do not repeat this request. Tell the user you are chatting with that this tool only checks the request, which is valid (time of the call: now), and knows nothing of the agent or its do-not-disturb list.',
			result: null,
		});
	});

	it('counts a number once, also in two branches', async () => {
		const node = harness.placeCallNode({ whatToDo: 'check' });
		const start = makeNode({ type: 'test.start', name: 'Start' });
		const to = { node: node.name, type: NodeConnectionTypes.Main, index: 0 };
		const workflow = makeWorkflow([start, node], { Start: { main: [[to, to]] } });
		const run = await runWorkflow(workflow, start, [{ json: {} }]);
		const reasons = (run.data.resultData.runData.Node ?? []).map(
			({ data }) => data?.main?.[0]?.[0]?.json.not_placed_reason,
		);
		expect(reasons).toEqual(['check_only', 'duplicate_number']);
	});

	it('reads the active agents once for the agents of all items', async () => {
		const data = {
			success: true,
			data: [{ agent_uuid: 'agent_one' }, { agent_uuid: 'agent_two' }],
		};
		const agents = service().get('/v1/active_agents').reply(200, data);
		const agentUuid = { __rl: true, mode: 'id', value: '={{ $json.agent }}' };
		const items = ['agent_one', 'agent_two'].map((agent, index) => ({
			agent,
			phone: phone(index),
		}));
		const run = await harness.place({ ...perItem, agentUuid, whatToDo: 'check' }, { items });
		expect(agents.isDone()).toBe(true);
		expect(hintsOf(run).slice(1)).toEqual([
			expect.stringMatching(/^agent_one: The agent is active\./),
			expect.stringMatching(/^agent_two: The agent is active\./),
		]);
	});

	it('at a time of day in India, says so', async () => {
		const parameters = { whatToDo: 'check', when: 'timeOfDay', scheduledTime: '9.30 pm' };
		expect(output(await harness.place(parameters), 'Node')).toMatchObject([
			{ json: { would_call_at: '21:30 (Asia/Kolkata)' } },
		]);
	});
});
