import { createRunExecutionData, type IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { ExecutionStore, clearRun } from '../../../../../nodes/shared/n8n/once/executionStore';
import { engineHarness, executeContext, makeNode, mcpContext } from '../../../../engine';

const harness = engineHarness();

const anExecution = () => createRunExecutionData({ executionData: {} });

type Done = { calls: string[] };
const isDone = (stored: unknown): stored is Done =>
	z.object({ calls: z.array(z.string()) }).safeParse(stored).success;

const contextIn = (data: IRunExecutionData, { run = 0, node: name = 'Node' } = {}) =>
	executeContext(makeNode({ type: 'test.sink', name }), [{ json: {} }], { data, run });

const storeIn = (
	data: IRunExecutionData,
	scope: { run?: number; node?: string; record?: string } = {},
) => new ExecutionStore(contextIn(data, scope), scope.record ?? 'done', isDone);

test('another run of a loop, another node and another record have their own', () => {
	const data = anExecution();
	storeIn(data).write({ calls: ['a'] });
	expect(storeIn(data, { run: 1 }).read()).toBeUndefined();
	expect(storeIn(data, { node: 'Other' }).read()).toBeUndefined();
	expect(storeIn(data, { record: 'push' }).read()).toBeUndefined();
});

test('a successful run removes its own records and keeps those of other runs', () => {
	const data = anExecution();
	storeIn(data).write({ calls: ['a'] });
	storeIn(data, { record: 'push' }).write({ calls: ['b'] });
	storeIn(data, { run: 1 }).write({ calls: ['c'] });
	clearRun(contextIn(data));
	expect(storeIn(data).read()).toBeUndefined();
	expect(storeIn(data, { record: 'push' }).read()).toBeUndefined();
	expect(storeIn(data, { run: 1 }).read()).toEqual({ calls: ['c'] });
});

test('a record of the whole execution is available in each run of a loop, and stays', () => {
	const data = anExecution();
	const storeOf = (run: number) =>
		new ExecutionStore(contextIn(data, { run }), 'done', isDone, 'node', 'execution');
	storeOf(0).write({ calls: ['a'] });
	clearRun(contextIn(data));
	expect(storeOf(1).read()).toEqual({ calls: ['a'] });
	expect(storeIn(data, { run: 1 }).read()).toBeUndefined();
});

describe('in a session of an MCP client', () => {
	const storeOf = (node: string, scope: 'node' | 'workflow', session = 'one') => {
		const tool = harness.node('placeCall', { id: node, name: node });
		return new ExecutionStore(
			mcpContext(harness.credentials, tool, session),
			'done',
			isDone,
			scope,
		);
	};

	test('each node has its own record, and the nodes of a workflow share one', () => {
		storeOf('a', 'node').write({ calls: ['a'] });
		storeOf('a', 'workflow').write({ calls: ['all'] });
		expect(storeOf('a', 'node').read()).toEqual({ calls: ['a'] });
		expect(storeOf('b', 'node').read()).toBeUndefined();
		expect(storeOf('b', 'workflow').read()).toEqual({ calls: ['all'] });
	});

	test('another session has other records', () => {
		storeOf('c', 'workflow').write({ calls: ['c'] });
		expect(storeOf('c', 'workflow', 'two').read()).toBeUndefined();
	});
});
