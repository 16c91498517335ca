import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ApiClient } from '../../shared/api/client';
import { readerOf } from '../../shared/api/resolution';
import { CallWatch } from '../../shared/calls/callWatch';
import { readCallRecord } from '../../shared/calls/readCall';
import { cancellableSleep } from '../../shared/n8n/run/cancel';
import { clock, type AccountClient } from '../../shared/n8n/http/accountClient';
import { returnsErrorsToAgent, runsAsTool } from '../../shared/n8n/tools/toolRun';
import { capInTools } from '../../shared/n8n/tools/toolDeadline';
import type { Fields } from '../../shared/n8n/forms/fields';
import { named } from '../../shared/values';
import { includesInput } from './inputFields';
import { asksAndWaits, resumeUrlOf } from './resumeUrl';
import { requireResumable, waitForWebhook } from './waitForWebhook';
import { readWaitOption, type WaitOption } from './waitOption';
import { callIdOf, endOfWait, waitedItem } from './waitedItems';

/** The wait of one node run. */
type CompletionWait = {
	/** The webhook URL for the calls, if the node waits for the completion webhook. */
	webhookUrl?: string;
	/** Waits for the calls and returns the output. For the completion webhook, n8n returns it when the execution resumes. */
	finish(placed: INodeExecutionData[]): Promise<INodeExecutionData[]>;
};

/** Checks everything that waiting needs, before any call is placed. */
export async function prepareWait(
	context: IExecuteFunctions,
	form: Fields,
	account: () => Promise<AccountClient>,
): Promise<CompletionWait> {
	const option = readWaitOption(form);
	const how = option.how ?? defaultWait(context);
	if (how === undefined) return { finish: async (placed) => placed };
	const keepsInput = includesInput(form);
	if (how === 'reading') {
		return {
			finish: async (placed) => {
				const { client } = await account();
				return await waitByReading(context, client, placed, { ...option, keepsInput });
			},
		};
	}
	const resumeUrl = resumeUrlOf(context);
	await requireResumable(context, resumeUrl);
	return {
		webhookUrl: resumeUrl,
		finish: async (placed) => await waitForWebhook(context, placed, resumeUrl, option.limitMs),
	};
}

/** Keeps the execution running until each call is completed, or the time limit is reached. */
async function waitByReading(
	context: IExecuteFunctions,
	client: ApiClient,
	placed: INodeExecutionData[],
	{ limitMs, finished, keepsInput }: WaitOption & { keepsInput: boolean },
): Promise<INodeExecutionData[]> {
	const callIds = placed.map(callIdOf).filter((callId) => callId !== undefined);
	const now = clock.now();
	const until = clock.elapsed() + capInTools(context, endOfWait(placed, limitMs, now) - now);
	const watch = new CallWatch(callIds, {
		read: async (callId) => await readCallRecord(client, callId),
		finished,
		reader: readerOf(returnsErrorsToAgent(context)),
	});
	const sleep = cancellableSleep(context, placedNote(callIds));
	await watch.readUntilAllEnded({ ...clock, sleep }, until);
	return placed.map((item, index) => {
		const state = watch.state(callIdOf(item) ?? '');
		return state === undefined ? item : waitedItem(item, index, state, keepsInput);
	});
}

/** What to do if the execution is stopped during the wait. The calls aren't. */
function placedNote(callIds: readonly string[]): string | undefined {
	if (callIds.length === 0) return undefined;
	const isOne = callIds.length === 1;
	const were = isOne ? 'The call was' : `${callIds.length} calls were`;
	return `${were} placed. Read ${isOne ? 'it' : 'them'} with Get Call: ${named(callIds, String)}.`;
}

/** *Ask and Wait* always waits. As a tool, it can't wait for the completion webhook. */
function defaultWait(context: IExecuteFunctions): 'reading' | 'webhook' | undefined {
	if (!asksAndWaits(context)) return undefined;
	return runsAsTool(context) ? 'reading' : 'webhook';
}
