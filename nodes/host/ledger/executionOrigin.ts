import type { IExecuteFunctions, IExecutionContext } from 'n8n-workflow';
import { BoundedMap } from '../../core/values/boundedMap';
import { callerOf } from '../caller/caller';

/**
 * Identifies an execution and all its retries, and a sub-execution and all retries of its parent. n8n stores the start
 * time of the first one before it runs a node, and passes it on to the others (n8n 2.20 or later).
 */
type ExecutionOrigin = {
	/** Epoch milliseconds. */
	startedAt: number;
	/** The execution itself, or the topmost parent of a sub-execution. If a sub-execution is retried alone, the retry. */
	executionId: string;
	isSubExecution: boolean;
};

const MAX_PARENTS = 500;

/** By parent execution, because all its sub-executions have the same origin. */
const originsByParent = new BoundedMap<ExecutionOrigin>(MAX_PARENTS);

/**
 * Undefined if the execution can't be retried: MCP clients, and n8n before 2.20.
 *
 * @throws if n8n can't read the execution that started this one
 */
export async function originOf(context: IExecuteFunctions): Promise<ExecutionOrigin | undefined> {
	const execution = context.getExecutionContext();
	if (execution?.establishedAt === undefined || callerOf(context).mcpSession !== undefined)
		return undefined;
	const executionId = context.getExecutionId();
	const own = { startedAt: execution.establishedAt, executionId, isSubExecution: false };
	const parentId = parentOf(execution);
	if (parentId === undefined) return own;
	const origin = originsByParent.get(parentId) ?? (await originOfParent(context, parentId));
	if (origin === undefined) return own;
	originsByParent.set(parentId, origin);
	return context.getMode() === 'retry' ? { ...origin, executionId } : origin;
}

/** Undefined if n8n has no start time of it or of one of its parents. */
async function originOfParent(
	context: IExecuteFunctions,
	executionId: string,
): Promise<ExecutionOrigin | undefined> {
	const data = await context.getExecutionDataById(executionId);
	const execution = data?.executionData?.runtimeData;
	if (execution?.establishedAt === undefined) return undefined;
	const parentId = parentOf(execution);
	if (parentId !== undefined) return await originOfParent(context, parentId);
	return { startedAt: execution.establishedAt, executionId, isSubExecution: true };
}

/** An error workflow names the failed execution as its parent, but isn't part of it. */
function parentOf({ parentExecutionId, source }: IExecutionContext): string | undefined {
	return source === 'error' ? undefined : parentExecutionId;
}
