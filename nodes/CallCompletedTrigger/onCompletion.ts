import uniqBy from 'lodash/uniqBy';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { asItems } from '../shared/n8n/run/itemLoop';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import {
	type ExecutionStarter,
	openStarter,
	withStarter,
} from '../shared/n8n/triggers/executionStarter';
import {
	TRY_LATER,
	NO_EXECUTION,
	readJson,
	type RejectedDelivery,
	WebhookResponder,
} from '../shared/n8n/triggers/webhookResponse';
import { MAX_WAITING_WEBHOOKS, triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { readUsable, requireUsable } from '../shared/n8n/triggers/usableFields';
import {
	isWanted,
	type OutcomeHint,
	outcomeHint,
	type OutcomeKeys,
	reportedOutcome,
} from '../shared/calls/callEnd';
import { withPhoneKey } from '../shared/calls/callRecord';
import { isUnknownCall } from '../shared/calls/readBack';
import {
	callKey,
	MAX_CALLS_PER_REPORT,
	readReport,
	type ReportedCall,
	type UnusableReport,
} from '../shared/calls/report';
import { fingerprint } from '../shared/hash';
import { isJsonObject, type JsonObject } from '../shared/json';
import { detachedCopy } from '../shared/values';
import { budgetOf, type ReadBudget } from './readBudget';
import { type CompletionSettings, readCompletionSettings, type ReadingSettings } from './settings';
import { CallVerifier, Closed } from './callVerifier';
import { isHandled, noteHandled, showsFormer } from './handledOutcomes';
import { outcomeKeysOf } from './outcomeKeys';
import { CallReader } from './reading/callReader';
import { createdAtOf } from './reading/listedCall';
import { isRead } from './reading/listsToRead';
import { sampleCall } from './reading/sampleCall';
import { unverifiedMessages } from './unverified';

/** The sender's timeout isn't documented, so the response takes at most this long. */
const MAX_RESPONSE_MS = 10_000;

/** The maximum while many forged calls arrive, because waiting connections cost n8n memory. */
const MAX_RESPONSE_IN_FLOOD_MS = 3_000;

const UNKNOWN_CALL: RejectedDelivery = {
	status: 404,
	message: 'The service has no call with this ID.',
};

const UNUSABLE: Record<UnusableReport, RejectedDelivery> = {
	too_many_calls: {
		status: 400,
		message: `The body has more than ${MAX_CALLS_PER_REPORT} calls. Send at most ${MAX_CALLS_PER_REPORT} in a request.`,
	},
	too_many_values: { status: 413, message: 'The body has too many values. Send fewer calls.' },
};

/** n8n's separate webhook processes start one execution per request. */
const ONE_AT_A_TIME: RejectedDelivery = {
	status: 400,
	message: 'The body has several calls. Send each call in a separate request.',
};

/** By active trigger. */
const verifierOf = new WeakMap<ITriggerFunctions, CallVerifier>();

/** By active trigger that also reads the calls. */
const readerOf = new WeakMap<ITriggerFunctions, CallReader>();

/** Runs as `trigger()`. */
export async function openCompletions(trigger: ITriggerFunctions): Promise<ITriggerResponse> {
	const closing = new AbortController();
	const settings = requireUsable(trigger, () => readCompletionSettings(trigger), closing.signal);
	const verifier = new CallVerifier(trigger);
	verifierOf.set(trigger, verifier);
	const { reading } = settings;
	const reader =
		reading === undefined ? undefined : await CallReader.open(trigger, settings, reading);
	if (reader !== undefined) readerOf.set(trigger, reader);
	return openStarter(trigger, async () => {
		closing.abort();
		await Promise.all([verifier.close(), reader?.close()]);
	});
}

/** Runs in `execute()`. @returns undefined unless it's a test in the editor without a webhook */
export async function sampleOfTest(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][] | undefined> {
	if (context.getMode() !== 'manual') return undefined;
	try {
		const settings = readCompletionSettings(context);
		const { reading, hasWebhook } = settings;
		if (reading === undefined || hasWebhook) return undefined;
		return [asItems(await sampleCall(context, settings, reading))];
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** A completed call from a request of the completion webhook. */
type Delivery = {
	callId: string;
	/** The call's data in the request, or only a hint if calls are verified. */
	reported: { item: JsonObject; outcome: JsonObject } | { hint: OutcomeHint };
	settings: CompletionSettings;
	keys: OutcomeKeys;
	starter: ExecutionStarter;
	responder: WebhookResponder;
	budget: ReadBudget;
};

/** Handles a request of the completion webhook. Starts one execution per call. */
export async function onCompletion(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const responder = new WebhookResponder(context);
	const read = await readCalls(context);
	if ('rejected' in read) return responder.reject(read.rejected);
	const { bytes, settings, keys } = read;
	responder.rejectAfter(MAX_RESPONSE_MS, TRY_LATER);
	const handleAll = async (starter: ExecutionStarter | undefined) => {
		if (starter === undefined) return responder.reject(TRY_LATER);
		// Without the trigger, nothing waits for another outcome of a call.
		const isOnce = settings.verify && starter.trigger === undefined;
		const calls = isOnce ? uniqBy(read.calls, ({ callId }) => callKey(callId)) : read.calls;
		if (calls.length > 1 && !starter.acceptsMultiple) return responder.reject(ONE_AT_A_TIME);
		const responders = responder.parts(calls.length);
		const budget = budgetOf(triggerKey(context));
		const results = calls.map(async (call, index) => {
			const own = responders[index] ?? responder;
			return await handle(context, { ...call, settings, keys, starter, responder: own, budget });
		});
		return joined(await Promise.all(results));
	};
	return await withStarter(context, handleAll, bytes);
}

type ReadCalls = Pick<Delivery, 'settings' | 'keys'> & {
	calls: Call[];
	/** The size of the body, if it stays in memory. */
	bytes: number;
};

/** Reads the calls of a request. */
async function readCalls(
	context: IWebhookFunctions,
): Promise<ReadCalls | { rejected: RejectedDelivery }> {
	const payload = await readJson(context);
	if ('rejected' in payload) return payload;
	const report = readReport(payload.json);
	if (!Array.isArray(report)) return { rejected: UNUSABLE[report] };
	if (report.length === 0) {
		return { rejected: { status: 400, message: 'The body has no call_id.' } };
	}
	const usable = readUsable(context, () => readCompletionSettings(context));
	if ('rejected' in usable) return usable;
	const settings = usable.fields;
	const keys = outcomeKeysOf(context, settings.verify);
	if (settings.verify) return { calls: callsToVerify(report, settings), bytes: 0, settings, keys };
	return { calls: unverifiedCalls(report, keys), bytes: payload.bytes, settings, keys };
}

type Call = Pick<Delivery, 'callId' | 'reported'>;

/** Keeps only IDs and hints, because the body may be large and the verification may take minutes. */
function callsToVerify(report: ReportedCall[], { finished }: CompletionSettings): Call[] {
	const calls = report.map((call) => {
		const reported = { hint: outcomeHint(call, finished) };
		return { callId: detachedCopy(call.callId), reported };
	});
	return uniqBy(calls, ({ callId, reported }) => fingerprint([callKey(callId), reported.hint]));
}

function unverifiedCalls(report: ReportedCall[], keys: OutcomeKeys): Call[] {
	const calls = report.map((call) => {
		const { callId, part } = call;
		const item = isJsonObject(part) ? part : { payload: part };
		return { callId, reported: { item, outcome: reportedOutcome(call) } };
	});
	return uniqBy(calls, ({ callId, reported }) => keys.keyOf(callId, reported.outcome));
}

/** In the editor's test, one execution gets all calls of a request. */
function joined(results: IWebhookResponseData[]): IWebhookResponseData {
	const [first = NO_EXECUTION] = results;
	const items = results.flatMap(({ workflowData }) => workflowData?.flat() ?? []);
	if (results.length === 1 || items.length === 0) return first;
	const started = results.find(({ workflowData }) => workflowData !== undefined);
	return { ...started, workflowData: [items] };
}

async function handle(
	context: IWebhookFunctions,
	delivery: Delivery,
): Promise<IWebhookResponseData> {
	const { callId, reported, settings, responder, budget } = delivery;
	const { trigger } = delivery.starter;
	const verifier = trigger === undefined ? undefined : verifierOf.get(trigger);
	const mustVerify = 'hint' in reported;
	if (mustVerify && !budget.isKnown(callId)) {
		if (budget.isUnknown(callId)) return responder.reject(UNKNOWN_CALL);
		// n8n keeps a sandbox for each waiting webhook.
		const isFull = verifier?.isFull ?? budget.waitingCount >= MAX_WAITING_WEBHOOKS;
		if (isFull) {
			verifier?.noteRejected();
			return responder.reject(TRY_LATER);
		}
		if (budget.isFlooded) responder.rejectAfter(MAX_RESPONSE_IN_FLOOD_MS, TRY_LATER);
	}
	if (settings.respondsImmediately) responder.send(202, received(callId));
	if (!mustVerify) return pass(delivery, reported.item, reported.outcome);
	// Without the trigger, only the return value of the webhook can start the execution.
	if (verifier === undefined) {
		const verified = verify(delivery, reported.hint, new CallVerifier(context));
		return await verified.catch((error: unknown) => {
			throw toNodeError(context.getNode(), error);
		});
	}
	void verify(delivery, reported.hint, verifier);
	return NO_EXECUTION;
}

/**
 * Starts nothing if the call doesn't exist, is still in progress, or can't be read now. In the editor's test, throws why.
 *
 * @param former a record with the outcome before the reported one. If that never shows, starts the workflow with this
 * record, unless it was handled
 */
async function verify(
	delivery: Delivery,
	hint: OutcomeHint,
	verifier: CallVerifier,
	former?: JsonObject,
): Promise<IWebhookResponseData> {
	const { callId, settings, starter, responder, budget } = delivery;
	const giveUp = () => {
		responder.reject(TRY_LATER);
		// No other report may arrive.
		const isNew = former !== undefined && !isHandled(delivery, former);
		return isNew ? passVerified(delivery, former) : NO_EXECUTION;
	};
	const reading = verifier.verify(callId, settings, former);
	if (reading === undefined) return giveUp();
	try {
		const { record } = await reading.verified;
		if (!showsFormer(delivery, hint, record)) return passVerified(delivery, record);
		if (former !== undefined && !isHandled(delivery, record)) {
			// An outcome in between starts the workflow now, so that forged reports can't delay it.
			passVerified({ ...delivery, responder: new WebhookResponder(() => {}) }, record);
		}
		return await verify(delivery, hint, verifier, record);
	} catch (error) {
		if (isUnknownCall(error) && !budget.isKnown(callId)) return responder.reject(UNKNOWN_CALL);
		const [shown] = unverifiedMessages([{ callId, error }]);
		// The editor shows it. After a response to the sender, n8n can't respond with an error.
		if (starter.isTest && shown !== undefined && responder.leaveToN8n()) throw shown;
		if (reading.isFirst) verifier.couldNotVerify(callId, error);
		// Closing the trigger notifies the owner that nothing was started.
		return error instanceof Closed ? responder.reject(TRY_LATER) : giveUp();
	}
}

function passVerified(delivery: Delivery, record: JsonObject): IWebhookResponseData {
	const { settings } = delivery;
	if (settings.allowDuplicates || !isWanted(record, settings.filters)) {
		noteHandled(delivery, record);
	}
	return pass(delivery, record, record);
}

/**
 * Starts the workflow, unless this outcome has started it before or doesn't match the filters.
 *
 * @param outcome identifies the outcome of the call, and is compared with the filters
 */
function pass(
	{ callId, settings, keys, starter, responder }: Delivery,
	item: JsonObject,
	outcome: JsonObject,
): IWebhookResponseData {
	const key = settings.allowDuplicates ? undefined : keys.keyOf(callId, outcome);
	if (starter.isUsed(key)) {
		responder.send(200, { ...received(callId), message: 'This call was received before.' });
		return NO_EXECUTION;
	}
	if (!isWanted(outcome, settings.filters)) {
		responder.send(200, received(callId));
		return NO_EXECUTION;
	}
	const { reading } = settings;
	// Another process has the trigger, which can't know that this one started an execution.
	if (starter.isElsewhere && reading !== undefined && startsByReading(outcome, reading)) {
		responder.send(200, { ...received(callId), message: 'The next reading starts the workflow.' });
		return NO_EXECUTION;
	}
	const reader = starter.trigger === undefined ? undefined : readerOf.get(starter.trigger);
	const listener = reader?.onWebhook(callId, outcome);
	return starter.emit(asItems(withPhoneKey(item)), key, responder, received(callId), listener);
}

/** Whether the trigger starts the workflow for a call when it reads the call list. */
function startsByReading(record: JsonObject, { source, from }: ReadingSettings): boolean {
	return isRead(record, source) && (from === undefined || createdAtOf(record) >= from);
}

function received(callId: string): JsonObject {
	return { received: true, call_id: callId };
}
