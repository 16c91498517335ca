import { createRunExecutionData, type IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { clearRun, openRecord } from '../../../../../nodes/shared/n8n/once/executionStore';
import { engineHarness, executeContext, makeNode, mcpContext } from '../../../../engine';

const harness = engineHarness();

const anExecution = () => createRunExecutionData({ executionData: {} });

type Done = { calls?: string[] };
const isDone = (stored: unknown): stored is Done =>
	z.object({ calls: z.array(z.string()).optional() }).safeParse(stored).success;

const contextIn = (data: IRunExecutionData, { run = 0, node: name = 'Node' } = {}) =>
	executeContext(makeNode({ type: 'test.sink', name }), [{ json: {} }], { data, run });

const recordIn = (
	data: IRunExecutionData,
	scope: { run?: number; node?: string; record?: string } = {},
) => openRecord(contextIn(data, scope), scope.record ?? 'done', isDone, {});

test('another run of a loop, another node and another record have their own', () => {
	const data = anExecution();
	recordIn(data).calls = ['a'];
	expect(recordIn(data)).toEqual({ calls: ['a'] });
	expect(recordIn(data, { run: 1 })).toEqual({});
	expect(recordIn(data, { node: 'Other' })).toEqual({});
	expect(recordIn(data, { record: 'push' })).toEqual({});
});

test('a successful run removes its own records and keeps those of other runs', () => {
	const data = anExecution();
	recordIn(data).calls = ['a'];
	recordIn(data, { record: 'push' }).calls = ['b'];
	recordIn(data, { run: 1 }).calls = ['c'];
	clearRun(contextIn(data));
	expect(recordIn(data)).toEqual({});
	expect(recordIn(data, { record: 'push' })).toEqual({});
	expect(recordIn(data, { run: 1 })).toEqual({ calls: ['c'] });
});

test('a record of the whole execution is available in each run of a loop, and stays', () => {
	const data = anExecution();
	const recordOf = (run: number) =>
		openRecord(contextIn(data, { run }), 'done', isDone, {}, { lifetime: 'execution' });
	recordOf(0).calls = ['a'];
	clearRun(contextIn(data));
	expect(recordOf(1)).toEqual({ calls: ['a'] });
	expect(recordIn(data, { run: 1 })).toEqual({});
});

test('in a session of an MCP client, the nodes of a workflow share one', () => {
	const recordOf = (node: string, session: string) => {
		const tool = harness.node('placeCall', { id: node, name: node });
		return openRecord(mcpContext(tool, session), 'done', isDone, {});
	};
	recordOf('a', 'one').calls = ['all'];
	expect(recordOf('b', 'one')).toEqual({ calls: ['all'] });
	expect(recordOf('a', 'other')).toEqual({});
});
