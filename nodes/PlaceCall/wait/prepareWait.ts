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

/** *Wait for Completion* of one run. */
type CompletionWait = {
	/** Where the service is to report each call. */
	address?: string;
	/** Turns the placed calls into the output, now or when the execution is awake again. */
	finish(placed: INodeExecutionData[]): Promise<INodeExecutionData[]>;
};

/** What could stand in the way of waiting is found before anyone is called. */
export async function prepareWait(
	context: IExecuteFunctions,
	form: Fields,
	connected: () => Promise<AccountClient>,
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
				const { client } = await connected();
				return await waitByReading(context, client, placed, { limit, finished, keepsInput });
			},
		};
	}
	restoreInput(context);
	const address = resumeUrlOf(context);
	await requireResumable(context, address);
	return {
		address,
		finish: async (placed) => await waitForWebhook(context, placed, address, limit),
	};
}

/** Keeps the execution running until each placed call shows a finished status, or the limit has passed. */
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

/** The option *Wait for Completion*; `undefined` without it. */
function waitSettings(context: Context, form: Fields): Fields | undefined {
	const options = form.collection('options');
	const settings = options.group('wait');
	if (settings !== undefined || !options.has('wait')) return settings;
	throw new NodeOperationError(
		context.getNode(),
		'Wait for Completion is chosen and not set, so no call was placed',
		{ description: 'Add how and how long to wait, or remove the option Wait for Completion.' },
	);
}

/** An answer is waited for in any case. Nobody chose that a tool should sleep, which it cannot. */
function waitMode(context: IExecuteFunctions, settings: Fields | undefined): string {
	if (settings !== undefined) return settings.choice('waitForCompletion', 'webhook');
	if (!asksAndWaits(context)) return 'off';
	return runsAsTool(context) ? 'reading' : 'webhook';
}

const DEFAULT_LIMIT = 2;
const DEFAULT_UNIT = 'hours';

/** @throws NodeOperationError when there is none */
function readWaitLimit(context: IExecuteFunctions, settings: Fields | undefined): number {
	const amount = settings?.number('waitLimit', DEFAULT_LIMIT) ?? DEFAULT_LIMIT;
	const unit = UNIT_MS.get(settings?.choice('waitLimitUnit', DEFAULT_UNIT) ?? DEFAULT_UNIT);
	if (amount > 0 && unit !== undefined) return amount * unit;
	throw new NodeOperationError(
		context.getNode(),
		'Time Limit is not a length of time, so no call was placed',
		{ description: 'Enter a number above zero, and choose its unit.' },
	);
}

/** What the person counts as the end of a call. */
export function readFinishedStatuses(context: Context, form: Fields): string[] {
	return finishedStatuses(waitSettings(context, form));
}

function finishedStatuses(settings: Fields | undefined): string[] {
	return parseList(settings?.textOrList('finishedStatuses') ?? OBSERVED_OUTCOMES);
}
