/** What a retry or a stopped execution reports: the calls that were placed, and those that may have been. */
import type { INode, IRun, IRunExecutionData } from 'n8n-workflow';
import {
	oneNodeWorkflow,
	output,
	resume,
	skipSleeps,
	startExecution,
	startNode,
	stoppedResult,
	storedCopy,
	type Execution,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	itemsOf,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { kill, retry, retryAfterKill, run } = harness;
afterEach(() => jest.restoreAllMocks());
const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
const PLACED_FIRST = '1 call was already placed in this run (item 0)';

describe('if the first call gets no usable response after the others were placed', () => {
	const OTHERS = '5 calls were already placed in this run (items 1–5)';

	/** Records the numbers of six calls. */
	function firstUnknown(): string[] {
		const phones: string[] = [];
		let respondToFirst = () => {};
		const othersSeen = new Promise<void>((resolve) => (respondToFirst = resolve));
		callsEndpoint()
			.times(6)
			.reply(async (_uri, body) => {
				const called = phoneOf(body);
				phones.push(called);
				if (phones.length === 6) respondToFirst();
				if (called !== phone(0)) return [200, { success: true, data: { call_id: called } }];
				await othersSeen;
				return [502, '<html>Bad Gateway</html>'];
			});
		return phones;
	}

	const parameters = { ...perItem, developerSettings: { concurrency: 2 } };

	it('the last attempt of Retry On Fail and a retry list every placed call', async () => {
		skipSleeps();
		const phones = firstUnknown();
		const node = harness.placeCallNode(parameters, RETRY_ON_FAIL);
		const failed = await run(node, people(6));
		expect(faultOf(failed).description).toContain(OTHERS);
		expect(faultOf(await retry(failed, node)).description).toContain(OTHERS);
		expect(phones).toHaveLength(6);
	});
});

describe('after n8n was killed', () => {
	/** The first call is rejected, and the other two are placed. */
	async function killAfterRejection(node: INode): Promise<IRunExecutionData> {
		rejectCall();
		acceptCalls(2);
		return await kill({ ...node, ...CONTINUE, retryOnFail: false }, people(3));
	}

	test('a retry names every started item before it says to run the others in a new execution', async () => {
		acceptCalls(15);
		const node = harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 5 } });
		const isStarted = (_row: object, index: number) => index % 2 === 0;
		const begun = await kill(node, people(30).filter(isStarted));
		const { message, description } = faultOf(await retryAfterKill(begun, node, people(30)));
		expect(message).toContain('[item 0]');
		for (let index = 2; index < 20; index += 2) expect(description).toContain(`[item ${index}]`);
		expect(description).toContain('And 5 more items (20, 22, 24, 26, 28).');
		expect(description).toContain('Run the other items in a new execution');
	});

	test("a retry doesn't advise to run an item again whose call was placed, if it can't be read after an edit", async () => {
		acceptCalls(2);
		const rows = people(2).map((row) => ({ ...row, at: '2040-01-31T10:00:00+05:30' }));
		const at = (scheduledAt: string) =>
			harness.placeCallNode({ ...perItem, when: 'dateTime', scheduledAt });
		const begun = await kill(at('={{ $json.at }}'), rows);
		const again = acceptUpTo(1);
		const { message, description } = faultOf(
			await retryAfterKill(begun, at('={{ $itemIndex === 1 ? "tomorrow" : $json.at }}')),
		);
		expect(again).toEqual([]);
		expect(message).toContain('[item 0]');
		expect(description).toContain('Run the other items in a new execution');
		expect(description).toContain('[item 1]');
	});

	test.each([
		['a second retry', {}],
		['a retry with Retry On Fail', RETRY_ON_FAIL],
	])('%s lists every started item, and sends nothing', async (_which, over) => {
		skipSleeps();
		const node = harness.placeCallNode(perItem, over);
		const begun = await killAfterRejection(node);
		const bodies = acceptUpTo(1);
		const first = await retryAfterKill(begun, node);
		for (const failed of [first, await retry(first, node)]) {
			const { message, description } = faultOf(failed);
			for (const index of [1, 2]) expect(`${message} ${description}`).toContain(phone(index));
		}
		expect(bodies).toEqual([]);
	});
});

