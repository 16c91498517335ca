import uniqBy from 'lodash/uniqBy';
import type {
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { asItems } from '../shared/n8n/run/itemLoop';
import {
	type ExecutionStarter,
	openStarter,
	withStarter,
} from '../shared/n8n/triggers/executionStarter';
import {
	ASK_AGAIN,
	NO_EXECUTION,
	readJson,
	type RejectedDelivery,
	WebhookResponder,
} from '../shared/n8n/triggers/webhookResponse';
import { MAX_WAITING_WEBHOOKS, triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { readUsable, requireUsable } from '../shared/n8n/triggers/usableFields';
import { isWanted, outcomeKey, reportedOutcome } from '../shared/calls/callEnd';
import { withPhoneKey } from '../shared/calls/callRecord';
import { isUnknownCall } from '../shared/calls/readBack';
import {
	callKey,
	MAX_CALLS_PER_REPORT,
	readReport,
	type ReportedCall,
	type UnusableReport,
} from '../shared/calls/report';
import { isJsonObject, type JsonObject } from '../shared/json';
import { detachedCopy } from '../shared/values';
import { budgetOf, type ReadBudget } from './readBudget';
import { type CompletionSettings, readCompletionSettings } from './settings';
import { CallVerifier } from './verifications';

/** The sender's patience is unknown: it is not kept waiting longer than this. */
const LONGEST_ANSWER_MS = 10_000;

/** Nor longer than this while many made-up calls are reported: connections that wait cost n8n memory. */
const LONGEST_ANSWER_IN_FLOOD_MS = 3_000;

const UNKNOWN_CALL: RejectedDelivery = {
	status: 404,
	message: 'The service does not know this call.',
};

const UNUSABLE: Record<UnusableReport, RejectedDelivery> = {
	too_many_calls: {
		status: 400,
		message: `The body has more than ${MAX_CALLS_PER_REPORT} calls. Send at most ${MAX_CALLS_PER_REPORT} in a request.`,
	},
	too_many_values: { status: 413, message: 'The body has too many values. Send fewer calls.' },
};

/** n8n's separate webhook processes start one execution for a request. */
const ONE_AT_A_TIME: RejectedDelivery = {
	status: 400,
	message: 'The body has several calls. Send each call in a request of its own.',
};

/** Of each active trigger. */
const verificationsOf = new WeakMap<ITriggerFunctions, CallVerifier>();

/** Run as `trigger()`. */
export function openCompletions(trigger: ITriggerFunctions): ITriggerResponse {
	const closing = new AbortController();
	requireUsable(trigger, () => readCompletionSettings(trigger), closing.signal);
	const verifications = new CallVerifier(trigger);
	verificationsOf.set(trigger, verifications);
	return openStarter(trigger, async () => {
		closing.abort();
		await verifications.close();
	});
}

/** One call that a delivery of the completion webhook reports, on its way to its execution. */
type Delivery = {
	callId: string;
	/** What the delivery says of the call, where that is not verified. */
	claims: { item: JsonObject; outcome: JsonObject } | undefined;
	settings: CompletionSettings;
	emitter: ExecutionStarter;
	reply: WebhookResponder;
	budget: ReadBudget;
};

/** From a delivery's body to its executions, one for each call. */
export async function onCompletion(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new WebhookResponder(context);
	const read = await readCalls(context);
	if ('rejected' in read) return reply.reject(read.rejected);
	const { calls, bytes, settings } = read;
	reply.rejectAfter(LONGEST_ANSWER_MS, ASK_AGAIN);
	const takeAll = async (emitter: ExecutionStarter | undefined) => {
		if (emitter === undefined) return reply.reject(ASK_AGAIN);
		if (calls.length > 1 && !emitter.takesSeveral) return reply.reject(ONE_AT_A_TIME);
		const replies = reply.parts(calls.length);
		const budget = budgetOf(triggerKey(context));
		const taking = calls.map(async (call, index) => {
			const own = replies[index] ?? reply;
			return await take(context, { ...call, settings, emitter, reply: own, budget });
		});
		return joined(await Promise.all(taking));
	};
	return await withStarter(context, takeAll, bytes);
}

/** What the delivery reports; `bytes` are those of the body that are kept. */
async function readCalls(
	context: IWebhookFunctions,
): Promise<
	{ calls: Call[]; bytes: number; settings: CompletionSettings } | { rejected: RejectedDelivery }
> {
	const payload = await readJson(context);
	if ('rejected' in payload) return payload;
	const report = readReport(payload.json);
	if (!Array.isArray(report)) return { rejected: UNUSABLE[report] };
	if (report.length === 0) {
		return { rejected: { status: 400, message: 'The body holds no call_id.' } };
	}
	const usable = readUsable(context, () => readCompletionSettings(context));
	if ('rejected' in usable) return usable;
	const settings = usable.fields;
	if (settings.verify) return { calls: toVerify(report), bytes: 0, settings };
	return { calls: toBelieve(report), bytes: payload.bytes, settings };
}

type Call = Pick<Delivery, 'callId' | 'claims'>;

/** Nothing of the report is kept but the IDs: it may be large, and the verification may take minutes. */
function toVerify(report: ReportedCall[]): Call[] {
	const calls = uniqBy(report, ({ callId }) => callKey(callId));
	return calls.map(({ callId }) => ({ callId: detachedCopy(callId), claims: undefined }));
}

function toBelieve(report: ReportedCall[]): Call[] {
	const calls = report.map((call) => {
		const { callId, part } = call;
		const item = isJsonObject(part) ? part : { payload: part };
		return { callId, claims: { item, outcome: reportedOutcome(call) } };
	});
	return uniqBy(calls, ({ callId, claims }) => outcomeKey(callId, claims.outcome));
}

/** Of several calls in the editor's test, all are in its one execution. */
function joined(results: IWebhookResponseData[]): IWebhookResponseData {
	const [first = NO_EXECUTION] = results;
	const items = results.flatMap(({ workflowData }) => workflowData?.flat() ?? []);
	if (results.length === 1 || items.length === 0) return first;
	const started = results.find(({ workflowData }) => workflowData !== undefined);
	return { ...started, workflowData: [items] };
}

async function take(context: IWebhookFunctions, delivery: Delivery): Promise<IWebhookResponseData> {
	const { callId, claims, settings, reply, budget } = delivery;
	const { trigger } = delivery.emitter;
	const here = trigger === undefined ? undefined : verificationsOf.get(trigger);
	const isClaimed = claims !== undefined;
	if (!isClaimed && budget.isUnknown(callId)) return reply.reject(UNKNOWN_CALL);
	if (!isClaimed && !budget.isKnown(callId)) {
		// A webhook that waits keeps a sandbox of n8n's.
		const isFull = here?.isFull ?? budget.waitingCount >= MAX_WAITING_WEBHOOKS;
		if (isFull) {
			here?.noteRejected();
			return reply.reject(ASK_AGAIN);
		}
		if (budget.isFlooded) reply.rejectAfter(LONGEST_ANSWER_IN_FLOOD_MS, ASK_AGAIN);
	}
	if (settings.answersAtOnce) reply.send(202, received(callId));
	if (isClaimed) return pass(delivery, claims.item, claims.outcome);
	// Without the trigger the execution can only be started by what is returned to n8n.
	if (here === undefined) return await verified(delivery, new CallVerifier(context));
	void verified(delivery, here);
	return NO_EXECUTION;
}

/** Nothing starts where the call is made up or goes on, or nobody can tell now whether it does. */
async function verified(
	delivery: Delivery,
	verifications: CallVerifier,
): Promise<IWebhookResponseData> {
	const { callId, settings, reply } = delivery;
	const reading = verifications.verify(callId, settings);
	if (reading === undefined) return reply.reject(ASK_AGAIN);
	try {
		const { record } = await reading.verified;
		return pass(delivery, record, record);
	} catch (error) {
		if (isUnknownCall(error)) return reply.reject(UNKNOWN_CALL);
		if (reading.isFirst) verifications.couldNotVerify(callId, error);
		return reply.reject(ASK_AGAIN);
	}
}

/**
 * Starts the workflow, unless this outcome has started it before or is not wanted.
 *
 * @param outcome what tells one outcome of the call from others, and what the filters ask for
 */
function pass(
	{ callId, settings, emitter, reply }: Delivery,
	item: JsonObject,
	outcome: JsonObject,
): IWebhookResponseData {
	const key = settings.repeats ? undefined : outcomeKey(callId, outcome);
	if (emitter.isUsed(key)) {
		reply.send(200, { ...received(callId), message: 'This call was received before.' });
		return NO_EXECUTION;
	}
	if (!isWanted(outcome, settings.filters)) {
		reply.send(200, received(callId));
		return NO_EXECUTION;
	}
	return emitter.emit(asItems(withPhoneKey(item)), key, reply, received(callId));
}

function received(callId: string): JsonObject {
	return { received: true, call_id: callId };
}
