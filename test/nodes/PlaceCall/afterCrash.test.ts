/** Attempts of an execution after n8n was killed. n8n has stored no results, only the notes of what was started. */
import type { IDataObject, INode, IRun, WorkflowExecuteMode } from 'n8n-workflow';
import { createRunExecutionData } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineTool,
	makeNode,
	makeWorkflow,
	oneNodeWorkflow,
	output,
	ParentExecution,
	resume,
	retryKilled,
	runKilled,
	runWorkflow,
	skipSleeps,
	storedCopy,
	records,
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
	onOtherDays,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { kill, retryAfterKill: retry } = harness;
const withHours = { ...HOURS, outsideCallingHours: 'notPlaced' };

let itIs: (iso: string) => void;
beforeEach(() => (itIs = skipSleeps(Date.parse(NOON))));
afterEach(() => jest.restoreAllMocks());

const lock = () => {
	harness.store.beforeCall = () => {
		throw new Error('database is locked');
	};
};

describe('Retry', () => {
	it.each([
		['', {}],
		[' with Retry On Fail', { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 }],
	])('places no call again%s, and lists everyone who may have been called', async (_how, over) => {
		rejectCall();
		acceptCalls(2);
		const node = harness.placeCallNode(perItem, over);
		const begun = await kill({ ...node, ...CONTINUE, retryOnFail: false }, people(3));
		const bodies = acceptUpTo(1);
		const first = await retry(begun, node, people(4));
		for (const failed of [first, await harness.retry(first, node)]) {
			const { message, description } = faultOf(failed);
			expect(message).toBe(
				`An earlier attempt of this execution may have sent this, and n8n has no record of the result (call to ${phone(1)}, IN) [row 2]`,
			);
			expect(description).toContain('[row 3] An earlier attempt');
			expect(description).toContain(phone(2));
			expect(description).not.toContain(phone(3));
			expect(description).toContain("To send the items that weren't sent, set 'On Error'");
		}
		expect(bodies).toEqual([]);
	});

	it('calls again from a node that was added again, as retries.md says', async () => {
		acceptCalls(1);
		const node = harness.placeCallNode(perItem);
		const begun = await kill(node, people(1));
		const bodies = acceptUpTo(1);
		await retry(begun, { ...node, id: 'id-of-the-new-node' }, people(1));
		expect(bodies).toHaveLength(1);
	});

	it('of a single item says nothing of other items', async () => {
		acceptCalls(1);
		const node = harness.placeCallNode(perItem);
		const { description } = faultOf(await retry(await kill(node, people(1)), node, people(1)));
		expect(description).toContain("The request wasn't sent again.");
		expect(description).not.toContain('items');
	});

	it('names every started item before it says to run the others in a new execution', async () => {
		acceptCalls(15);
		const node = harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 5 } });
		const isStarted = (_row: object, index: number) => index % 2 === 0;
		const begun = await kill(node, people(30).filter(isStarted));
		const { message, description } = faultOf(await retry(begun, node, people(30)));
		expect(message).toContain('[row 1]');
		for (let index = 2; index < 20; index += 2) expect(description).toContain(`[row ${index + 1}]`);
		expect(description).toContain('And 5 more rows (21, 23, 25, 27, 29).');
		expect(description).toContain("To send the items that weren't sent, set 'On Error'");
	});

	const invalidField = { phoneNumber: 'unknown' };
	const invalidNode = { developerSettings: { concurrency: 'many' } };

	it.each([
		['fields', invalidField],
		['settings', invalidNode],
	])(
		"doesn't say that an item wasn't sent if its %s can't be read since an edit",
		async (_what, invalid) => {
			const bodies = acceptCalls(1);
			const begun = await kill(harness.placeCallNode(perItem, CONTINUE), people(1));
			const edited = { ...perItem, ...invalid };
			const [item] = output(await retry(begun, harness.placeCallNode(edited, CONTINUE)), 'Node');
			expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
			expect(JSON.stringify(item?.json)).toContain('Then retry the execution again.');
			const { description } = faultOf(await retry(begun, harness.placeCallNode(edited)));
			expect(description).toContain('An earlier attempt may have sent this item');
			expect(bodies).toHaveLength(1);
		},
	);

	it.each([
		['fields', 'not_sent', invalidField, false],
		['settings', 'not_sent', invalidNode, false],
		["fields and n8n's database", 'unknown', invalidField, true],
	])(
		"an item whose %s can't be read has the outcome %s if no request had begun",
		async (_what, outcome, invalid, isLocked) => {
			const node = harness.placeCallNode({ ...perItem, ...invalid }, CONTINUE);
			const begun = await kill(node, []);
			if (isLocked) lock();
			const [item] = output(await retry(begun, node, people(1)), 'Node');
			expect(item?.json).toMatchObject({ details: { outcome } });
		},
	);

	it.each<[string, Array<'placed' | 'rejected'>, IDataObject[], calls: Array<number | undefined>]>([
		[
			'recognizes people by number, also if their row moved',
			['placed', 'placed'],
			[{ phone: phone(7) }, { phone: phone(1) }, { phone: '098765 43210' }],
			[7, undefined, undefined],
		],
		[
			'places calls that were not started',
			['placed', 'placed'],
			people(3),
			[undefined, undefined, 2],
		],
		['places calls that were rejected', ['placed', 'rejected'], people(2), [undefined, 1]],
	])('with Continue, %s, and repeatedly none again', async (_what, replies, rows, calls) => {
		for (const reply of replies) {
			if (reply === 'placed') acceptCalls(1);
			else rejectCall();
		}
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const bodies = acceptCalls(1);
		const once = await retry(begun, node, rows);
		const ids = calls.map((index) => index && `call-${phone(index)}`);
		expect(records(once).map(({ call_id: id }) => id)).toEqual(ids);
		// The result of the first retry is stored with it.
		const again = await retry(once.data, node, rows);
		expect(records(again).map(({ call_id: id }) => id)).toEqual(ids);
		const unknown = rows.map(() => ({ details: { outcome: 'unknown' } }));
		expect(records(await retry(begun, node, rows))).toMatchObject(unknown);
		expect(bodies).toHaveLength(1);
	});

	it("doesn't advise to run an item again whose call an earlier attempt placed", async () => {
		acceptCalls(1);
		callsEndpoint().reply(401, { success: false, error: 'no' });
		const node = harness.placeCallNode(perItem);
		const { workflow } = oneNodeWorkflow(node);
		const failed = await harness.run(node, people(3));
		expect(faultOf(failed).description).toContain('Completed in this run: row 1.');
		// The first retry places the call of item 1, and is killed.
		acceptCalls(2);
		await retryKilled(failed, workflow);
		const { message, description } = faultOf(await harness.retry(failed, node));
		expect(message).toContain('[row 2]');
		expect(description).toContain('Completed in this run: row 1.');
	});

	it.each([
		['was never started', { when: 'dateTime', scheduledAt: '={{ $json.at }}' }],
		['was rejected', { ...onOtherDays, personName: '={{ $json.name }}' }],
	])(
		'calls a person no more if an earlier item of the same person %s',
		async (what, parameters) => {
			if (what === 'was rejected') rejectCall();
			const node = harness.placeCallNode({ ...perItem, ...parameters }, CONTINUE);
			const rows = [
				{ phone: phone(0), name: 'Too long', at: '2020-01-31T10:00:00+05:30' },
				{ phone: phone(0), name: 'Asha', at: '2040-01-31T10:00:00+05:30' },
			];
			const bodies = acceptCalls(1);
			const begun = await kill(node, rows);
			expect(bodies).toHaveLength(1);
			const again = acceptUpTo(2);
			const items = output(await retry(begun, node, rows), 'Node').map(({ json }) => json.error);
			expect(again).toEqual([]);
			const unknown = expect.stringContaining('An earlier attempt of this execution may have sent');
			expect(items).toEqual([unknown, unknown]);
		},
	);

	it("while n8n's database is locked, returns the outcome and what to do", async () => {
		acceptCalls(1);
		const begun = await kill(harness.placeCallNode(perItem), people(1));
		lock();
		const retryLocked = async (over: Partial<INode> = {}) => {
			const { workflow } = oneNodeWorkflow(harness.placeCallNode(perItem, over), ['After']);
			return await resume(workflow, storedCopy(begun), 'retry');
		};
		const items = records(await retryLocked(CONTINUE), 'After');
		expect(items).toEqual([
			{
				error: expect.any(String),
				message: expect.stringContaining('Then retry the execution again'),
				details: expect.objectContaining({ outcome: 'unknown', n8n_said: 'database is locked' }),
			},
		]);
		expect(faultOf(await retryLocked()).message).not.toContain("wasn't sent");
	});
});

