import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { ApiClient } from '../../shared/api/client';
import { readerOf } from '../../shared/api/modelAdvice';
import { OBSERVED_OUTCOMES, parseList } from '../../shared/calls/callEnd';
import { readCallRecord } from '../../shared/calls/readBack';
import { cancellableSleep } from '../../shared/n8n/run/cancel';
import { clock, type AccountClient } from '../../shared/n8n/http/accountClient';
import { returnsErrorsToAgent, runsAsTool } from '../../shared/n8n/tools/toolRun';
import { capInTools } from '../../shared/n8n/tools/toolDeadline';
import type { Fields } from '../../shared/n8n/forms/fields';
import { includesInput } from './inputFields';
import { readUntilFinished } from './readUntilFinished';
import { asksAndWaits, resumeUrlOf } from './resumeUrl';
import { requireResumable, restoreInput, waitForWebhook } from './waitForWebhook';
import { callIdOf, endOfWait, waitedItem } from './waitedItems';

const UNIT_MS = new Map([
	['seconds', 1_000],
	['minutes', 60_000],
	['hours', 3_600_000],
	['days', 86_400_000],
]);

type Context = IExecuteFunctions | IWebhookFunctions;

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
	connection: () => Promise<AccountClient>,
): Promise<CompletionWait> {
	const settings = waitSettings(context, form);
	const mode = waitMode(context, settings);
	if (mode === 'off') return { finish: async (placed) => placed };
	const limit = readWaitLimit(context, settings);
	const finished = finishedStatuses(settings);
	const keepsInput = includesInput(form);
	if (mode === 'reading') {
		return {
			finish: async (placed) => {
				const { client } = await connection();
				return await waitByReading(context, client, placed, { limit, finished, keepsInput });
			},
		};
	}
	restoreInput(context);
	const resumeUrl = resumeUrlOf(context);
	await requireResumable(context, resumeUrl);
	return {
		webhookUrl: resumeUrl,
		finish: async (placed) => await waitForWebhook(context, placed, resumeUrl, limit),
	};
}

/** Keeps the execution running until each call is completed, or the time limit is reached. */
async function waitByReading(
	context: IExecuteFunctions,
	client: ApiClient,
	placed: INodeExecutionData[],
	{ limit, finished, keepsInput }: { limit: number; finished: string[]; keepsInput: boolean },
): Promise<INodeExecutionData[]> {
	const callIds = placed.map(callIdOf).filter((callId) => callId !== undefined);
	const now = clock.now();
	const calls = await readUntilFinished(
		callIds,
		finished,
		async (callId) => await readCallRecord(client, callId),
		{
			clock: { ...clock, sleep: cancellableSleep(context) },
			until: clock.elapsed() + capInTools(context, endOfWait(placed, limit, now) - now),
			reader: readerOf(returnsErrorsToAgent(context)),
		},
	);
	return placed.map((item, index) => {
		const call = calls.get(callIdOf(item) ?? '');
		return call === undefined ? item : waitedItem(item, index, call, keepsInput);
	});
}

/** The option 'Wait for Completion'. `undefined` without it. */
function waitSettings(context: Context, form: Fields): Fields | undefined {
	const options = form.collection('options');
	const settings = options.group('wait');
	if (settings !== undefined || !options.has('wait')) return settings;
	throw new NodeOperationError(
		context.getNode(),
		"'Wait for Completion' has no settings, so no call was placed",
		{ description: "Add how and how long to wait, or remove 'Wait for Completion'." },
	);
}

/** *Ask and Wait* always waits. As a tool, it can't wait for the completion webhook. */
function waitMode(context: IExecuteFunctions, settings: Fields | undefined): string {
	if (settings !== undefined) return settings.choice('waitForCompletion', 'webhook');
	if (!asksAndWaits(context)) return 'off';
	return runsAsTool(context) ? 'reading' : 'webhook';
}

const DEFAULT_LIMIT = 2;
const DEFAULT_UNIT = 'hours';

/** In milliseconds. @throws NodeOperationError if it isn't more than 0 */
function readWaitLimit(context: IExecuteFunctions, settings: Fields | undefined): number {
	const amount = settings?.number('waitLimit', DEFAULT_LIMIT) ?? DEFAULT_LIMIT;
	const unit = UNIT_MS.get(settings?.choice('waitLimitUnit', DEFAULT_UNIT) ?? DEFAULT_UNIT);
	if (amount > 0 && unit !== undefined) return amount * unit;
	throw new NodeOperationError(
		context.getNode(),
		"'Time Limit' must be more than 0, so no call was placed",
		{ description: 'Enter a number above 0, and choose its unit.' },
	);
}

/** The statuses of completed calls. */
export function readFinishedStatuses(context: Context, form: Fields): string[] {
	return finishedStatuses(waitSettings(context, form));
}

function finishedStatuses(settings: Fields | undefined): string[] {
	return parseList(settings?.textOrList('finishedStatuses') ?? OBSERVED_OUTCOMES);
}
