import type { IExecuteFunctions, IExecutionContext } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { BoundedMap } from '../../boundedMap';
import { mcpSessionOf } from '../tools/toolRun';

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
const originsByParent = new BoundedMap<ExecutionOrigin>(MAX_PARENTS);

/**
 * Undefined where there is nothing to retry: MCP clients, and n8n before 2.20.
 *
 * @throws NotSent if n8n can't read the execution that started this one
 */
export async function originOf(context: IExecuteFunctions): Promise<ExecutionOrigin | undefined> {
	if (mcpSessionOf(context) !== undefined) return undefined;
	const execution = context.getExecutionContext();
	if (execution?.establishedAt === undefined) return undefined;
	const { establishedAt } = execution;
	const parentExecutionId = parentOf(execution);
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

/** An error workflow runs for each attempt that fails: n8n says which one it is for, but it isn't a part of that. */
function parentOf({ parentExecutionId, source }: IExecutionContext): string | undefined {
	return source === 'error' ? undefined : parentExecutionId;
}

function parentUnreadable(error: unknown): NotSent {
	const said = error instanceof Error ? error.message : String(error);
	return new NotSent(
		"n8n can't read the execution that started this sub-workflow, so nothing was sent",
		{
			onScreen:
				"Try again. If that doesn't help, ask your n8n administrator to check the database of n8n.",
			forModel: 'Try again.',
		},
		said,
		false,
		'n8n',
	);
}
