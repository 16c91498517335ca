import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { ApiClient } from '../../shared/api/client';
import { isJsonObject, type JsonObject } from '../../shared/json';
import { OBSERVED_OUTCOMES, parseList } from '../../shared/calls/completion';
import { readCallRecord } from '../../shared/calls/readBack';
import { cancellableSleep } from '../../shared/n8n/cancel';
import { clock, type Connection } from '../../shared/n8n/connect';
import { runsAsTool } from '../../shared/n8n/toolRun';
import { limitedInTools } from '../../shared/n8n/toolTime';
import { includesInput } from './inputFields';
import { readUntilFinished } from './readUntilFinished';
import { asksAndWaits, resumeUrlOf } from './resumeUrl';
import { requireResumable, restoreInput, sleepUntilOver } from './sleepUntilOver';
import { callIdOf, endOfWait, waitedItem } from './waitedItems';

const UNIT_MS = new Map([
	['seconds', 1_000],
	['minutes', 60_000],
	['hours', 3_600_000],
	['days', 86_400_000],
]);

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
	connected: () => Promise<Connection>,
): Promise<CompletionWait> {
	const settings = waitSettings(context);
	// Nobody chose that a tool should sleep, which it cannot.
	const mustRead = settings === USUAL_WAIT && runsAsTool(context);
	const mode = mustRead ? 'reading' : settings.waitForCompletion;
	if (!isMode(mode)) return { finish: async (placed) => placed };
	const limit = readWaitLimit(context);
	if (mode === 'reading') {
		return {
			finish: async (placed) => {
				const { client } = await connected();
				return await waitByReading(context, client, placed, limit);
			},
		};
	}
	restoreInput(context);
	const address = resumeUrlOf(context);
	await requireResumable(context, address);
	return {
		address,
		finish: async (placed) => await sleepUntilOver(context, placed, address, limit),
	};
}

/** Keeps the execution running until each placed call shows a finished status, or the limit has passed. */
async function waitByReading(
	context: IExecuteFunctions,
	client: ApiClient,
	placed: INodeExecutionData[],
	limit: number,
): Promise<INodeExecutionData[]> {
	const callIds = placed.map(callIdOf).filter((callId) => callId !== undefined);
	const now = clock.now();
	const calls = await readUntilFinished(
		callIds,
		readFinishedStatuses(context),
		async (callId) => await readCallRecord(client, callId),
		{
			clock: { now: () => clock.now(), sleep: cancellableSleep(context) },
			until: Math.min(endOfWait(placed, limit, now), now + limitedInTools(context, Infinity)),
		},
	);
	const keepsInput = includesInput(context);
	return placed.map((item, index) => {
		const call = calls.get(callIdOf(item) ?? '');
		return call === undefined ? item : waitedItem(item, index, call, keepsInput);
	});
}

/** The wait of the options, or that of a workflow which was saved when it stood above them. */
function waitSettings(context: IExecuteFunctions | IWebhookFunctions): JsonObject {
	const { parameters } = context.getNode();
	const { waitForCompletion, waitLimit, waitLimitUnit, finishedStatuses, options } = parameters;
	const above = { waitForCompletion, waitLimit, waitLimitUnit, finishedStatuses };
	if (isMode(waitForCompletion) && isJsonObject(above)) return above;
	const chosen: unknown = options;
	const wait = isJsonObject(chosen) ? chosen.wait : undefined;
	if (wait === undefined) return asksAndWaits(context) ? USUAL_WAIT : {};
	if (isJsonObject(wait) && isJsonObject(wait.settings)) return wait.settings;
	throw new NodeOperationError(
		context.getNode(),
		'Wait for Completion is chosen and not set, so no call was placed',
		{ description: 'Add how and how long to wait, or remove the option Wait for Completion.' },
	);
}

/** An answer is waited for in any case. */
const USUAL_WAIT: JsonObject = {
	waitForCompletion: 'webhook',
	waitLimit: 2,
	waitLimitUnit: 'hours',
	finishedStatuses: OBSERVED_OUTCOMES.join(', '),
};

function isMode(mode: unknown): mode is 'webhook' | 'reading' {
	return mode === 'webhook' || mode === 'reading';
}

/** @throws NodeOperationError when there is none */
function readWaitLimit(context: IExecuteFunctions): number {
	const { waitLimit, waitLimitUnit } = waitSettings(context);
	const amount = Number(waitLimit ?? 0);
	const unit = typeof waitLimitUnit === 'string' ? UNIT_MS.get(waitLimitUnit) : undefined;
	if (amount > 0 && unit !== undefined) return amount * unit;
	throw new NodeOperationError(
		context.getNode(),
		'Time Limit is not a length of time, so no call was placed',
		{ description: 'Enter a number above zero, and choose its unit.' },
	);
}

export function readFinishedStatuses(context: IExecuteFunctions | IWebhookFunctions): string[] {
	const { finishedStatuses } = waitSettings(context);
	return parseList(typeof finishedStatuses === 'string' ? finishedStatuses : '');
}
