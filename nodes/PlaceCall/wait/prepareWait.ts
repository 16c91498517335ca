import {
	NodeOperationError,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { ApiClient } from '../../shared/api/client';
import { parseList } from '../../shared/calls/completion';
import { readCallRecord } from '../../shared/calls/readBack';
import { cancellableSleep } from '../../shared/n8n/cancel';
import { clock, type Connection } from '../../shared/n8n/connect';
import { readUntilFinished } from './readUntilFinished';
import { resumeUrlOf } from './resumeUrl';
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
	const mode = readWaitMode(context);
	if (mode === 'off') return { finish: async (placed) => placed };
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
	const calls = await readUntilFinished(
		callIds,
		readFinishedStatuses(context),
		async (callId) => await readCallRecord(client, callId),
		{
			clock: { now: () => clock.now(), sleep: cancellableSleep(context) },
			until: endOfWait(placed, limit, clock.now()),
		},
	);
	return placed.map((item, index) => {
		const call = calls.get(callIdOf(item) ?? '');
		return call === undefined ? item : waitedItem(item, index, call);
	});
}

function readWaitMode(context: IExecuteFunctions): 'off' | 'webhook' | 'reading' {
	const mode = context.getNodeParameter('waitForCompletion', 0, 'off');
	return mode === 'webhook' || mode === 'reading' ? mode : 'off';
}

/** @throws NodeOperationError when there is none */
function readWaitLimit(context: IExecuteFunctions): number {
	const amount = Number(context.getNodeParameter('waitLimit', 0, 0));
	const name: unknown = context.getNodeParameter('waitLimitUnit', 0, 'hours');
	const unit = typeof name === 'string' ? UNIT_MS.get(name) : undefined;
	if (amount > 0 && unit !== undefined) return amount * unit;
	throw new NodeOperationError(
		context.getNode(),
		'Time Limit is not a length of time, so no call was placed',
		{ description: 'Enter a number above zero, and choose its unit.' },
	);
}

export function readFinishedStatuses(context: IExecuteFunctions | IWebhookFunctions): string[] {
	const value: unknown = context.getNode().parameters.finishedStatuses;
	return parseList(typeof value === 'string' ? value : '');
}
