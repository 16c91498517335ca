import type { IExecuteFunctions } from 'n8n-workflow';
import { RecentIds } from '../recentIds';
import { mcpSessionOf } from './toolRun';

/**
 * What an execution has in common with every *Retry* of it, and a sub-execution with its parent's retries: n8n
 * stores the time at which the first of them started before it runs a node, and hands it on (n8n 2.20 or later).
 */
export type ExecutionOrigin = {
	/** Epoch milliseconds. */
	startedAt: number;
	/** The execution itself; of a sub-execution, the one at the top. */
	executionId: string;
	isSubExecution: boolean;
};

const MAX_PARENTS = 500;

/** By parent execution: all its sub-executions have the same origin. */
const originsByParent = new RecentIds<ExecutionOrigin>(MAX_PARENTS);

/** Undefined where there is nothing to retry: MCP clients, and n8n before 2.20. */
export async function originOf(context: IExecuteFunctions): Promise<ExecutionOrigin | undefined> {
	if (mcpSessionOf(context) !== undefined) return undefined;
	const { establishedAt, parentExecutionId } = context.getExecutionContext() ?? {};
	if (establishedAt === undefined) return undefined;
	if (parentExecutionId !== undefined) {
		const known = originsByParent.get(parentExecutionId);
		const origin = known ?? (await originOfParent(context, parentExecutionId));
		if (origin !== undefined) {
			originsByParent.set(parentExecutionId, origin);
			return origin;
		}
	}
	const executionId = context.getExecutionId();
	return { startedAt: establishedAt, executionId, isSubExecution: false };
}

async function originOfParent(
	context: IExecuteFunctions,
	parentId: string,
): Promise<ExecutionOrigin | undefined> {
	let executionId = parentId;
	for (;;) {
		const data = await context.getExecutionDataById(executionId);
		const { establishedAt, parentExecutionId } = data?.executionData?.runtimeData ?? {};
		if (establishedAt === undefined) return undefined;
		if (parentExecutionId === undefined) {
			return { startedAt: establishedAt, executionId, isSubExecution: true };
		}
		executionId = parentExecutionId;
	}
}
