import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	type IExecutionContext,
	type INode,
	type IRun,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	makeAdditionalData,
	oneNodeWorkflow,
	output,
	ParentExecution,
	runDataOf,
	skipSleeps,
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
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();

let itIs: (iso: string) => void;
let parent: ParentExecution;
beforeEach(() => {
	itIs = skipSleeps(Date.parse(NOON));
	parent = new ParentExecution(harness.credentials, Date.parse(NOON));
});
afterEach(() => jest.restoreAllMocks());

const run = async (node: INode, rows: Array<{ phone: string }>): Promise<IRun> =>
	await parent.run(node, itemsOf(rows));

/** Two people with one number. */
const FIRST = [{ phone: phone(0), name: 'First' }];
const SECOND = [{ phone: phone(0), name: 'Second' }];

describe('a sub-workflow whose parent is retried after n8n was killed', () => {
	it("doesn't say outside the calling hours that a call that was placed wasn't", async () => {
		acceptCalls(1);
		const hours = { callingHours: { hours: HOURS }, outsideCallingHours: 'notPlaced' };
		const node = harness.placeCallNode({ ...perItem, options: hours }, CONTINUE);
		expect(output(await run(node, people(1)), 'Node')).toHaveLength(1);
		parent.retry();
		itIs(NIGHT);
		const [item] = output(await run(node, people(1)), 'Node');
		expect(item?.json).not.toMatchObject({ placed: false });
		expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
	});

	it("doesn't say after the scheduled time that nothing was sent", async () => {
		acceptCalls(1);
		const scheduled = { when: 'dateTime', scheduledAt: '={{ "2026-11-20T13:00:00+05:30" }}' };
		const node = harness.placeCallNode({ ...perItem, ...scheduled });
		await run(node, people(1));
		parent.retry();
		itIs(NIGHT);
		expect(faultOf(await run(node, people(1))).description).not.toContain('Nothing was sent');
	});

	it('lists every started item, and sends nothing', async () => {
		rejectCall();
		acceptCalls(2);
		const node = harness.placeCallNode(perItem);
		await run({ ...node, ...CONTINUE }, people(3));
		parent.retry();
		const bodies = acceptUpTo(1);
		const { message, description } = faultOf(await run(node, people(3)));
		for (const index of [1, 2]) expect(`${message} ${description}`).toContain(phone(index));
		expect(bodies).toEqual([]);
	});

	it('calls nobody again if a value changed, and an earlier call to the person was rejected', async () => {
		const node = harness.placeCallNode(
			{
				...perItem,
				personName: '={{ $json.name }}',
				// Differs in each execution.
				developerSettings: { additionalBodyFields: '={ "sent_by": "{{ $execution.id }}" }' },
			},
			CONTINUE,
		);
		const rows = ['A', 'B'].map((name) => ({ phone: phone(0), name }));
		rejectCall();
		const bodies = acceptCalls(1);
		await run(node, rows);
		expect(bodies).toMatchObject([{ person_name: 'B' }]);
		parent.retry();
		const again = acceptUpTo(2);
		await run(node, rows);
		expect(again.map((body) => body.person_name)).not.toContain('B');
	});

	it('calls a person no more, also in a sub-execution that had not begun', async () => {
		const node = harness.placeCallNode({ ...perItem, personName: '={{ $json.name }}' }, CONTINUE);
		acceptCalls(1);
		await run(node, FIRST);
		parent.retry();
		const again = acceptUpTo(2);
		for (const rows of [FIRST, SECOND]) {
			const [item] = output(await run(node, rows), 'Node');
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
});

describe('a sub-workflow', () => {
	it("doesn't promise that a retry skips its calls, because a retry of the parent stops at the first one", async () => {
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode(perItem);
		const { description } = faultOf(await run(node, people(2)));
		expect(description).toContain('1 call was already placed in this run (item 0)');
		expect(description).not.toContain('A retry of this execution skips it');
		parent.retry();
		const bodies = acceptUpTo(1);
		expect(faultOf(await run(node, people(2))).message).toContain('[item 0]');
		expect(bodies).toEqual([]);
	});

	it("with Retry On Fail returns the call that the first attempt placed, also if n8n's database fails in the second one", async () => {
		callsEndpoint().reply(400, { success: false, error: 'no' });
		const placed = acceptCalls(1);
		let failures = 0;
		harness.store.beforeCall = () => {
			if (placed.length === 0) return;
			failures++;
			throw new Error('database is locked');
		};
		const node = harness.placeCallNode(perItem, {
			...CONTINUE,
			retryOnFail: true,
			maxTries: 2,
			waitBetweenTries: 500,
		});
		const items = output(await run(node, people(2)), 'Node');
		expect(items.map(({ json }) => json)).toMatchObject([
			{ error: expect.any(String) },
			{ call_id: `call-${phone(1)}` },
		]);
		expect(failures).toBeGreaterThan(0);
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
});

describe('a workflow that starts itself as a sub-workflow', () => {
	/** The first level, as long as it waits for the sub-workflow. */
	const firstLevel = async (node: INode) => await harness.kill(node, people(1));

	it('calls the same person on each level', async () => {
		const node = harness.placeCallNode(perItem);
		const bodies = acceptCalls(2);
		await firstLevel(node);
		const [item] = output(await run(node, people(1)), 'Node');
		expect(item?.json).toMatchObject({ call_id: `call-${phone(0)}-2` });
		expect(bodies).toHaveLength(2);
	});

	it('calls nobody again on any level if n8n was killed', async () => {
		const node = harness.placeCallNode(perItem);
		acceptCalls(2);
		const begun = await firstLevel(node);
		await run(node, people(1));
		parent.retry();
		const again = acceptUpTo(2);
		expect(faultOf(await harness.retryAfterKill(begun, node)).message).toContain(phone(0));
		expect(faultOf(await run(node, people(1))).message).toContain(phone(0));
		expect(again).toEqual([]);
	});
});

test('after n8n was killed, a retry of the sub-execution itself calls nobody again', async () => {
	const ofParent: IExecutionContext = {
		version: 1,
		establishedAt: Date.parse(NOON),
		source: 'trigger',
	};
	const { workflow, start } = oneNodeWorkflow(harness.placeCallNode(perItem));
	/** n8n stores the start data of a sub-execution, and a retry continues from it. */
	const attempt = async (mode: WorkflowExecuteMode): Promise<IRun> => {
		const data = runDataOf(start, itemsOf(people(1)));
		if (data.executionData === undefined) throw new Error('nothing to execute');
		data.executionData.runtimeData = { ...ofParent, parentExecutionId: 'parent of a retried one' };
		const dataOfParent = createRunExecutionData({ executionData: { runtimeData: ofParent } });
		const additionalData = makeAdditionalData(harness.credentials, mode, {
			getRunExecutionData: async () => await Promise.resolve(dataOfParent),
		});
		return await new WorkflowExecute(additionalData, mode, data).processRunExecutionData(workflow);
	};
	acceptCalls(1);
	await attempt('integrated');
	const again = acceptUpTo(1);
	await attempt('retry');
	expect(again).toEqual([]);
});
