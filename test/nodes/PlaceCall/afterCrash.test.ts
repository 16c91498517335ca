/** Attempts of an execution after n8n was killed. n8n has stored no results, only the claims of what was started. */
import type { IDataObject, INode, INodeParameters, WorkflowExecuteMode } from 'n8n-workflow';
import { createRunExecutionData } from 'n8n-workflow';
import {
	engineTool,
	oneNodeWorkflow,
	ParentExecution,
	records,
	retryKilled,
	useTime,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	itemsOf,
	NIGHT,
	NOON,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const { store, kill, retryAfterKill: retry, ...harness } = placeCallHarness();
const UNKNOWN = { details: { outcome: 'unknown' } };
const SKIP = { ...HOURS, outsideCallingHours: 'notPlaced' };
const node = (parameters: INodeParameters = {}, over: Partial<INode> = {}) =>
	harness.placeCallNode({ ...perItem, ...parameters }, over);

const itIs = useTime(NOON);

const lock = () => {
	store.beforeCall = () => {
		throw new Error('database is locked');
	};
};

describe('Retry', () => {
	it.each([
		['', {}],
		[' with Retry On Fail', { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 }],
	])('places no call again%s, and lists everyone who may have been called', async (_how, over) => {
		acceptCalls(2);
		const begun = await kill(node({}, CONTINUE), people(2));
		const bodies = acceptUpTo(1);
		const first = await retry(begun, node({}, over), people(3));
		for (const failed of [first, await harness.retry(first, node({}, over))]) {
			const { message, description } = faultOf(failed);
			expect(message).toBe(
				`An earlier run or attempt of this execution may have sent this, and n8n has no record of the result (call to ${phone(0)}, IN) [row 1]`,
			);
			expect(description).toContain('[row 2] An earlier run');
			expect(description).toContain(phone(1));
			expect(description).not.toContain(phone(2));
			expect(description).toContain("To send the items that weren't sent, set 'On Error'");
		}
		expect(bodies).toEqual([]);
	});

	it("with Check Only doesn't say of calls that may have been placed when they would be", async () => {
		acceptCalls(1);
		const begun = await kill(node(), people(1));
		const check = node({ whatToDo: 'check' }, CONTINUE);
		const again = await retry(begun, check, people(2));
		expect(records(again)).toMatchObject([
			{ details: { outcome: 'unknown' } },
			{ placed: false, would_call_at: expect.any(String) },
		]);
		// Another check finds the same.
		expect(records(await harness.retry(again, check))).toEqual(records(again));
	});

	it('of a single item says nothing of other items', async () => {
		acceptCalls(1);
		const { description } = faultOf(await retry(await kill(node(), people(1)), node(), people(1)));
		expect(description).toContain("The request wasn't sent again.");
		expect(description).not.toContain('items');
	});

	it('names every started item before it says to run the others in a new execution', async () => {
		acceptCalls(15);
		const fast = node({ options: { concurrency: 5 } });
		const begun = await kill(fast, people(15));
		const { message, description } = faultOf(await retry(begun, fast, people(20)));
		expect(message).toContain('[row 1]');
		for (let index = 1; index < 10; index++) expect(description).toContain(`[row ${index + 1}]`);
		expect(description).toContain('And 5 more: rows 11–15.');
		expect(description).toContain("To send the items that weren't sent, set 'On Error'");
	});

	type Crash = {
		/** Changes of the node, in both attempts. */
		node?: INodeParameters;
		/** The rows of the first attempt, and what the service does with their calls. */
		begun: IDataObject[];
		replies: Array<'placed' | 'rejected'>;
		/** The rows of the retry, if they differ. */
		rows?: IDataObject[];
		/** Changes of the node before the retry. */
		over?: Partial<INode>;
		isLocked?: true;
		/** The number that the retry calls, or the outcome, of each row. */
		outcomes: string[];
	};
	const [A, B] = [phone(0), phone(1)];
	const both: Crash['replies'] = ['placed', 'placed'];
	const moved = [{ phone: phone(7) }, { phone: B }, { phone: '098765 43210' }];
	const sameNumber = [{ phone: A }, { phone: '098765 43210' }];
	const twice = ['2020-01-31', '2040-01-31'].map((day) => ({ phone: A, at: `${day}T10:00+05:30` }));
	const atTheirTimes = { when: 'dateTime', scheduledAt: '={{ $json.at }}' };
	const unreadable = { phoneNumber: 'none' };
	const unreadableSettings = { options: { concurrency: 'many' } };
	const nothing = { begun: [], rows: people(1), replies: [] };

	it.each<[string, Crash]>([
		[
			'recognizes people by number, also if their row moved',
			{ begun: people(2), replies: both, rows: moved, outcomes: [phone(7), 'unknown', 'unknown'] },
		],
		[
			'places calls that were rejected',
			{ begun: people(2), replies: ['placed', 'rejected'], outcomes: ['unknown', B] },
		],
		[
			'calls again from a node that was added again, as retries.md says',
			{ begun: people(1), replies: ['placed'], over: { id: 'id-of-the-new-node' }, outcomes: [A] },
		],
		[
			'calls a person no more of whom an earlier item is left out',
			{ node: atTheirTimes, begun: twice, replies: ['placed'], outcomes: ['unknown', 'unknown'] },
		],
		[
			'says of no item with the number that it was not placed',
			{ begun: sameNumber, replies: ['placed'], outcomes: ['unknown', 'unknown'] },
		],
		[
			'says so of none in a later batch either',
			{
				...{ begun: [...sameNumber, ...people(60).slice(2), { phone: A }] },
				...{ replies: new Array(59).fill('placed'), outcomes: new Array(61).fill('unknown') },
			},
		],
		[
			"says that an item wasn't sent whose fields can't be read, if no request had begun",
			{ ...nothing, node: unreadable, outcomes: ['not_sent'] },
		],
		[
			"says that an item wasn't sent whose settings can't be read, if no request had begun",
			{ ...nothing, node: unreadableSettings, outcomes: ['not_sent'] },
		],
		[
			"doesn't say so if n8n's database can't be read either",
			{ ...nothing, node: unreadable, isLocked: true, outcomes: ['unknown'] },
		],
	])('with Continue, %s, and repeatedly none again', async (_what, crash) => {
		const { node: parameters, begun, replies, rows = begun, over, isLocked, outcomes } = crash;
		for (const reply of replies) {
			if (reply === 'placed') acceptCalls(1);
			else rejectCall();
		}
		const killed = await kill(node(parameters, CONTINUE), begun);
		if (isLocked) lock();
		const current = node(parameters, { ...CONTINUE, ...over });
		const isCall = (outcome: string) => outcome.startsWith('9');
		const bodies = acceptUpTo(2);
		const expected = outcomes.map((outcome) =>
			isCall(outcome) ? { call_id: `another-call-${outcome}` } : { details: { outcome } },
		);
		const once = await retry(killed, current, rows);
		expect(records(once)).toMatchObject(expected);
		// The result of the first retry is stored with it, and not with the execution that was killed.
		expect(records(await retry(once.data, current, rows))).toMatchObject(expected);
		const details = outcomes.map((outcome) => ({ outcome: isCall(outcome) ? 'unknown' : outcome }));
		const again = records(await retry(killed, current, rows)).map((item) => item.details);
		expect(again).toMatchObject(details);
		expect(bodies.map(phoneOf)).toEqual(outcomes.filter(isCall));
	});

	it("doesn't advise to run an item again whose call an earlier attempt placed", async () => {
		acceptCalls(1);
		callsEndpoint().reply(401, { success: false, error: 'no' });
		const failed = await harness.run(node(), people(3));
		expect(faultOf(failed).description).toContain('Completed in this run: row 1.');
		// The first retry places the call of item 1, and is killed.
		acceptCalls(2);
		await retryKilled(failed, oneNodeWorkflow(node()).workflow);
		const { message, description } = faultOf(await harness.retry(failed, node()));
		expect(message).toContain('[row 2]');
		expect(description).toContain('Completed in this run: row 1.');
	});

	it("while n8n's database is locked, returns the outcome and what to do", async () => {
		acceptCalls(1);
		const begun = await kill(node(), people(1));
		lock();
		const details = { outcome: 'unknown', n8n_said: 'database is locked' };
		expect(records(await retry(begun, node({}, CONTINUE)))).toEqual([
			{
				...people(1)[0],
				error: expect.any(String),
				message: expect.stringContaining('Then retry the execution again'),
				details: expect.objectContaining(details),
			},
		]);
		expect(faultOf(await retry(begun, node())).message).not.toContain("wasn't sent");
	});
});

it("while n8n's database is locked, a first attempt says that nothing was sent", async () => {
	const bodies = acceptUpTo(1);
	lock();
	const { message, description } = faultOf(await harness.run(node(), people(1)));
	expect(message).toBe(
		"n8n can't record the request before sending it, so this attempt didn't send it",
	);
	expect(description).toContain(
		"In n8n, try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
	);
	expect(bodies).toEqual([]);
});

describe('a sub-workflow whose parent is retried', () => {
	let parent: ParentExecution;
	beforeEach(() => (parent = new ParentExecution(Date.parse(NOON))));
	const run = async (ofRun: INode, rows: IDataObject[]) => await parent.run(ofRun, itemsOf(rows));

	it("doesn't say outside the calling hours that a call that was placed wasn't", async () => {
		acceptCalls(1);
		expect(records(await run(node(SKIP, CONTINUE), people(1)))).toHaveLength(1);
		parent.retry();
		itIs(NIGHT);
		const [item] = records(await run(node(SKIP, CONTINUE), people(1)));
		expect(item).not.toMatchObject({ placed: false });
		expect(item).toMatchObject(UNKNOWN);
	});

	it("calls nobody again if n8n's database stores the claims of the retry, but reports an error", async () => {
		acceptCalls(1);
		await run(node(), people(1));
		parent.retry();
		const again = acceptUpTo(1);
		store.failAfterNextAdd();
		await run(node(), people(1));
		expect(again).toEqual([]);
	});

	it("places the calls if n8n's database fails for a moment at a look-up, because none was placed before", async () => {
		const bodies = acceptUpTo(3);
		let failures = 1;
		store.beforeCall = (call) => {
			if (call.startsWith('remove') && failures-- > 0) throw new Error('database is locked');
		};
		const items = records(await run(node({}, CONTINUE), people(3)));
		expect(items.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
		expect(bodies).toHaveLength(3);
	});

	it('calls the same person on each level if the workflow starts itself, and nobody again', async () => {
		acceptCalls(2);
		// The first level, as long as it waits for the sub-workflow.
		const begun = await kill(node(), people(1));
		expect(records(await run(node(), people(1)))).toMatchObject([
			{ call_id: `call-${phone(0)}-2` },
		]);
		parent.retry();
		const again = acceptUpTo(2);
		expect(faultOf(await retry(begun, node())).message).toContain(phone(0));
		expect(faultOf(await run(node(), people(1))).message).toContain(phone(0));
		expect(again).toEqual([]);
	});
});

test("a tool of an agent run doesn't say outside the calling hours that the call it placed wasn't", async () => {
	/** In an attempt of the execution, of which n8n has stored nothing. */
	const request = async (mode: WorkflowExecuteMode): Promise<IDataObject> => {
		const started = { version: 1, establishedAt: Date.parse(NOON), source: 'trigger' } as const;
		const data = createRunExecutionData({ executionData: { runtimeData: started } });
		return await engineTool(harness.placeCallNode(SKIP), { data, mode })();
	};
	acceptCalls(1);
	expect(await request('trigger')).toMatchObject({ outcome: 'done' });
	const again = acceptUpTo(1);
	expect(await request('retry')).toMatchObject({ outcome: 'unknown' });
	itIs(NIGHT);
	const result = await request('retry');
	expect(result.next_step).not.toContain('Place the call then');
	expect(result).toMatchObject({ outcome: 'unknown' });
	expect(again).toEqual([]);
});
