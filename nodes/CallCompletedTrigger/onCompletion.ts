import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { asItems } from '../shared/n8n/itemLoop';
import { clock, connect } from '../shared/n8n/connect';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { OnceEmitter } from '../shared/n8n/onceEmitter';
import { NO_EXECUTION, readJson, Reply, type Refused } from '../shared/n8n/webhookAnswer';
import { findCallId, isWanted } from '../shared/service/calls/completion';
import { isUnknownCall, readCompletedCall } from '../shared/service/calls/readBack';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/service/types';
import { notVerified } from './notVerified';
import { readSettings, type TriggerSettings } from './readSettings';

/** The sender's patience is unknown: it is not kept waiting longer than this. */
const LONGEST_ANSWER_MS = 10_000;

/** How long a call that cannot be read now is tried again. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

type Verified = { record: JsonObject } | { error: unknown };

/** One delivery of the completion webhook, from its body to its execution. */
export async function onCompletion(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new Reply(context);
	const payload = await readJson(context);
	if ('refused' in payload) return reply.refuse(payload.refused);
	const callId = findCallId(payload.json);
	if (callId === undefined) {
		return reply.refuse({ status: 400, message: 'The body holds no call_id.' });
	}
	return await completed(context, reply, payload.json, callId);
}

async function completed(
	context: IWebhookFunctions,
	reply: Reply,
	payload: JsonValue,
	callId: string,
): Promise<IWebhookResponseData> {
	const settings = readSettings(context);
	const emitter = new OnceEmitter(context);
	const key = settings.repeats ? undefined : callId;
	const received = { received: true, call_id: callId };
	const isRepeat = () => {
		if (!emitter.isUsed(key)) return false;
		reply.send(200, { ...received, message: 'This call was received before.' });
		return true;
	};
	if (isRepeat()) return NO_EXECUTION;
	if (settings.answer === 'atOnce') reply.send(202, received);
	const outcome = settings.verify
		? await verify(context, reply, callId, settings)
		: { record: isJsonObject(payload) ? payload : { payload } };
	if ('error' in outcome) return turnDown(context, emitter, reply, callId, outcome.error);
	// Another delivery of the same call may have come through meanwhile.
	if (isRepeat()) return NO_EXECUTION;
	reply.send(200, received);
	if (!isWanted(outcome.record, settings.filters)) return NO_EXECUTION;
	return emitter.emit(asItems(outcome.record), key);
}

/** Reads the call back; when that takes long, the sender is asked to come again meanwhile. */
async function verify(
	context: IWebhookFunctions,
	reply: Reply,
	callId: string,
	{ include }: TriggerSettings,
): Promise<Verified> {
	const read = async (): Promise<Verified> => {
		try {
			const { service } = await connect(context);
			const until = clock.now() + GIVE_UP_AFTER_MS;
			return { record: await readCompletedCall(service, callId, include, until) };
		} catch (error) {
			return { error };
		}
	};
	const reading = read();
	const first = await Promise.race([reading, clock.sleep(LONGEST_ANSWER_MS)]);
	if (first === undefined) reply.refuse(ASK_AGAIN);
	return await reading;
}

const ASK_AGAIN: Refused = {
	status: 503,
	message: 'The call cannot be verified now. Deliver again.',
};

/** Nothing starts: the call is made up, or nobody can tell now whether it is. */
function turnDown(
	context: IWebhookFunctions,
	emitter: OnceEmitter,
	reply: Reply,
	callId: string,
	error: unknown,
): IWebhookResponseData {
	if (isUnknownCall(error)) {
		return reply.refuse({ status: 404, message: 'The service does not know this call.' });
	}
	emitter.report(toNodeError(context.getNode(), notVerified(callId, error)));
	return reply.refuse(ASK_AGAIN);
}
