import castArray from 'lodash/castArray';
import once from 'lodash/once';
import keyBy from 'lodash/keyBy';
import type {
	INodeExecutionData,
	IWebhookDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { BoundedMap } from '../../core/values/boundedMap';
import { comparedReport, isBehind } from '../../core/calls/callEnd';
import { CallWatch } from '../../core/calls/callWatch';
import { readCallRecord } from '../../core/calls/readCall';
import { callIdKey, readReport } from '../../core/calls/completionWebhook';
import { fingerprint } from '../../core/values/hash';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/values/json';
import type { Fields } from '../../host/forms/fields';
import { valuesOfWaiting } from '../../host/claims/executionMemory';
import { createAccountClient } from '../../host/http/accountClient';
import { clock } from '../../host/clock';
import { addCustomData } from '../../host/run/customData';
import { readBody, reject } from '../../host/triggers/webhookRequest';
import { awaitedCalls, callIdsOf, WAIT, waitedItems } from './waitedItems';
import { readWaitOption } from './waitOption';

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

/** Pauses while the record of a call lags behind its report: a minute in all. */
const LAG_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000] as const;

/** n8n has marked the execution as running this soon after the wait has ended. */
const RESUME_MS = 30_000;

/** What requests have shown about a wait. */
type Wait = {
	/** Calls that were reported, and whose records showed no end for a minute: the service marks it in an undocumented way. */
	reported: Set<string>;
	/** Requests that read calls again, because their records lag behind. Another request doesn't end the wait meanwhile. */
	comparing: number;
	/**
	 * When a request has ended the wait, in the clock's `elapsed()`. n8n gives each request the execution as stored when it arrived. One that arrived
	 * before must not end the wait again, because the nodes after it would then run twice.
	 */
	endedAt: number;
};

/** By execution, calls, and the end of the wait: another branch may wait for the same call later. */
const waits = new BoundedMap<Wait>(10_000);

function waitOf(context: IWebhookFunctions, callIds: readonly string[], until: number): Wait {
	const key = fingerprint([context.getExecutionId(), ...callIds, until]);
	const wait = waits.get(key) ?? { reported: new Set(), comparing: 0, endedAt: -Infinity };
	waits.set(key, wait);
	return wait;
}

/** Without items, n8n leaves the execution as it is. */
const STILL_WAITING: IWebhookResponseData = { webhookResponse: { received: true } };

/** Handles a completion webhook from the service, or a ping from this execution to read its calls. */
export async function onCompletionWebhook(
	context: IWebhookFunctions,
	form: Fields,
): Promise<IWebhookResponseData> {
	const arrivedAt = clock.elapsed();
	const body = await readBody(context);
	if (body === undefined || typeof body === 'string') {
		return reject(context, 400, "The body isn't JSON.");
	}
	const items = waitingItems(context);
	const { until, earlierCalls } = valuesOfWaiting(context, WAIT);
	const calls = awaitedCalls(items, isJsonObject(earlierCalls) ? earlierCalls : {});
	const callIds = callIdsOf(calls);
	if (callIds.length === 0) return STILL_WAITING;
	const wait = waitOf(context, callIds, Number(until));
	const account = once(async () => await createAccountClient(context));
	const { finished, optOutKey } = readWaitOption(form);
	const watch = new CallWatch(callIds, {
		read: async (callId) => await readCallRecord((await account()).client, callId),
		finished,
		isReported: (callId) => wait.reported.has(callId),
		reader: 'onScreen',
	});
	const endWait = (): IWebhookResponseData => {
		if (arrivedAt < wait.endedAt + RESUME_MS) return STILL_WAITING;
		wait.endedAt = clock.elapsed();
		const output = waitedItems(items, calls, watch, optOutKey);
		addCustomData(context, output, 'call_id', 'outcome');
		return { workflowData: [output] };
	};
	if (clock.now() >= Number(until)) {
		await watch.read(callIds);
		return endWait();
	}
	const reports = reportsAmong(callIds, body);
	const reported = [...reports.keys()];
	await watch.read(reported);
	if (reported.some((callId) => watch.state(callId).readFailure !== undefined)) {
		return reject(context, 503, "The call can't be read now. Send the request again later.");
	}
	wait.comparing++;
	try {
		for (const delay of LAG_DELAYS_MS) {
			const lagging = reported.filter((callId) => {
				const { record, hasEnded } = watch.state(callId);
				return !hasEnded || isBehind(record, reports.get(callId) ?? {});
			});
			if (lagging.length === 0) break;
			await clock.sleep(delay);
			if (delay === LAG_DELAYS_MS.at(-1)) {
				for (const callId of lagging) wait.reported.add(callId);
			}
			await watch.read(lagging);
		}
	} finally {
		wait.comparing--;
	}
	return wait.comparing === 0 && (await watch.haveAllEnded()) ? endWait() : STILL_WAITING;
}

/** The items that `execute` stored with the waiting execution, and their files. */
function waitingItems(context: IWebhookFunctions): INodeExecutionData[] {
	const items: unknown = context.evaluateExpression('{{ $input.all() }}');
	return castArray(items).filter(isItem);
}

function isItem(item: unknown): item is INodeExecutionData {
	return isJsonObject(item) && isJsonObject(item.json);
}

/** What a report says of the calls of this execution. */
function reportsAmong(callIds: readonly string[], body: JsonValue): Map<string, JsonObject> {
	const reported = keyBy(readReport(body), ({ callId }) => callIdKey(callId));
	return new Map(
		callIds.flatMap((callId) => {
			const call = reported[callIdKey(callId)];
			return call === undefined ? [] : [[callId, comparedReport(call)]];
		}),
	);
}
