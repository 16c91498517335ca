import {
	createRunExecutionData,
	type IExecutionContext,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { originOf } from '../../../../../nodes/shared/n8n/once/executionOrigin';
import { openNotes } from '../../../../../nodes/shared/n8n/once/openNotes';
import { engineHarness, executeContext, makeAdditionalData } from '../../../../engine';

const harness = engineHarness();

const dataWith = (runtimeData?: IExecutionContext): IRunExecutionData =>
	createRunExecutionData({ executionData: { ...(runtimeData && { runtimeData }) } });
const startedAt = (establishedAt: number, parentExecutionId?: string): IExecutionContext => ({
	version: 1,
	establishedAt,
	source: 'trigger',
	...(parentExecutionId !== undefined && { parentExecutionId }),
});

/** A node in an execution with this context, with these other stored executions. */
function contextIn(
	executionId: string,
	runtimeData: IExecutionContext | undefined,
	others: { [executionId: string]: IExecutionContext | undefined } = {},
) {
	const reads: string[] = [];
	const overrides: Partial<IWorkflowExecuteAdditionalData> = {
		executionId,
		getRunExecutionData: async (id) => {
			reads.push(id);
			return await Promise.resolve(id in others ? dataWith(others[id]) : undefined);
		},
	};
	const context = executeContext(harness.node('placeCall'), [{ json: {} }], {
		additionalData: makeAdditionalData('trigger', overrides),
		data: dataWith(runtimeData),
	});
	return { context, reads };
}

test('a sub-execution has the origin of its topmost parent, which is read once', async () => {
	const others = { a: startedAt(1_000), b: startedAt(2_000, 'a') };
	const { context, reads } = contextIn('c', startedAt(3_000, 'b'), others);
	const origin = { startedAt: 1_000, executionId: 'a', isSubExecution: true };
	expect(await originOf(context)).toEqual(origin);
	const other = contextIn('d', startedAt(4_000, 'b'), others);
	expect(await originOf(other.context)).toEqual(origin);
	expect([reads, other.reads]).toEqual([['b', 'a'], []]);
});

test.each([
	['is not stored', {}],
	['has no context', { gone: undefined }],
])('a sub-execution whose parent %s is its own origin', async (_what, others) => {
	const { context } = contextIn('e', startedAt(5_000, 'gone'), others);
	expect(await originOf(context)).toMatchObject({ startedAt: 5_000, executionId: 'e' });
});

test('an error workflow is its own origin, because it runs again for each attempt that fails', async () => {
	const failed = startedAt(1_000);
	const ofError: IExecutionContext = { ...startedAt(2_000, 'p'), source: 'error' };
	const { context } = contextIn('f', ofError, { p: failed });
	expect(await originOf(context)).toEqual({
		startedAt: 2_000,
		executionId: 'f',
		isSubExecution: false,
	});
	const child = contextIn('g', startedAt(3_000, 'f2'), { f2: ofError, p: failed });
	expect(await originOf(child.context)).toMatchObject({ startedAt: 2_000, isSubExecution: true });
});

test('a parent that n8n cannot read stops the request before it is sent', async () => {
	const { context } = contextIn('h', startedAt(2_000, 'unreadable'));
	jest.spyOn(context, 'getExecutionDataById').mockRejectedValue(new Error('database is locked'));
	await expect(openNotes(context)).rejects.toMatchObject({
		outcome: 'not_sent',
		message: expect.stringContaining("so this attempt didn't send it"),
	});
});

test('an n8n version without start times has no origin', async () => {
	const { context } = contextIn('8', undefined);
	expect(await originOf(context)).toBeUndefined();
});
