/** What a retry sends, and what n8n's database then has. Claims are written before a request, results when the execution ends. */
import { ExecuteContext } from 'n8n-core';
import {
	createRunExecutionData,
	type IExecuteFunctions,
	type IExecutionContext,
	type INode,
	type INodeExecutionData,
	type IRunExecutionData,
	type RelatedExecution,
} from 'n8n-workflow';
import range from 'lodash/range';
import sum from 'lodash/sum';
import nock from 'nock';
import { CLAIM_LIMITS } from '../../../../nodes/core/claims/claims';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import { hashOf } from '../../../../nodes/core/values/hash';
import { sessionKey } from '../../../../nodes/core/chat/parseChatFields';
import { clock } from '../../../../nodes/host/clock';
import { callerOf } from '../../../../nodes/host/caller/caller';
import { RunResult } from '../../../../nodes/host/execution/runResult';
import { NodeParameters } from '../../../../nodes/host/forms/nodeParameters';
import { createAccountClient } from '../../../../nodes/host/http/accountClient';
import { openClaims } from '../../../../nodes/host/claims/openClaims';
import { DATABASE_DELAYS_MS, openTextList } from '../../../../nodes/host/claims/openTextList';
import { deliverEachItem } from '../../../../nodes/host/run/deliverItems';
import {
	executeContext,
	makeAdditionalData,
	makeNode,
	makeWorkflow,
	oneNodeWorkflow,
	ParentExecution,
	records,
	resume,
	runDataOf,
	runWorkflow,
	service,
	skipSleeps,
	startExecution,
	storedCopy,
} from '../../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	itemsOf,
	people,
	perItem,
	placeCallHarness,
} from '../../PlaceCall/placeCallHarness';

const harness = placeCallHarness();
const { store } = harness;
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());

// A process remembers the claims of each node, so each test uses another one.
let nodes = 0;
beforeEach(() => nodes++);
const callNode = (over: Partial<INode> = {}, parameters = {}) =>
	harness.placeCallNode({ ...perItem, ...parameters }, { id: `call-${nodes}`, ...over });
const added = () => store.calls.filter((call) => call.startsWith('add'));
const runOf = (context: IExecuteFunctions) => ({ context, caller: callerOf(context) });
const UNKNOWN = { details: { outcome: 'unknown' } };

describe('after n8n was killed', () => {
	test.each([
		['the same person is unknown', 1, 0],
		['another person is called', 2, 1],
	])('another execution that started in the same millisecond: %s', async (_what, calls, person) => {
		const bodies = acceptCalls(calls);
		await harness.kill(callNode(), people(1));
		await harness.kill(callNode(), people(2).slice(person, person + 1));
		expect(bodies).toHaveLength(calls);
	});
});

test('a retry that only reads has no claims', async () => {
	const parameters = { callId: 'a', options: { concurrency: 'ten' } };
	const read = harness.node('getCall', { parameters });
	const begun = await harness.kill(read, []);
	const { message } = faultOf(await harness.retryAfterKill(begun, read, [{}]));
	expect(message).toContain("'Concurrency'");
	expect(store.calls).toEqual([]);
});

test('the claims of an execution are removed when it has succeeded, and those of a retry stay for the next one', async () => {
	acceptCalls(1);
	await harness.run(callNode(), people(1));
	expect([added(), store.size]).toEqual([['add 2'], 0]);

	const begun = await harness.kill(callNode(), []);
	callsEndpoint().reply(422, { success: false, error: 'no' });
	faultOf(await harness.retryAfterKill(begun, callNode(), people(1)));
	expect(store.size).toBe(0);
	acceptCalls(1);
	await harness.retryAfterKill(begun, callNode(), people(1));
	expect(store.size).toBe(2);
	const bodies = acceptUpTo(1);
	const again = await harness.retryAfterKill(begun, callNode(CONTINUE), people(1));
	expect(records(again)).toMatchObject([UNKNOWN]);
	expect(bodies).toEqual([]);
});

test('the claims of a stopped execution stay, because n8n stores it without its results', async () => {
	const { workflow, start } = oneNodeWorkflow(callNode(CONTINUE));
	const data = runDataOf(start, itemsOf(people(1)));
	if (data.executionData === undefined) throw new Error('nothing to execute');
	data.executionData.runtimeData = { version: 1, establishedAt: clock.now(), source: 'trigger' };
	const begun = storedCopy(data);
	const execution = startExecution(workflow, data);
	callsEndpoint().reply(200, () => {
		execution.cancel();
		return { success: true, data: { call_id: 'a' } };
	});
	await execution;
	const bodies = acceptUpTo(1);
	expect(records(await resume(workflow, begun, 'retry'))).toMatchObject([UNKNOWN]);
	expect(bodies).toEqual([]);
});