it("while n8n's database is locked, a first attempt says that nothing was sent", async () => {
	const bodies = acceptUpTo(1);
	lock();
	const { message, description } = faultOf(
		await harness.run(harness.placeCallNode(perItem), people(1)),
	);
	expect(message).toBe(
		"n8n can't record the request before sending it, so this attempt didn't send it",
	);
	expect(description).toContain(
		"Try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
	);
	expect(bodies).toEqual([]);
});

describe('a sub-workflow whose parent is retried', () => {
	let parent: ParentExecution;
	beforeEach(() => (parent = new ParentExecution(Date.parse(NOON))));
	const run = async (node: INode, rows: IDataObject[]): Promise<IRun> =>
		await parent.run(node, itemsOf(rows));

	it("doesn't say outside the calling hours that a call that was placed wasn't", async () => {
		acceptCalls(1);
		const node = harness.placeCallNode({ ...perItem, ...withHours }, CONTINUE);
		expect(output(await run(node, people(1)), 'Node')).toHaveLength(1);
		parent.retry();
		itIs(NIGHT);
		const [item] = output(await run(node, people(1)), 'Node');
		expect(item?.json).not.toMatchObject({ placed: false });
		expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
	});

	it('calls a person no more, also in a sub-execution that had not begun', async () => {
		const node = harness.placeCallNode({ ...perItem, personName: '={{ $json.name }}' }, CONTINUE);
		acceptCalls(1);
		await run(node, [{ phone: phone(0), name: 'First' }]);
		parent.retry();
		const again = acceptUpTo(2);
		for (const name of ['First', 'Second']) {
			const [item] = output(await run(node, [{ phone: phone(0), name }]), 'Node');
			expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
		}
		expect(again).toEqual([]);
	});

	it("calls nobody again if n8n's database stores the notes of the retry, but reports an error", async () => {
		acceptCalls(1);
		const node = harness.placeCallNode(perItem);
		await run(node, people(1));
		parent.retry();
		const again = acceptUpTo(1);
		harness.store.failAfterNextAdd();
		await run(node, people(1));
		expect(again).toEqual([]);
	});
	it("doesn't promise that a retry skips its calls, because a retry of the parent stops at the first one", async () => {
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode(perItem);
		const { description } = faultOf(await run(node, people(2)));
		expect(description).toContain('Completed in this run: row 1.');
		parent.retry();
		const bodies = acceptUpTo(1);
		expect(faultOf(await run(node, people(2))).message).toContain('[row 1]');
		expect(bodies).toEqual([]);
	});

	it.each([
		['removes', 'remove'],
		['counts', 'count'],
	])(
		"places the calls if n8n's database fails for a moment while it %s texts, because none was placed before",
		async (_what, failing) => {
			const bodies = acceptUpTo(3);
			let failures = 1;
			harness.store.beforeCall = (call) => {
				if (call.startsWith(failing) && failures-- > 0) throw new Error('database is locked');
			};
			const node = harness.placeCallNode(perItem, CONTINUE);
			const items = output(await run(node, people(3)), 'Node');
			expect(items.map(({ json }) => json.error)).toEqual([undefined, undefined, undefined]);
			expect(bodies).toHaveLength(3);
		},
	);

	it('calls the same person on each level if the workflow starts itself, and nobody again', async () => {
		const node = harness.placeCallNode(perItem);
		acceptCalls(2);
		// The first level, as long as it waits for the sub-workflow.
		const begun = await kill(node, people(1));
		expect(records(await run(node, people(1)))).toMatchObject([{ call_id: `call-${phone(0)}-2` }]);
		parent.retry();
		const again = acceptUpTo(2);
		expect(faultOf(await retry(begun, node)).message).toContain(phone(0));
		expect(faultOf(await run(node, people(1))).message).toContain(phone(0));
		expect(again).toEqual([]);
	});
});

