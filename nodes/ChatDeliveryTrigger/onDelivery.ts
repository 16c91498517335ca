import type {
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { plainText } from '../shared/values';
import type { ExplainedError } from '../shared/api/errors';
import { activeTrigger, triggerPlace } from '../shared/n8n/activeTriggers';
import { asItems } from '../shared/n8n/itemLoop';
import { type ExecutionEmitter, openEmitter, withEmitter } from '../shared/n8n/executionEmitter';
import { toNodeError } from '../shared/n8n/nodeErrors';
import type { RareNotice } from '../shared/n8n/rareNotice';
import { ASK_AGAIN, NO_EXECUTION, readJson, Reply } from '../shared/n8n/webhookAnswer';
import {
	checkSecret,
	requireSecret,
	type SecretCheck,
	secretNotice,
} from '../shared/n8n/webhookSecret';
import { isJsonObject, type JsonValue, valueAt } from '../shared/json';

/** Of each active trigger: requests that were rejected because its secret can't be used. */
const secretNotices = new WeakMap<ITriggerFunctions, RareNotice<ExplainedError>>();

/** Run as `trigger()`: a secret that nobody could know keeps the workflow from being published. */
export function openDeliveries(trigger: ITriggerFunctions): ITriggerResponse {
	const closing = new AbortController();
	try {
		if (secretPlace(trigger) !== NO_SECRET) requireSecret(trigger, 'secret');
	} catch (error) {
		throw toNodeError(trigger.getNode(), error);
	}
	secretNotices.set(trigger, secretNotice(trigger, closing.signal));
	return openEmitter(trigger, async () => {
		closing.abort();
	});
}

/** One delivery: its payload is open, so it is passed on as it came. */
export async function onDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new Reply(context);
	const secret = checkDelivery(context);
	if (secret.kind === 'unusable') {
		const trigger = activeTrigger(triggerPlace(context));
		if (trigger !== undefined) secretNotices.get(trigger)?.add(secret.why);
	}
	if (secret.kind !== 'passed') {
		return reply.refuse({ status: 403, message: 'The secret in the address is missing or wrong.' });
	}
	const payload = await readJson(context);
	if ('refused' in payload) return reply.refuse(payload.refused);
	const { json, bytes } = payload;
	const key = keyOf(json, plainText(context.getNodeParameter('keyField', '')));
	const take = async (emitter: ExecutionEmitter | undefined) => {
		if (emitter === undefined) return reply.refuse(ASK_AGAIN);
		if (emitter.isUsed(key)) {
			reply.send(200, { received: true, message: 'This was received before.' });
			return NO_EXECUTION;
		}
		const items = asItems(isJsonObject(json) ? json : { payload: json });
		return await Promise.resolve(emitter.emit(items, key, reply, { received: true }));
	};
	return await withEmitter(context, take, bytes);
}

const NO_SECRET = 'none';

function secretPlace(context: ITriggerFunctions | IWebhookFunctions): unknown {
	return context.getNodeParameter('secretIn', NO_SECRET);
}

function checkDelivery(context: IWebhookFunctions): SecretCheck {
	const place = secretPlace(context);
	if (place === NO_SECRET) return { kind: 'passed' };
	const parts: object = place === 'path' ? context.getParamsData() : context.getQueryData();
	const given: unknown = 'secret' in parts ? parts.secret : undefined;
	return checkSecret(given, () => requireSecret(context, 'secret'));
}

/** A delivery without its key cannot be told from others, and so is never held off. */
function keyOf(payload: JsonValue, path: string): string | undefined {
	const value = (path.trim() === '' ? undefined : valueAt(payload, path.trim())) ?? '';
	return value === '' ? undefined : JSON.stringify(value);
}
