import type { IExecuteFunctions, IExecutionContext } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { BoundedMap } from '../../boundedMap';
import { mcpSessionOf } from '../tools/toolRun';
import { messageOf } from '../../values';

/**
 * Identifies an execution and all its retries, and a sub-execution and all retries of its parent. n8n stores the start
 * time of the first one before it runs a node, and passes it on to the others (n8n 2.20 or later).
 */
export type ExecutionOrigin = {
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
 * @throws NotSent if n8n can't read the execution that started this one
 */
export async function originOf(context: IExecuteFunctions): Promise<ExecutionOrigin | undefined> {
	if (mcpSessionOf(context) !== undefined) return undefined;
	const execution = context.getExecutionContext();
	if (execution?.establishedAt === undefined) return undefined;
	const executionId = context.getExecutionId();
	const own = { startedAt: execution.establishedAt, executionId, isSubExecution: false };
	const parentId = parentOf(execution);
	if (parentId === undefined) return own;
	const origin = originsByParent.get(parentId) ?? (await originOfParent(context, parentId));
	if (origin === undefined) return own;
	originsByParent.set(parentId, origin);
	return context.getMode() === 'retry' ? { ...origin, executionId } : origin;
}

async function originOfParent(
	context: IExecuteFunctions,
	parentId: string,
): Promise<ExecutionOrigin | undefined> {
	let executionId = parentId;
	for (;;) {
		const data = await context.getExecutionDataById(executionId).catch((error: unknown) => {
			throw parentUnreadable(error);
		});
		const execution = data?.executionData?.runtimeData;
		if (execution?.establishedAt === undefined) return undefined;
		const parentExecutionId = parentOf(execution);
		if (parentExecutionId === undefined) {
			return { startedAt: execution.establishedAt, executionId, isSubExecution: true };
		}
		executionId = parentExecutionId;
	}
}

/** An error workflow names the failed execution as its parent, but isn't part of it. */
function parentOf({ parentExecutionId, source }: IExecutionContext): string | undefined {
	return source === 'error' ? undefined : parentExecutionId;
}

function parentUnreadable(error: unknown): NotSent {
	return new NotSent(
		"n8n can't read the execution that started this sub-workflow, so nothing was sent",
		{
			onScreen:
				"Try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
			forModel: 'Try again.',
		},
		{ originalMessage: messageOf(error), isTransient: false, origin: 'n8n' },
	);
}