describe('Stop', () => {
	/** The service accepts the next call, and the execution is stopped before the response arrives. */
	async function stopAtNextCall(execution: Execution) {
		callsEndpoint().reply(200, () => {
			execution.cancel();
			return { success: true, data: { call_id: 'last' } };
		});
		return await stoppedResult(execution);
	}

	async function itemsAfterStop(execution: Execution) {
		const { data } = await stopAtNextCall(execution);
		return (data?.main?.[0] ?? []).map(({ json }) => json);
	}

	test.each([false, true])(
		'with Retry On Fail %p, the message lists the placed and the unknown call, and says of neither that nothing was sent',
		async (retryOnFail) => {
			skipSleeps();
			acceptCalls(1);
			const node = harness.placeCallNode(perItem, { ...RETRY_ON_FAIL, retryOnFail });
			const execution = startNode(harness.credentials, node, itemsOf(people(3)));
			const description = (await stopAtNextCall(execution)).error?.description ?? '';
			expect(description).toContain(PLACED_FIRST);
			expect(description).toContain(phone(1));
			expect(description).not.toContain('[item 0]');
		},
	);

	test('during the second attempt of Retry On Fail, a call that the first one placed is returned', async () => {
		skipSleeps();
		rejectCall();
		acceptCalls(1);
		const node = harness.placeCallNode(perItem, { ...CONTINUE, ...RETRY_ON_FAIL });
		const execution = startNode(harness.credentials, node, itemsOf(people(2)));
		const items = await itemsAfterStop(execution);
		expect(items).toHaveLength(2);
		expect(items[1]?.message ?? '').not.toContain('Nothing was sent for this item');
		expect(items[1]).toMatchObject({ call_id: `call-${phone(1)}` });
	});

	test('during a retry after n8n was killed, a call that was started before is returned as unknown', async () => {
		rejectCall();
		acceptCalls(1);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const { workflow } = oneNodeWorkflow(node);
		const execution = startExecution(harness.credentials, workflow, storedCopy(begun), 'retry');
		const items = await itemsAfterStop(execution);
		expect(items).toHaveLength(2);
		expect(items[1]?.message ?? '').not.toContain('Nothing was sent for this item');
		expect(items[1]).toMatchObject({ details: { outcome: 'unknown' } });
	});
});

describe('a retry with a value that was edited and is invalid', () => {
	const LEAVE_OUT = 'An earlier attempt completed this item, so leave it out of a new execution.';

	/** The first call is placed, and the second one rejected. Then the node is edited. */
	async function retryEdited(over: Partial<INode>): Promise<IRun> {
		acceptCalls(1);
		rejectCall();
		const failed = await run(harness.placeCallNode(perItem), people(2));
		expect(faultOf(failed).description).toContain(PLACED_FIRST);
		const invalid = { when: 'dateTime', scheduledAt: '={{ "tomorrow" }}' };
		return await retry(failed, harness.placeCallNode({ ...perItem, ...invalid }, over));
	}

	it('says to leave the item whose call was placed out of a new execution', async () => {
		const [placed, invalid] = output(await retryEdited(CONTINUE), 'Node').map(({ json }) => json);
		expect(invalid).toMatchObject({ details: { outcome: 'not_sent' } });
		expect(placed).toMatchObject({
			message: expect.stringContaining(LEAVE_OUT),
			details: { outcome: 'unknown' },
		});
		expect(faultOf(await retryEdited({})).description).toContain(LEAVE_OUT);
	});

	it("doesn't say that an item wasn't sent whose outcome is unknown", async () => {
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const failed = await run(harness.placeCallNode(perItem), people(1));
		const invalid = { ...perItem, phoneNumber: 'none' };
		const again = await retry(failed, harness.placeCallNode(invalid, CONTINUE));
		expect(output(again, 'Node')[0]?.json).toMatchObject({ details: { outcome: 'unknown' } });
		const { description } = faultOf(await retry(failed, harness.placeCallNode(invalid)));
		expect(description).toContain('An earlier attempt may have sent this item');
	});

	it("doesn't return an item as called if its number was edited to an invalid one", async () => {
		acceptCalls(1);
		rejectCall();
		const rows = [
			{ phone: phone(0), mobile: 'n/a' },
			{ phone: phone(1), mobile: phone(11) },
		];
		const failed = await run(harness.placeCallNode(perItem), rows);
		expect(faultOf(failed).message).toContain('[item 1]');
		const bodies = acceptUpTo(2);
		const edited = harness.placeCallNode({ phoneNumber: '={{ $json.mobile }}' }, CONTINUE);
		const [first, second] = output(await retry(failed, edited), 'Node').map(({ json }) => json);
		expect(bodies.map((body) => body.phone_number)).toEqual([phone(11)]);
		expect(second).toMatchObject({ call_id: `another-call-${phone(11)}` });
		// "If you change an item's phone number, it counts as a new call."
		expect(first?.call_id).toBeUndefined();
	});
});

describe("a retry after n8n was killed, while n8n's database is locked", () => {
	async function retryLocked(node: INode, sinks: string[] = []): Promise<IRun> {
		skipSleeps();
		acceptCalls(1);
		const begun = await kill(node, people(1));
		harness.store.beforeCall = () => {
			throw new Error('database is locked');
		};
		const { workflow } = oneNodeWorkflow(node, sinks);
		return await resume(harness.credentials, workflow, storedCopy(begun), 'retry');
	}

	it('with Continue, returns the outcome and what to do instead of the input', async () => {
		const again = await retryLocked(harness.placeCallNode(perItem, CONTINUE), ['After']);
		expect(output(again, 'After').map(({ json }) => json)).toEqual([
			{
				error: expect.any(String),
				message: expect.stringContaining('Retry the execution again'),
				details: expect.objectContaining({ outcome: 'unknown', n8n_said: 'database is locked' }),
			},
		]);
	});

	it("doesn't say that a call that was placed wasn't sent", async () => {
		const { message } = faultOf(await retryLocked(harness.placeCallNode(perItem)));
		expect(message).not.toContain("wasn't sent");
	});
});
