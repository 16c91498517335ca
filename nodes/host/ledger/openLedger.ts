import once from 'lodash/once';
import sumBy from 'lodash/sumBy';
import type { IExecuteFunctions, IExecutionContext } from 'n8n-workflow';
import { areEntries, type Entries, Ledger, maybeSentBefore } from '../../core/ledger/ledger';
import { NotedExecution, Notes } from '../../core/ledger/notes';
import { ExplainedError } from '../../core/service/errors';
import type { JsonValue } from '../../core/values/json';
import { BoundedMap } from '../../core/values/boundedMap';
import type { CallerRun } from '../caller/caller';
import { isCanceled } from '../execution/cancel';
import { executionDataOf, nodeKey } from '../nodeRun';
import { openMemory } from './executionMemory';
import { openStore, repeatOnStore, type StoreUse, useDatabase } from './openStore';

const USE: StoreUse = {
	message: "n8n can't record the request before sending it, so this attempt didn't send it",
	description:
		"Try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

/** Executions in this process. Without an older one, its notes stay in n8n's database. */
const MAX_EXECUTIONS = 1_000;

/** Sub-executions share the one of their parent, because a retry of the parent runs all of them again. */
const notedExecutions = new BoundedMap<{ node: string; noted: NotedExecution }>(MAX_EXECUTIONS);

/**
 * What became of the jobs of this node run, or as a tool, of this agent run.
 *
 * @param entries Default: those that n8n stores with the execution
 * @throws InvalidInput if what n8n stored of an earlier attempt is damaged
 */
export function openLedger<Result extends JsonValue>(
	run: CallerRun,
	entries: Entries<Result> = openMemory(run, 'requests', areEntries<Result>, {}),
): Ledger<Result> {
	const notes = once(async () => await openNotes(run));
	return new Ledger(entries, notes);
}

/**
 * Undefined if the execution can't be retried: MCP clients, and n8n before 2.20.
 *
 * @throws NotSent if n8n can't read the parent execution
 */
export async function openNotes(run: CallerRun): Promise<Notes | undefined> {
	const { context } = run;
	const origin = await useDatabase(USE, async () => await originOf(run));
	if (origin === undefined) return undefined;
	const { startedAt, executionId, isSubExecution } = origin;
	// A workflow that starts itself as a sub-workflow has the same store and start time on each level.
	const start = isSubExecution ? `${startedAt} sub` : `${startedAt}`;
	const isFirst = !isSubExecution && context.getMode() !== 'retry';
	const node = nodeKey(context);
	const key = JSON.stringify([node, executionId, start]);
	const parent = isSubExecution ? executionId : undefined;
	const { noted } = notedExecutions.get(key) ?? {
		noted: new NotedExecution(start, isFirst, parent),
	};
	notedExecutions.set(key, { node, noted });
	const running = () =>
		sumBy([...notedExecutions.values()], (one) => (one.node === node ? one.noted.uses.size : 0));
	const store = openStore(run, 'node', USE);
	const notes = new Notes(store, noted, context.getExecutionId(), running, repeatOnStore(run));
	// n8n stores an execution before it calls this. It stores a stopped execution without what its nodes remember.
	context.onExecutionFinish?.(async () => {
		if (!isSubExecution) notedExecutions.delete(key);
		if (isFirst && !isCanceled(context)) await notes.release();
	});
	return notes;
}

/**
 * Call this before n8n stores an execution that waits.
 *
 * @returns removes the notes, to be called when n8n has stored the execution with its entries. Never throws: notes that
 * stay only take space.
 */
export async function notesOfWaiting(run: CallerRun): Promise<() => Promise<void>> {
	const notes = await openNotes(run).catch(() => undefined);
	const own = notes?.own();
	return async () => await notes?.release(own);
}

/** In a retry, an error before the first request doesn't show that nothing was sent. */
export async function beforeSending(run: CallerRun, error: unknown): Promise<unknown> {
	const isUnknown = error instanceof ExplainedError && error.outcome === 'unknown';
	return isUnknown || !(await mayHaveSent(run)) ? error : maybeSentBefore(error);
}

/**
 * Whether an earlier attempt of the execution may have sent anything, also if the items can't be read now. True if n8n's
 * store can't be reached.
 */
export async function mayHaveSent(run: CallerRun): Promise<boolean> {
	try {
		const ledger = openLedger(run);
		return Object.keys(ledger.entries).length > 0 || (await ledger.findBegun([]));
	} catch {
		return true;
	}
}

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

/**
 * Undefined if the execution can't be retried: MCP clients, and n8n before 2.20.
 *
 * @throws if n8n can't read an execution from which this one comes
 */
export async function originOf({
	context,
	caller,
}: CallerRun): Promise<ExecutionOrigin | undefined> {
	const execution = context.getExecutionContext();
	if (execution?.establishedAt === undefined || caller.mcpSession !== undefined) return undefined;
	const executionId = context.getExecutionId();
	const own = { startedAt: execution.establishedAt, executionId, isSubExecution: false };
	const parentId = parentOf(execution);
	if (parentId === undefined) return own;
	const parent = executionDataOf(context)?.parentExecution;
	const origin = await originOfParent(context, parentId, parent?.executionContext);
	if (origin === undefined) return own;
	return context.getMode() === 'retry' ? { ...origin, executionId } : origin;
}

/**
 * Undefined if n8n has no start time of it or of one of its parents.
 *
 * @param known what its sub-execution has of it, without a read of all its rows. Of an execution in the editor, n8n stores
 * the start time only at its end.
 */
async function originOfParent(
	context: IExecuteFunctions,
	executionId: string,
	known: IExecutionContext | undefined,
): Promise<ExecutionOrigin | undefined> {
	const read = once(async () => await context.getExecutionDataById(executionId));
	const execution = known ?? (await read())?.executionData?.runtimeData;
	if (execution?.establishedAt === undefined) return undefined;
	const parentId = parentOf(execution);
	if (parentId === undefined)
		return { startedAt: execution.establishedAt, executionId, isSubExecution: true };
	return await originOfParent(context, parentId, (await read())?.parentExecution?.executionContext);
}

/** n8n's name of the execution in which an MCP client uses a tool, and which it doesn't store. */
const NOT_STORED = '__UNKNOWN__';

/** An error workflow names the failed execution as its parent, but isn't part of it. */
function parentOf({ parentExecutionId, source }: IExecutionContext): string | undefined {
	return source === 'error' || parentExecutionId === NOT_STORED ? undefined : parentExecutionId;
}