test("a tool of an agent run doesn't say outside the calling hours that the call it placed wasn't", async () => {
	const node = harness.placeCallNode(withHours);
	/** In an attempt of the execution, of which n8n has stored nothing. */
	const request = async (mode: WorkflowExecuteMode): Promise<IDataObject> => {
		const data = createRunExecutionData({
			executionData: {
				runtimeData: { version: 1, establishedAt: Date.parse(NOON), source: 'trigger' },
			},
		});
		return await engineTool(node, { data, mode })();
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

describe('a person who may have been called is not called by another Place Call', () => {
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const to = (node: string) => ({ main: [[{ node, type: 'main' as const, index: 0 }]] });
	const call = (name: string) => harness.placeCallNode(perItem, { name, id: name, ...CONTINUE });
	const both = () =>
		makeWorkflow([start, call('Node'), call('Second')], { Start: to('Node'), Node: to('Second') });
	const UNKNOWN = { details: { outcome: 'unknown' } };

	it('if n8n was killed during the first one', async () => {
		const bodies = acceptUpTo(2);
		const { workflow } = oneNodeWorkflow(call('Node'));
		const begun = await runKilled(workflow, start, itemsOf(people(1)), clock.now());
		const run = await resume(both(), storedCopy(begun), 'retry');
		expect(output(run, 'Second')).toMatchObject([{ json: UNKNOWN }]);
		expect(bodies.map(phoneOf)).toEqual([phone(0)]);
	});

	it('if the response had the ID of another call', async () => {
		const phones: unknown[] = [];
		callsEndpoint()
			.optionally()
			.times(4)
			.reply((_uri, body) => {
				phones.push(phoneOf(body));
				return [200, { success: true, data: { call_id: 'same' } }];
			});
		const run = await runWorkflow(both(), start, itemsOf(people(2)));
		expect(output(run, 'Second')).toMatchObject([{ json: { placed: true } }, { json: UNKNOWN }]);
		expect(phones).toEqual([phone(0), phone(1), phone(0)]);
	});
});
