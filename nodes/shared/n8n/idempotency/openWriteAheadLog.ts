import type { IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../../clock';
import { clock } from '../http/accountClient';
import { cancelSignal } from '../run/cancel';
import { RunningExecutions } from './begunRequests';
import { originOf } from './executionOrigin';
import { nodeKeyOf, openNodeStore, runExclusiveOnStore, type StoreUse } from './nodeStore';
import { WriteAheadLog } from './writeAheadLog';

const USE: StoreUse = {
	message: "n8n can't record the request before sending it, so it wasn't sent",
	description:
		"Try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

const running = new RunningExecutions();

/** Used if an execution has no cancel signal. */
const UNSTOPPABLE = {};

/**
 * Undefined if the execution can't be retried: MCP clients, and n8n before 2.20.
 *
 * @throws NotSent if n8n can't read the parent execution
 */
export async function openWriteAheadLog(
	context: IExecuteFunctions,
): Promise<WriteAheadLog | undefined> {
	const origin = await originOf(context);
	if (origin === undefined) return undefined;
	const [node, executionId] = [nodeKeyOf(context), context.getExecutionId()];
	const parentId = origin.isSubExecution ? origin.executionId : undefined;
	const execution = running.get(node, executionId, parentId);
	const log = new WriteAheadLog(
		openNodeStore(context, USE),
		origin,
		{
			isFirstAttempt: !origin.isSubExecution && context.getMode() !== 'retry',
			exclusive: async (run) => await runExclusiveOnStore(context, run),
			pause: async (ms) => await pause(clock, ms, cancelSignal(context)),
			totalBegun: () => running.total(node),
		},
		execution.begun,
	);
	const signal = context.getExecutionCancelSignal();
	const part = signal ?? UNSTOPPABLE;
	if (execution.watched.has(part)) return log;
	execution.watched.add(part);
	// n8n stores an execution before it calls this. It stores a stopped execution without the nodes' records.
	context.onExecutionFinish?.(async () => {
		running.close(node, executionId);
		if (signal?.aborted !== true) await log.clear();
	});
	return log;
}

/**
 * Call this before n8n stores an execution that waits.
 *
 * @returns removes the entries, to be called when n8n has stored the execution with its records. Never throws: entries
 * that stay only take space.
 */
export async function entriesOfWaiting(context: IExecuteFunctions): Promise<() => Promise<void>> {
	const log = await openWriteAheadLog(context).catch(() => undefined);
	const stored = log?.state();
	return async () => await log?.clear(stored).catch(() => undefined);
}
