import { randomUUID } from 'crypto';
import once from 'lodash/once';
import sumBy from 'lodash/sumBy';
import type { IExecuteFunctions, IExecutionContext } from 'n8n-workflow';
import { Claims, ClaimState, maybeSentBefore, type Occasion } from '../../core/claims/claims';
import { explained } from '../../core/service/errors';
import { BoundedMap } from '../../core/values/boundedMap';
import type { CallerRun } from '../caller/caller';
import { clock } from '../clock';
import { isCanceled } from '../execution/cancel';
import { executionDataOf, nodeKey } from '../nodeRun';
import { openTextList, repeatOnList, type StoreUse, useDatabase } from './openTextList';

const USE: StoreUse = {
	message: "n8n can't record the request before sending it, so this attempt didn't send it",
	description:
		"In n8n, try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

/** Executions in this process. Without an older one, its claims stay in n8n's database. */
const MAX_EXECUTIONS = 1_000;

/**
 * What this process knows of the claims of each execution, until that has ended. Sub-executions share that of
 * their parent, whose retry runs all of them again.
 */
const executions = new BoundedMap<{ node: string; state: ClaimState }>(MAX_EXECUTIONS);

/**
 * The claims of this execution at the node, or of the session of an MCP client.
 *
 * @throws OutcomeUnknown if n8n can't read the parent execution
 */
export async function openClaims(run: CallerRun): Promise<Claims> {
	const { context } = run;
	const occasion = await useDatabase(USE, async () => await occasionOf(run)).catch(
		(error: unknown) => {
			// Only that of a sub-execution can fail, and a retry of its parent isn't told apart.
			throw maybeSentBefore(explained(error));
		},
	);
	const { executionId, name, isFirst } = occasion;
	const node = nodeKey(context);
	const key = JSON.stringify([node, executionId, name]);
	const { state } = executions.get(key) ?? { state: new ClaimState() };
	executions.set(key, { node, state });
	const running = () =>
		sumBy([...executions.values()], (one) => (one.node === node ? one.state.count : 0));
	const list = openTextList(run, 'node', USE);
	const claims = new Claims(list, occasion, state, running, clock, repeatOnList(run));
	// Those of a session and of sub-executions stay.
	if (run.caller.mcpSession !== undefined || occasion.parentStartedAt !== undefined) return claims;
	// n8n stores an execution before it calls this. Those of a retry stay, because the execution may be retried again.
	context.onExecutionFinish?.(async () => {
		executions.delete(key);
		if (!isFirst) return;
		const hasFailed = executionDataOf(context)?.resultData.error !== undefined;
		if (!hasFailed && !isCanceled(context)) await claims.close();
	});
	return claims;
}

/** The execution itself, or the topmost parent of a sub-execution. If a sub-execution is retried alone, the retry. */
type ExecutionOccasion = Occasion & { executionId: string };

/**
 * An execution and all its retries, or a sub-execution and all retries of its topmost parent. n8n stores the start time of the
 * first one before it runs a node, and passes it on to the others (n8n 2.20 or later).
 *
 * @throws if n8n can't read an execution from which this one comes
 */
async function occasionOf({ context, caller }: CallerRun): Promise<ExecutionOccasion> {
	const executionId = context.getExecutionId();
	const { mcpSession } = caller;
	if (mcpSession !== undefined) {
		// Without a session, the next request is another one.
		const name = `session ${mcpSession || randomUUID()}`;
		return { name, executionId, isFirst: true };
	}
	const execution = context.getExecutionContext();
	const isFirst = context.getMode() !== 'retry';
	if (execution?.establishedAt === undefined)
		return { name: `execution ${executionId}`, executionId, isFirst };
	const own = { name: `${execution.establishedAt}`, executionId, isFirst };
	const parentId = parentOf(execution);
	if (parentId === undefined) return own;
	const { parentExecution } = executionDataOf(context) ?? {};
	const parent = await startOfParent(context, parentId, parentExecution?.executionContext);
	if (parent === undefined) return own;
	// A workflow that starts itself as a sub-workflow has the same list and start time on each level.
	const name = `${parent.startedAt} sub`;
	const ofParent = { name, executionId: parent.executionId, isFirst: false };
	return isFirst
		? { ...ofParent, parentStartedAt: parent.startedAt }
		: { ...ofParent, executionId };
}

/**
 * Undefined if n8n has no start time of it or of one of its parents.
 *
 * @param known what its sub-execution has of it, without a read of all its rows. Of an execution in the editor, n8n stores
 * the start time only at its end.
 */
async function startOfParent(
	context: IExecuteFunctions,
	executionId: string,
	known: IExecutionContext | undefined,
): Promise<{ startedAt: number; executionId: string } | undefined> {
	const read = once(async () => await context.getExecutionDataById(executionId));
	const execution = known ?? (await read())?.executionData?.runtimeData;
	if (execution?.establishedAt === undefined) return undefined;
	const parentId = parentOf(execution);
	if (parentId === undefined) return { startedAt: execution.establishedAt, executionId };
	return await startOfParent(context, parentId, (await read())?.parentExecution?.executionContext);
}

/** n8n's name of the execution in which an MCP client uses a tool, and which it doesn't store. */
const NOT_STORED = '__UNKNOWN__';

/** An error workflow names the failed execution as its parent, but isn't part of it. */
function parentOf({ parentExecutionId, source }: IExecutionContext): string | undefined {
	return source === 'error' || parentExecutionId === NOT_STORED ? undefined : parentExecutionId;
}
