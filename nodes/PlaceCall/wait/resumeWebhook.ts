import omit from 'lodash/omit';
import type {
	INodeExecutionData,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { clock, createAccountClient } from '../../shared/n8n/http/accountClient';
import type { Fields } from '../../shared/n8n/forms/fields';
import {
	NO_EXECUTION,
	readJson,
	WebhookResponder,
} from '../../shared/n8n/triggers/webhookResponse';
import { readReport } from '../../shared/calls/report';
import { PendingCalls, type ReadRecord } from './pendingCalls';
import { LAG_BACKOFF, readCallRecord } from '../../shared/calls/readBack';
import { backoffMs, StoredDeadline } from '../../shared/clock';
import { isJsonObject } from '../../shared/json';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { readFinishedStatuses } from './prepareWait';
import { keepPinging, resumeUrlOf, resume } from './resumeUrl';
import { includesInput } from './inputFields';
import { callIdOf, waitedItem, WAITS_UNTIL } from './waitedItems';

/** Where a sleeping execution is woken. It exists only while one sleeps, so nothing is registered. */
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

/** A sleeping execution, as this process knows it. */
type WaitingExecution = {
	calls: PendingCalls;
	deadline: StoredDeadline;
	/** By the elapsed time; undefined as long as it sleeps. */
	resumedAt: number | undefined;
	isFollowed: boolean;
};

const waitingExecutions = new Map<string, WaitingExecution>();

/** n8n takes this long at most to wake an execution; after it, a further report may try again. */
const RESUMING_MS = 60_000;

/** The service reports a call, or the execution knocks at its own address to have its calls looked at. */
export async function onReport(
	context: IWebhookFunctions,
	form: Fields,
): Promise<IWebhookResponseData> {
	const reply = new WebhookResponder(context);
	const payload = await readJson(context);
	if ('rejected' in payload) return reply.reject(payload.rejected);
	const items = waitingItems(context);
	const sleeper = waitingExecutionOf(context, form, items);
	const report = readReport(payload.json);
	// One with too many calls is like one with none: all calls are looked at.
	const reported = Array.isArray(report) ? report.map(({ callId }) => callId) : [];
	try {
		const { client } = await createAccountClient(context);
		const read = async (callId: string) => await readCallRecord(client, callId);
		const isLastLook = sleeper.deadline.left <= 0;
		if (isLastLook) sleeper.calls.noteReported(reported);
		if (isLastLook || reported.length === 0) await sleeper.calls.pollAll(read);
		else await sleeper.calls.report(reported, read);
		if (sleeper.calls.lagging.length > 0) void followLagging(context, sleeper, read);
	} catch (error) {
		// After the limit what is known has to do.
		if (sleeper.deadline.left <= 0) sleeper.calls.noteNotRead(error);
		else {
			return reply.reject({ status: 503, message: 'The call cannot be read now. Deliver again.' });
		}
	}
	const open = sleeper.calls.pending.length;
	reply.send(200, { received: true, open });
	if (open > 0 && sleeper.deadline.left > 0) {
		if (reported.length > 0) void keepPinging(context, resumeUrlOf(context), sleeper.deadline);
		return NO_EXECUTION;
	}
	const now = clock.elapsed();
	if (now - (sleeper.resumedAt ?? -Infinity) < RESUMING_MS) return NO_EXECUTION;
	sleeper.resumedAt = now;
	return { noWebhookResponse: true, workflowData: [results(form, sleeper.calls, items)] };
}

/** Runs on beside the sleeping execution until the records of all reported calls have caught up. */
async function followLagging(
	context: IWebhookFunctions,
	sleeper: WaitingExecution,
	read: ReadRecord,
): Promise<void> {
	if (sleeper.isFollowed) return;
	sleeper.isFollowed = true;
	const { calls, deadline } = sleeper;
	const address = resumeUrlOf(context);
	for (let look = 1; calls.lagging.length > 0 && deadline.left > 0; look++) {
		await clock.sleep(backoffMs(LAG_BACKOFF, look));
		await calls.pollLagging(read);
	}
	sleeper.isFollowed = false;
	if (calls.pending.length === 0) await resume(context, address);
}

/** The items that `execute` left with the sleeping execution. */
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
	forgetOld();
	const waiting = items.filter(({ json }) => WAITS_UNTIL in json);
	const waitsUntil = waiting[0]?.json[WAITS_UNTIL];
	const until = typeof waitsUntil === 'string' ? Date.parse(waitsUntil) : 0;
	const key = `${context.getExecutionId()}/${context.getNode().id}/${until}`;
	const known = waitingExecutions.get(key);
	if (known !== undefined) return known;
	const callIds = waiting.map(callIdOf);
	const calls = new PendingCalls(
		new Set(callIds.filter((callId) => callId !== undefined)),
		readFinishedStatuses(context, form),
		() => clock.elapsed(),
	);
	const deadline = new StoredDeadline(clock, until);
	const sleeper = { calls, deadline, resumedAt: undefined, isFollowed: false };
	waitingExecutions.set(key, sleeper);
	return sleeper;
}

/** What has been awake for a while, or should have been, is of no use any more. */
function forgetOld(): void {
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
