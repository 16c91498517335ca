import type { INodeExecutionData } from 'n8n-workflow';
import { CallWatch } from '../../core/calls/callWatch';
import { readCallRecord } from '../../core/calls/readCall';
import { named } from '../../core/values/values';
import { clock } from '../../host/clock';
import { cancellableSleep, isCanceled, WHY_CANCELED } from '../../host/execution/cancel';
import type { OperationRun } from '../../host/run/operations';
import type { AskedQuestion } from '../ask/answer';
import { awaitedCalls, callIdsOf, waitedItems } from './waitedItems';

const STOPPED = `${WHY_CANCELED} The call may still be in progress. Read it with Get Call.`;

/**
 * Keeps the execution running until each call has ended, or the time limit is reached.
 *
 * @param questionOf that of an item of *Ask and Wait*
 * @returns the calls with their records and answers
 */
export async function waitForCalls(
	run: OperationRun,
	placed: INodeExecutionData[],
	limitMs: number,
	questionOf: ((index: number) => AskedQuestion) | undefined,
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const calls = awaitedCalls(placed);
	const callIds = callIdsOf(calls);
	// Without a call, each item has the error of an invalid credential.
	const credential = callIds.length > 0 ? await account() : undefined;
	const watch = new CallWatch(callIds, {
		read: async (callId) => await readCallRecord((await account()).client, callId),
		finished: credential?.finished ?? new Set(),
	});
	const sleep = cancellableSleep(run, placedNote(callIds));
	const end = clock.elapsed() + Math.min(limitMs, caller.maxWaitMs);
	await watch.readUntilAllEnded({ ...clock, sleep }, end).catch((error: unknown) => {
		if (!isCanceled(context) || !caller.continuesOnFail) throw error;
		// In queue mode, a retry continues after the node with the items, so they end as at the time limit, with another reason.
		watch.giveUp(STOPPED);
	});
	return waitedItems(placed, calls, watch, credential?.optOutKey ?? '', questionOf);
}

/** What to do if the execution is stopped during the wait. The calls aren't. */
function placedNote(callIds: readonly string[]): string | undefined {
	if (callIds.length === 0) return undefined;
	const isOne = callIds.length === 1;
	const were = isOne ? 'The call was' : `${callIds.length} calls were`;
	return `${were} placed. Read ${isOne ? 'it' : 'them'} with Get Call: ${named(callIds, String)}.`;
}