test('the claims of each batch are written together', async () => {
	acceptCalls(60);
	await harness.run(callNode(), people(60));
	expect(added()).toEqual(['add 51', 'add 11']);
});

test('a request waits while it cannot be claimed, up to 68 seconds, and is then sent', async () => {
	acceptCalls(1);
	const startedAt = clock.elapsed();
	let failures = DATABASE_DELAYS_MS.length;
	store.beforeCall = (call) => {
		if (call.startsWith('add') && failures-- > 0) throw new Error('database is locked');
	};
	expect(records(await harness.run(callNode(), people(1)))).toMatchObject([{ placed: true }]);
	expect(clock.elapsed() - startedAt).toBe(sum(DATABASE_DELAYS_MS));
	expect(sum(DATABASE_DELAYS_MS)).toBe(68_000);
});

test("if n8n's database reports an error after it stored a claim, nothing is sent, and the outcome is unknown", async () => {
	const bodies = acceptUpTo(1);
	store.failAfterNextAdd();
	expect(records(await harness.run(callNode(CONTINUE), people(1)))).toMatchObject([UNKNOWN]);
	expect(bodies).toEqual([]);
});

test('an n8n version that does not report the end of an execution keeps the claims', async () => {
	acceptCalls(1);
	const { prototype } = ExecuteContext;
	jest.spyOn(prototype, 'getExecutionContext').mockReturnValue(startedAt(1_000));
	Object.defineProperty(prototype, 'onExecutionFinish', { value: undefined, configurable: true });
	await harness.run(callNode(), people(1));
	Reflect.deleteProperty(prototype, 'onExecutionFinish');
	expect(store.size).toBe(2);
});

test('sub-executions of one parent share its claims, so that each of them writes once, and a retry of the parent finds them', async () => {
	acceptCalls(5);
	const parent = new ParentExecution();
	const node = callNode(CONTINUE);
	for (const row of people(5)) await parent.run(node, itemsOf([row]));
	expect(added()).toEqual(Array(5).fill('add 2'));
	parent.retry();
	const bodies = acceptUpTo(1);
	expect(records(await parent.run(node, itemsOf(people(1))))).toMatchObject([UNKNOWN]);
	expect(bodies).toEqual([]);
});

describe("n8n's list of claims", () => {
	const contextOf = (node: INode, executionId = 'e1') =>
		executeContext(node, itemsOf([{}]), {
			additionalData: makeAdditionalData('trigger', { executionId }),
			data: dataWith(startedAt(1_000)),
		});

	const listOf = (context: IExecuteFunctions) =>
		openTextList(runOf(context), 'node', { message: '', description: '' });

	beforeEach(() => jest.replaceProperty(CLAIM_LIMITS, 'others', 100));

	test('is limited for interrupted executions', async () => {
		const node = callNode();
		const old = range(150).map((nth) => `old ${nth}`);
		await listOf(contextOf(node)).add(old);
		acceptCalls(1);
		await harness.kill(node, people(1));
		expect(store.size).toBe(102);
	});

	test('keeps the claims of a running execution, also if another one adds some', async () => {
		const node = callNode();
		const claims = await openClaims(runOf(contextOf(node)));
		await claims.add(range(110).map(String));
		acceptCalls(1);
		await harness.kill(node, people(1));
		expect(store.size).toBe(113);
	});

	test.each([
		[0, 103, [103]],
		[100, 103, [103]],
		// n8n compares each text with the whole list: 20 million comparisons in a batch.
		[250_000, 120, [76, 44]],
		[500_000, 120, [40, 40, 40]],
		// The largest list has 500,000.
		[500_000, 40, [40]],
		[5, 0, []],
	])('of %i texts loses %i in parts of %j', async (size, count, parts) => {
		const context = contextOf(callNode());
		const removed: unknown[][] = [];
		const counted = jest.spyOn(context.helpers, 'getProcessedDataCount').mockResolvedValue(size);
		jest.spyOn(context.helpers, 'removeProcessed').mockImplementation(async (texts) => {
			removed.push(texts);
			await Promise.resolve();
		});
		const texts = range(count).map((nth) => `text ${nth}`);
		await listOf(context).remove(texts);
		expect(removed.map(({ length }) => length)).toEqual(parts);
		expect(removed.flat()).toEqual(texts);
		// n8n reads the whole list to count it, which a few texts don't need.
		expect(counted).toHaveBeenCalledTimes(count > 40 ? 1 : 0);
	});
});

