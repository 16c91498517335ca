import omit from 'lodash/omit';
import type {
	INodeExecutionData,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { clock, createAccountClient } from '../../shared/n8n/http/accountClient';
import type { Fields } from '../../shared/n8n/forms/fields';
import { readBody, reject, respond } from '../../shared/n8n/triggers/webhookRequest';
import { readReport } from '../../shared/calls/report';
import { PendingCalls, type ReadRecord } from './pendingCalls';
import { LAG_BACKOFF, readCallRecord } from '../../shared/calls/readBack';
import { backoffMs, StoredDeadline } from '../../shared/clock';
import { isJsonObject } from '../../shared/json';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { readWaitOption } from './waitOption';
import { keepPinging, resumeUrlOf, resume } from './resumeUrl';
import { includesInput } from './inputFields';
import { callIdOf, waitedItem, WAITS_UNTIL } from './waitedItems';

/** The webhook that resumes a waiting execution. n8n creates it with the wait, so nothing is registered. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: '={{ $nodeId }}',
		restartWebhook: true,
		isFullPath: true,
	},
];

/** A waiting execution in this process. */
type WaitingExecution = {
	calls: PendingCalls;
	deadline: StoredDeadline;
	/** Elapsed time. Undefined while it waits. */
	resumedAt: number | undefined;
	isFollowed: boolean;
};

const waitingExecutions = new Map<string, WaitingExecution>();

/** The maximum time in which n8n resumes an execution. After it, another webhook may resume it again. */
const RESUMING_MS = 60_000;

/** Handles a completion webhook from the service, or a ping from this execution to read its calls. */
export async function onCompletionWebhook(
	context: IWebhookFunctions,
	form: Fields,
): Promise<IWebhookResponseData> {
	const body = await readBody(context);
	if (body === undefined || typeof body === 'string') {
		return reject(context, 400, "The body isn't JSON.");
	}
	const items = waitingItems(context);
	const execution = waitingExecutionOf(context, form, items);
	const report = readReport(body);
	// If the body has no calls or too many, all calls are read.
	const completed = Array.isArray(report) ? report.map(({ callId }) => callId) : [];
	try {
		const { client } = await createAccountClient(context);
		const read = async (callId: string) => await readCallRecord(client, callId);
		const isLastPoll = execution.deadline.left <= 0;
		if (isLastPoll) execution.calls.noteReported(completed);
		if (isLastPoll || completed.length === 0) await execution.calls.pollAll(read);
		else await execution.calls.handleCompleted(completed, read);
		if (execution.calls.lagging.length > 0) void followLagging(context, execution, read);
	} catch (error) {
		// After the time limit, the wait ends with the known state.
		if (execution.deadline.left <= 0) execution.calls.noteNotRead(error);
		else {
			return reject(context, 503, "The call can't be read now. Send the request again later.");
		}
	}
	const pending = execution.calls.pending.length;
	const response = respond(context, 200, { received: true, pending });
	if (pending > 0 && execution.deadline.left > 0) {
		if (completed.length > 0) void keepPinging(context, resumeUrlOf(context), execution.deadline);
		return response;
	}
	const now = clock.elapsed();
	if (now - (execution.resumedAt ?? -Infinity) < RESUMING_MS) return response;
	execution.resumedAt = now;
	return { ...response, workflowData: [results(form, execution.calls, items)] };
}

/** Reads lagging calls until their records show the end. Runs beside the waiting execution. */
async function followLagging(
	context: IWebhookFunctions,
	execution: WaitingExecution,
	read: ReadRecord,
): Promise<void> {
	if (execution.isFollowed) return;
	execution.isFollowed = true;
	const { calls, deadline } = execution;
	const resumeUrl = resumeUrlOf(context);
	for (let attempt = 1; calls.lagging.length > 0 && deadline.left > 0; attempt++) {
		await clock.sleep(backoffMs(LAG_BACKOFF, attempt));
		await calls.pollLagging(read);
	}
	execution.isFollowed = false;
	if (calls.pending.length === 0) await resume(context, resumeUrl);
}

/** The items that `execute` stored with the waiting execution. */
function waitingItems(context: IWebhookFunctions): INodeExecutionData[] {
	const items: unknown = context.evaluateExpression('{{ $input.all() }}');
	if (!Array.isArray(items)) return [];
	return items.filter(isJsonObject).map(({ json }) => ({ json: isJsonObject(json) ? json : {} }));
}

function waitingExecutionOf(
	context: IWebhookFunctions,
	form: Fields,
	items: INodeExecutionData[],
): WaitingExecution {
	removeOld();
	const waiting = items.filter(({ json }) => WAITS_UNTIL in json);
	const waitsUntil = waiting[0]?.json[WAITS_UNTIL];
	const until = typeof waitsUntil === 'string' ? Date.parse(waitsUntil) : 0;
	const key = `${context.getExecutionId()}/${context.getNode().id}/${until}`;
	const known = waitingExecutions.get(key);
	if (known !== undefined) return known;
	const callIds = waiting.map(callIdOf);
	const calls = new PendingCalls(
		new Set(callIds.filter((callId) => callId !== undefined)),
		readWaitOption(form).finished,
		() => clock.elapsed(),
	);
	const deadline = new StoredDeadline(clock, until);
	const execution = { calls, deadline, resumedAt: undefined, isFollowed: false };
	waitingExecutions.set(key, execution);
	return execution;
}

/** Removes executions that have resumed, or should have, some time ago. */
function removeOld(): void {
	const now = clock.elapsed();
	for (const [key, { deadline, resumedAt: resumedAt = Infinity }] of waitingExecutions) {
		if (deadline.left < -2 * RESUMING_MS || now > resumedAt + RESUMING_MS)
			waitingExecutions.delete(key);
	}
}

function results(
	form: Fields,
	calls: PendingCalls,
	items: INodeExecutionData[],
): INodeExecutionData[] {
	const keepsInput = includesInput(form);
	return items.map(({ json }, index) => {
		const callId = callIdOf({ json });
		if (callId === undefined) return { json, pairedItem: { item: index } };
		const placed = { json: omit(json, WAITS_UNTIL, NOT_READ_FIELD) };
		return waitedItem(placed, index, calls.known(callId), keepsInput);
	});
}
