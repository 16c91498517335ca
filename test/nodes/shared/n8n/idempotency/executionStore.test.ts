import { createRunExecutionData, type IRunExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import {
	ExecutionStore,
	clearRun,
} from '../../../../../nodes/shared/n8n/idempotency/executionStore';
import {
	engineHarness,
	executeContext,
	makeNode,
	mcpContext,
	storedCopy,
} from '../../../../engine';

const harness = engineHarness();

const anExecution = () => createRunExecutionData({ executionData: {} });

type Done = { calls: string[] };
const isDone = (stored: unknown): stored is Done =>
	z.object({ calls: z.array(z.string()) }).safeParse(stored).success;

const contextIn = (data: IRunExecutionData, { run = 0, node: name = 'Node' } = {}) =>
	executeContext(makeNode({ type: 'test.sink', name }), [{ json: {} }], { data, run });

const memoryIn = (
	data: IRunExecutionData,
	place: { run?: number; node?: string; record?: string } = {},
) => new ExecutionStore(contextIn(data, place), place.record ?? 'done', isDone);

test('a further try of the same run finds what was written', () => {
	const data = anExecution();
	expect(memoryIn(data).read()).toBeUndefined();
	memoryIn(data).write({ calls: ['a'] });
	expect(memoryIn(data).read()).toEqual({ calls: ['a'] });
});

test('an execution read back from the database finds it, changes after the writing included', () => {
	const data = anExecution();
	const record = { calls: ['a'] };
	memoryIn(data).write(record);
	record.calls.push('b');
	expect(memoryIn(storedCopy(data)).read()).toEqual({ calls: ['a', 'b'] });
});

test('another run of a loop, another node and another record have their own', () => {
	const data = anExecution();
	memoryIn(data).write({ calls: ['a'] });
	expect(memoryIn(data, { run: 1 }).read()).toBeUndefined();
	expect(memoryIn(data, { node: 'Other' }).read()).toBeUndefined();
	expect(memoryIn(data, { record: 'push' }).read()).toBeUndefined();
});

test('a run that ended well leaves nothing behind, and takes nothing of another run along', () => {
	const data = anExecution();
	memoryIn(data).write({ calls: ['a'] });
	memoryIn(data, { record: 'push' }).write({ calls: ['b'] });
	memoryIn(data, { run: 1 }).write({ calls: ['c'] });
	clearRun(contextIn(data));
	expect(memoryIn(data).read()).toBeUndefined();
	expect(memoryIn(data, { record: 'push' }).read()).toBeUndefined();
	expect(memoryIn(data, { run: 1 }).read()).toEqual({ calls: ['c'] });
});

test('a record of the whole execution is there in each run of a loop, and stays', () => {
	const data = anExecution();
	const memoryOf = (run: number) =>
		new ExecutionStore(contextIn(data, { run }), 'done', isDone, 'node', 'execution');
	memoryOf(0).write({ calls: ['a'] });
	clearRun(contextIn(data));
	expect(memoryOf(1).read()).toEqual({ calls: ['a'] });
	expect(memoryIn(data, { run: 1 }).read()).toBeUndefined();
});

test('a record that cannot be read stops the node instead of passing for nothing done', () => {
	const data = anExecution();
	memoryIn(data).write({ calls: ['a'] });
	const damaged = storedCopy(data);
	const kept = JSON.stringify(damaged.executionData?.contextData).replace('["a"]', '7');
	Object.assign(damaged.executionData ?? {}, { contextData: JSON.parse(kept) });
	expect(() => memoryIn(damaged).read()).toThrow('cannot be read, so nothing was sent');
});

describe('in a session of an MCP client', () => {
	const memoryOf = (node: string, place: 'node' | 'workflow', session = 'one') => {
		const tool = harness.node('placeCall', { id: node, name: node });
		return new ExecutionStore(
			mcpContext(harness.credentials, tool, session),
			'done',
			isDone,
			place,
		);
	};

	test('each node has its own record, and all of a workflow one in common', () => {
		memoryOf('a', 'node').write({ calls: ['a'] });
		memoryOf('a', 'workflow').write({ calls: ['all'] });
		expect(memoryOf('a', 'node').read()).toEqual({ calls: ['a'] });
		expect(memoryOf('b', 'node').read()).toBeUndefined();
		expect(memoryOf('b', 'workflow').read()).toEqual({ calls: ['all'] });
	});

	test('another session has others', () => {
		memoryOf('c', 'workflow').write({ calls: ['c'] });
		expect(memoryOf('c', 'workflow', 'two').read()).toBeUndefined();
	});
});
