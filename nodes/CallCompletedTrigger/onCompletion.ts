import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { asItems } from '../shared/n8n/itemLoop';
import { withEmitter, type ExecutionEmitter } from '../shared/n8n/executionEmitter';
import { ASK_AGAIN, NO_EXECUTION, readJson, Reply } from '../shared/n8n/webhookAnswer';
import {
	findCallId,
	isWanted,
	OBSERVED_OUTCOMES,
	outcomeKey,
	parseList,
	reportedOutcome,
	type CompletionFilters,
} from '../shared/calls/completion';
import { withPhoneKey } from '../shared/calls/callRecord';
import { isUnknownCall, type Included } from '../shared/calls/readBack';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';
import { Verifications } from './verifications';

/** The sender's patience is unknown: it is not kept waiting longer than this. */
const LONGEST_ANSWER_MS = 10_000;

/** Of each active trigger. */
const verificationsOf = new WeakMap<ITriggerFunctions, Verifications>();

/** Called as the trigger becomes active; returns what n8n does as it closes it. */
export function openVerifications(trigger: ITriggerFunctions): () => Promise<void> {
	const verifications = new Verifications(trigger);
	verificationsOf.set(trigger, verifications);
	return async () => await verifications.close();
}

/** What the person set in the trigger. */
type CompletionSettings = {
	verify: boolean;
	included: Included;
	filters: CompletionFilters;
	/** Statuses that the user counts as finished. */
	finished: string[];
	answersAtOnce: boolean;
	repeats: boolean;
};

/** One delivery of the completion webhook on its way to its execution. */
type Delivery = {
	callId: string;
	payload: JsonValue;
	settings: CompletionSettings;
	emitter: ExecutionEmitter;
	reply: Reply;
};

/** From a delivery's body to its execution. */
export async function onCompletion(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new Reply(context);
	const payload = await readJson(context);
	if ('refused' in payload) return reply.refuse(payload.refused);
	const callId = findCallId(payload.json);
	if (callId === undefined) {
		return reply.refuse({ status: 400, message: 'The body holds no call_id.' });
	}
	const settings = readCompletionSettings(context);
	reply.refuseAfter(LONGEST_ANSWER_MS, ASK_AGAIN);
	return await withEmitter(context, async (emitter) => {
		if (emitter === undefined) return reply.refuse(ASK_AGAIN);
		return await take(context, { callId, payload: payload.json, settings, emitter, reply });
	});
}

async function take(context: IWebhookFunctions, delivery: Delivery): Promise<IWebhookResponseData> {
	const { callId, payload, settings, emitter, reply } = delivery;
	const { trigger } = emitter;
	const here = trigger === undefined ? undefined : verificationsOf.get(trigger);
	if (here?.isFull === true) return reply.refuse(ASK_AGAIN);
	if (settings.answersAtOnce) reply.send(202, received(callId));
	if (!settings.verify) {
		const record = isJsonObject(payload) ? payload : { payload };
		return pass(delivery, record, outcomeKey(callId, reportedOutcome(payload)));
	}
	// Without the trigger the execution can only be started by what is returned to n8n.
	if (here === undefined) return await verified(delivery, new Verifications(context));
	void verified(delivery, here);
	return NO_EXECUTION;
}

/** Nothing starts where the call is made up or goes on, or nobody can tell now whether it does. */
async function verified(
	delivery: Delivery,
	verifications: Verifications,
): Promise<IWebhookResponseData> {
	const { callId, settings, reply } = delivery;
	const { reading, isFirst } = verifications.verify(callId, settings);
	try {
		const { record } = await reading;
		return pass(delivery, record, outcomeKey(callId, record));
	} catch (error) {
		if (isUnknownCall(error)) {
			return reply.refuse({ status: 404, message: 'The service does not know this call.' });
		}
		if (isFirst) verifications.couldNotVerify(callId, error);
		return reply.refuse(ASK_AGAIN);
	}
}

/** Starts the workflow, unless this outcome has started it before or is not wanted. */
function pass(
	{ callId, settings, emitter, reply }: Delivery,
	record: JsonObject,
	outcome: string,
): IWebhookResponseData {
	const key = settings.repeats ? undefined : outcome;
	if (emitter.isUsed(key)) {
		reply.send(200, { ...received(callId), message: 'This call was received before.' });
		return NO_EXECUTION;
	}
	if (!isWanted(record, settings.filters)) {
		reply.send(200, received(callId));
		return NO_EXECUTION;
	}
	return emitter.emit(asItems(withPhoneKey(record)), key, reply, received(callId));
}

function received(callId: string): JsonObject {
	return { received: true, call_id: callId };
}

function readCompletionSettings(context: IWebhookFunctions): CompletionSettings {
	const text = (name: string, fallback = '') => {
		const value: unknown = context.getNodeParameter(name, fallback, {
			extractValue: name.endsWith('.agentUuid'),
		});
		// An expression may give a list.
		const parts: unknown[] = Array.isArray(value) ? value : [value];
		return parts.filter((part) => typeof part === 'string' || typeof part === 'number').join();
	};
	const include: unknown = context.getNodeParameter('include', []);
	const isIncluded = (part: string) => Array.isArray(include) && include.includes(part);
	return {
		verify: context.getNodeParameter('verify', true) !== false,
		included: { transcript: isIncluded('transcript'), recording: isIncluded('recording') },
		filters: {
			agent_uuid: parseList(text('filters.agentUuid')),
			campaign_id: parseList(text('filters.campaignIds')),
			status: parseList(text('filters.statuses')),
		},
		finished: parseList(text('settings.finishedStatuses', OBSERVED_OUTCOMES.join(','))),
		answersAtOnce: text('settings.answer') === 'atOnce',
		repeats: context.getNodeParameter('settings.repeats', false) === true,
	};
}