describe('the results of a node run', () => {
	const to = (...names: string[]) => ({
		main: [names.map((node) => ({ node, type: 'main' as const, index: 0 }))],
	});
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const sessionId = '0f8fad5b-d9cb-469f-a165-70867728950e';
	const context = (name: string) =>
		harness.node('injectContext', { name, id: name, parameters: { sessionId, context: 'VIP' } });
	const respond = (status: number) =>
		service()
			.post(/inject_context$/)
			.reply(status, { success: status === 200, error: 'no', data: { session_id: sessionId } });

	/** The record of an item. */
	const done = (id: string, result: unknown = []) => ({
		[`${id} ${hashOf(['context', sessionKey(sessionId)])}`]: { id, done: result },
	});

	test("belong to this run: the node's next run and other nodes send their own, and a success removes them", async () => {
		const workflow = makeWorkflow([start, context('Node'), context('Other')], {
			Start: to('Node', 'Node', 'Other'),
		});
		for (let requests = 0; requests < 3; requests++) respond(200);
		const { data } = await runWorkflow(workflow, start, [{ json: {} }]);
		expect(data.resultData.error).toBeUndefined();
		expect(data.executionData?.contextData).toEqual({
			'node:Node': { voiceChatAgent: { sent: { ...done('0#0'), ...done('1#0') } } },
			'node:Other': { voiceChatAgent: { sent: done('0#0') } },
		});
	});

	test("belong to this run in a retry, too: a later run to the same session doesn't count as an earlier attempt", async () => {
		const workflow = makeWorkflow([start, context('Node')], { Start: to('Node', 'Node') });
		const data = runDataOf(start, [{ json: {} }]);
		if (data.executionData === undefined) throw new Error('nothing to execute');
		data.executionData.runtimeData = startedAt(clock.now());
		for (let requests = 0; requests < 2; requests++) respond(200);
		const { data: retried } = await resume(workflow, data, 'retry');
		expect(retried.resultData.error).toBeUndefined();
		expect(nock.isDone()).toBe(true);
	});

	test('stay after a failure, without those of earlier runs', async () => {
		const workflow = makeWorkflow([start, context('Node')], { Start: to('Node', 'Node') });
		for (const status of [200, 200, 200, 422]) respond(status);
		const { data } = await runWorkflow(workflow, start, [{ json: {} }, { json: {} }]);
		expect(data.executionData?.contextData).toEqual({
			'node:Node': {
				voiceChatAgent: {
					sent: { ...done('0#0'), ...done('0#1'), ...done('1#0', [expect.anything()]) },
				},
			},
		});
	});
});

/** The context of an execution. */
function startedAt(establishedAt: number, parentExecutionId?: string): IExecutionContext {
	const ofParent = parentExecutionId !== undefined && { parentExecutionId };
	return { version: 1, establishedAt, source: 'trigger', ...ofParent };
}

function dataWith(
	runtimeData?: IExecutionContext,
	parentExecution?: RelatedExecution,
): IRunExecutionData {
	return createRunExecutionData({
		executionData: { ...(runtimeData && { runtimeData }) },
		...(parentExecution && { parentExecution }),
	});
}

