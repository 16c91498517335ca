import omit from 'lodash/omit';
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { clock, connect } from '../shared/n8n/connect';
import { NO_EXECUTION, readJson, Reply } from '../shared/n8n/webhookAnswer';
import { findCallId } from '../shared/service/calls/completion';
import { OpenCalls } from '../shared/service/calls/openCalls';
import { readCall } from '../shared/service/calls/readBack';
import { isJsonObject } from '../shared/service/types';
import { keepKnocking } from './knock';
import { resumeAddress } from './resumeAddress';
import { WAITS_UNTIL } from './sleepUntilOver';
import { callIdOf, waitedItem } from './waitedItem';
import { readFinishedStatuses } from './waitSettings';

/** A sleeping execution, as this process knows it. */
type Sleeper = { calls: OpenCalls; until: number; wokenAt: number };

const sleepers = new Map<string, Sleeper>();

/** n8n takes this long at most to wake an execution; after it, a further report may try again. */
const WAKING_MS = 60_000;

/** The service reports a call, or the execution knocks at its own address to have its calls looked at. */
export async function onReport(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new Reply(context);
	const payload = await readJson(context);
	if ('refused' in payload) return reply.refuse(payload.refused);
	const items = sleepingItems(context);
	const sleeper = sleeperOf(context, items);
	const reported = findCallId(payload.json);
	try {
		await look(context, sleeper, reported);
	} catch {
		return reply.refuse({ status: 503, message: 'The call cannot be read now. Deliver again.' });
	}
	const now = clock.now();
	const open = sleeper.calls.open.length;
	reply.send(200, { received: true, open });
	if (open > 0 && now < sleeper.until) {
		if (reported !== undefined)
			void keepKnocking(context, resumeAddress(context), sleeper.until, true);
		return NO_EXECUTION;
	}
	if (now - sleeper.wokenAt < WAKING_MS) return NO_EXECUTION;
	sleeper.wokenAt = now;
	return { noWebhookResponse: true, workflowData: [results(sleeper.calls, items)] };
}

async function look(
	context: IWebhookFunctions,
	{ calls }: Sleeper,
	reported: string | undefined,
): Promise<void> {
	const { service } = await connect(context);
	const read = async (callId: string) => await readCall(service, callId);
	if (reported === undefined) await calls.lookAtAll(read);
	else await calls.report(reported, read);
}

/** The items that `execute` left with the sleeping execution. */
function sleepingItems(context: IWebhookFunctions): INodeExecutionData[] {
	const items: unknown = context.evaluateExpression('{{ $input.all() }}');
	if (!Array.isArray(items)) return [];
	return items.filter(isJsonObject).map(({ json }) => ({ json: isJsonObject(json) ? json : {} }));
}

function sleeperOf(context: IWebhookFunctions, items: INodeExecutionData[]): Sleeper {
	forgetOld();
	const waiting = items.filter(({ json }) => WAITS_UNTIL in json);
	const waitsUntil = waiting[0]?.json[WAITS_UNTIL];
	const until = typeof waitsUntil === 'string' ? Date.parse(waitsUntil) : 0;
	const key = `${context.getExecutionId()}/${context.getNode().id}/${until}`;
	const known = sleepers.get(key);
	if (known !== undefined) return known;
	const callIds = waiting.map(callIdOf);
	const calls = new OpenCalls(
		new Set(callIds.filter((callId) => callId !== undefined)),
		readFinishedStatuses(context),
	);
	const sleeper = { calls, until, wokenAt: 0 };
	sleepers.set(key, sleeper);
	return sleeper;
}

/** What has been awake for a while, or should have been, is of no use any more. */
function forgetOld(): void {
	const now = clock.now();
	for (const [key, { until, wokenAt }] of sleepers) {
		if (now > until + 2 * WAKING_MS || (wokenAt > 0 && now > wokenAt + WAKING_MS)) {
			sleepers.delete(key);
		}
	}
}

function results(calls: OpenCalls, items: INodeExecutionData[]): INodeExecutionData[] {
	return items.map(({ json }, index) => {
		const placed = { json: omit(json, WAITS_UNTIL, 'not_read') };
		const callId = callIdOf(placed);
		if (callId === undefined) return { ...placed, pairedItem: { item: index } };
		return waitedItem(placed, index, calls.known(callId));
	});
}
