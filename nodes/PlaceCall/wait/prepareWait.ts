import max from 'lodash/max';
import {
	NodeOperationError,
	WAIT_INDEFINITELY,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { CallWatch } from '../../core/calls/callWatch';
import { readCallRecord } from '../../core/calls/readCall';
import { hashOf } from '../../core/values/hash';
import { type JsonObject, numberIn } from '../../core/values/json';
import type { CallerRun } from '../../host/caller/caller';
import { openValues } from '../../host/claims/executionMemory';
import { openClaims } from '../../host/claims/openClaims';
import {
	cancellableSleep,
	cancelSignal,
	isCanceled,
	WHY_CANCELED,
} from '../../host/execution/cancel';
import { clock } from '../../host/clock';
import type { OperationRun } from '../../host/run/operations';
import { named } from '../../core/values/values';
import { dueTimeOf, isDueLater } from '../scheduled';
import { asksAndWaits, GRACE_MS, pingResumeUrl, pingUntilResumed, resumeUrlOf } from './resumeUrl';
import { readWaitOption, type WaitOption } from './waitOption';
import {
	type AwaitedCall,
	awaitedCalls,
	callIdsOf,
	WAIT,
	waitedItems,
	waitingItem,
} from './waitedItems';

/** The wait of one node run. */
export type CompletionWait = {
	/** Whether the node waits for the end of the calls. */
	waits: boolean;
	/** The webhook URL for the calls, if the node waits for the completion webhook. */
	webhookUrl?: string;
	/** Waits for the calls and returns the output. For the completion webhook, n8n returns it when the execution resumes. */
	finish(placed: INodeExecutionData[], earlierCalls: JsonObject): Promise<INodeExecutionData[]>;
};

const STOPPED = `${WHY_CANCELED} The call may still be in progress. Read it with Get Call.`;

/** n8n's responses at the resume URL of a running execution. 500 if it was started in the editor. */
const RUNNING = [409, 500];

/** Checks everything that waiting needs, before any call is placed. */
export async function prepareWait(run: OperationRun): Promise<CompletionWait> {
	const { context, caller, parameters } = run;
	const option = readWaitOption(parameters.at(0));
	// *Ask and Wait* always waits.
	const how = option.how ?? (asksAndWaits(context) ? 'webhook' : undefined);
	if (how === undefined) return { waits: false, finish: async (placed) => placed };
	// A tool must return, so it can't wait for the completion webhook.
	const mustReturn = caller.deadline !== undefined;
	if (how === 'reading' || mustReturn) {
		return {
			waits: true,
			finish: async (placed, earlierCalls) =>
				mustReturn && placed.some(isDueLater)
					? placed
					: await waitByReading(run, placed, awaitedCalls(placed, earlierCalls), option),
		};
	}
	const resumeUrl = resumeUrlOf(context);
	await requireResumable(context, resumeUrl);
	return {
		waits: true,
		webhookUrl: resumeUrl,
		finish: async (placed, earlierCalls) =>
			await waitForWebhook(run, placed, earlierCalls, resumeUrl, option.limitMs),
	};
}

/** Keeps the execution running until each call is completed, or the time limit is reached. */
async function waitByReading(
	run: OperationRun,
	placed: INodeExecutionData[],
	calls: Array<AwaitedCall | undefined>,
	{ finished, limitMs, optOutKey }: WaitOption,
): Promise<INodeExecutionData[]> {
	const { context, caller, account } = run;
	const callIds = callIdsOf(calls);
	const now = clock.now();
	const { reader, maxWaitMs, continuesOnFail } = caller;
	const end = clock.elapsed() + Math.min(endOfWait(placed, limitMs, now) - now, maxWaitMs);
	// *Retry On Fail* also runs the node again after its wait. A model may wait again.
	const isRetried = caller.kind !== 'model';
	const ends = isRetried ? openValues(run, `waits in ${context.getExecutionId()}`) : {};
	const wait = hashOf(callIds);
	const until = numberIn(ends[wait]) ?? end;
	ends[wait] = until;
	const watch = new CallWatch(callIds, {
		read: async (callId) => await readCallRecord((await account()).client, callId),
		finished,
		reader,
	});
	const sleep = cancellableSleep(run, placedNote(callIds));
	await watch.readUntilAllEnded({ ...clock, sleep }, until).catch((error: unknown) => {
		if (!isCanceled(context) || !continuesOnFail) throw error;
		// In queue mode, a retry continues after the node with the items, so they end as at the time limit, with another reason.
		watch.giveUp(STOPPED);
	});
	return waitedItems(placed, calls, watch, optOutKey);
}

/** What to do if the execution is stopped during the wait. The calls aren't. */
function placedNote(callIds: readonly string[]): string | undefined {
	if (callIds.length === 0) return undefined;
	const isOne = callIds.length === 1;
	const were = isOne ? 'The call was' : `${callIds.length} calls were`;
	return `${were} placed. Read ${isOne ? 'it' : 'them'} with Get Call: ${named(callIds, String)}.`;
}

/**
 * Lets the execution wait in n8n's database. n8n stores the input items with it, so they're replaced with the placed
 * calls. If n8n's own limit ends the wait, they're the output.
 */
async function waitForWebhook(
	run: CallerRun,
	placed: INodeExecutionData[],
	earlierCalls: JsonObject,
	resumeUrl: string,
	limitMs: number,
): Promise<INodeExecutionData[]> {
	const { context } = run;
	// Otherwise, a stopped execution would continue when its wait ends.
	const isStopped = cancelSignal(run).aborted;
	const calls = awaitedCalls(placed, earlierCalls);
	if (isStopped || callIdsOf(calls).length === 0) return placed;
	const until = endOfWait(placed, limitMs, clock.now());
	const claims = await openClaims(run).catch(() => undefined);
	await context.putExecutionToWait(new Date(until + GRACE_MS));
	const task = context.getExecuteData();
	// n8n disables the waiting node when it resumes. A copy keeps later runs of the node enabled.
	task.node = { ...task.node };
	Object.assign(openValues(run, WAIT, 'node'), { until, earlierCalls });
	// With *Execute Once*, n8n also stores the items that weren't executed, which aren't calls.
	if (context.getNode().executeOnce === true) task.data.main?.[0]?.splice(1);
	// Last, because *Retry On Fail* would run the node again on the same items.
	context.getInputData().forEach((item, index) => {
		const call = calls[index];
		const output = placed[index];
		if (output === undefined) return;
		item.json = call === undefined ? output.json : waitingItem(output, call);
		if (output.binary === undefined) delete item.binary;
	});
	// n8n tells no node of its own end of the execution then, and the record has the calls.
	void pingUntilResumed(context, resumeUrl, until, async () => await claims?.close());
	return placed;
}

/** Places no call if n8n can't reach its own resume URL, because only a ping finds calls that end before the wait starts. */
async function requireResumable(context: IExecuteFunctions, resumeUrl: string): Promise<void> {
	if (RUNNING.includes(await pingResumeUrl(context, resumeUrl, 'GET'))) return;
	throw new NodeOperationError(
		context.getNode(),
		"n8n can't reach its own webhook URL, so no call was placed",
		{
			description: `The URL starts with ${new URL(resumeUrl).origin}. Ask your n8n administrator to make it reachable from n8n itself and from the service (WEBHOOK_URL), or choose 'By Reading the Call' in 'Wait for Completion'.`,
		},
	);
}

/** The latest end of a wait. n8n's own limit is a little later. */
const LAST_END = WAIT_INDEFINITELY.getTime() - GRACE_MS;

/** The time limit starts when the last call is due. In epoch milliseconds. */
function endOfWait(placed: readonly INodeExecutionData[], limitMs: number, now: number): number {
	const last = max([now, ...placed.map(dueTimeOf).filter(Number.isFinite)]);
	return Math.min(last + limitMs, LAST_END);
}