describe('the name of an execution, by which its claims are recognized', () => {
	type Others = { [executionId: string]: IExecutionContext | undefined };

	/**
	 * A node in an execution with this context, while n8n has stored these others.
	 *
	 * @param parents what n8n has of the parent of an execution with it
	 */
	function contextIn(
		executionId: string,
		own: IExecutionContext,
		others: Others = {},
		parents: { [executionId: string]: RelatedExecution } = {},
	) {
		const reads: string[] = [];
		const additionalData = makeAdditionalData('trigger', {
			executionId,
			getRunExecutionData: async (id) => {
				reads.push(id);
				if (id === '__UNKNOWN__') throw new Error('n8n has no such execution');
				return await Promise.resolve(id in others ? dataWith(others[id], parents[id]) : undefined);
			},
		});
		const data = dataWith(own, parents[executionId]);
		return { context: executeContext(callNode(), itemsOf([{}]), { additionalData, data }), reads };
	}
	/** With which the claims of the node begin. */
	async function nameIn(context: IExecuteFunctions): Promise<unknown> {
		const write = jest.spyOn(context.helpers, 'checkProcessedAndRecord');
		await (await openClaims(runOf(context))).add(['one']);
		return String(write.mock.calls[0]?.[0][0]).replace(/ any$/, '');
	}
	const ofError: IExecutionContext = { ...startedAt(2_000, 'p'), source: 'error' };

	test.each<[string, string, IExecutionContext, Others, name: string]>([
		['a sub-execution whose parent is not stored', 'e', startedAt(5_000, 'gone'), {}, '5000'],
		[
			'a sub-execution whose parent has no context',
			'e',
			startedAt(5_000, 'gone'),
			{ gone: undefined },
			'5000',
		],
		[
			'an error workflow, which runs again for each attempt that fails,',
			'f',
			ofError,
			{ p: startedAt(1_000) },
			'2000',
		],
		[
			'a workflow that an MCP client uses as a tool,',
			'm',
			startedAt(2_000, '__UNKNOWN__'),
			{},
			'2000',
		],
		[
			'a sub-execution of an error workflow',
			'g',
			startedAt(3_000, 'f2'),
			{ f2: ofError, p: startedAt(1_000) },
			'2000 sub',
		],
	])('of %s', async (_what, id, own, others, name) => {
		expect(await nameIn(contextIn(id, own, others).context)).toBe(name);
	});

	const passedOn = (executionId: string, executionContext: IExecutionContext) => ({
		...{ executionId, workflowId: 'w', executionContext },
	});
	const ofTop = startedAt(1_000);
	const ofSub = startedAt(2_000, 'top');

	test.each<[string, Others, { [executionId: string]: RelatedExecution }, string[]]>([
		['is read', { top: ofTop, sub: ofSub }, {}, ['sub', 'top']],
		[
			'was passed on',
			{ sub: ofSub },
			{ sub: passedOn('top', ofTop), e: passedOn('sub', ofSub) },
			['sub'],
		],
		// n8n stores the start of an execution in the editor only at its end.
		[
			'runs in the editor',
			{ sub: undefined },
			{ sub: passedOn('top', ofTop), e: passedOn('sub', ofSub) },
			['sub'],
		],
	])('of a sub-execution is that of its topmost parent, which %s', async (...one) => {
		const [, others, parents, expected] = one;
		const { context, reads } = contextIn('e', startedAt(3_000, 'sub'), others, parents);
		expect(await nameIn(context)).toBe('1000 sub');
		expect(reads).toEqual(expected);
	});

	test('of a sub-execution of a workflow is passed on, so all its rows need no read', async () => {
		const parents = { e: passedOn('top', ofTop) };
		const { context, reads } = contextIn('e', startedAt(2_000, 'top'), {}, parents);
		expect(await nameIn(context)).toBe('1000 sub');
		expect(reads).toEqual([]);
	});

	test('that n8n cannot read stops the request before it is sent', async () => {
		const { context } = contextIn('h', startedAt(2_000, 'unreadable'));
		jest.spyOn(context, 'getExecutionDataById').mockRejectedValue(new Error('database is locked'));
		await expect(openClaims(runOf(context))).rejects.toMatchObject({
			outcome: 'unknown',
			message: expect.stringContaining("so this attempt didn't send it"),
		});
	});
});

test.each([
	['another item with the same target', [0, undefined], [[1], [0]], [0, 1]],
	['itself', [1, 0], [[0], [1]], [undefined, 1]],
])('an item that is invalid in one attempt only leaves its result to %s', async (...one) => {
	const [, invalid, expected, returned] = one;
	const additionalData = makeAdditionalData('trigger', { executionId: `items ${nodes}` });
	const data = dataWith(startedAt(1_000));
	const context = executeContext(callNode(CONTINUE), itemsOf([{}, {}]), { additionalData, data });
	const account = async () => await createAccountClient(context);
	const nodeRun = runOf(context);
	const parameters = new NodeParameters(nodeRun, []);
	const run = { ...nodeRun, result: new RunResult(context), parameters, account };
	const sent: number[][] = [];
	let items: INodeExecutionData[] = [];
	for (const none of invalid) {
		const sentNow: number[] = [];
		items = await deliverEachItem(run, (index) => {
			if (index === none) throw new InvalidInput('It is invalid', '');
			const send = async () => {
				sentNow.push(index);
				return await Promise.resolve([{ json: { index } }]);
			};
			return { payload: index, target: 'a session', happened: () => '', send };
		});
		sent.push(sentNow);
	}
	expect(sent).toEqual(expected);
	expect(items.map(({ json }) => json.index)).toEqual(returned);
});
