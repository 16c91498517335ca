import type {
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { explained } from '../shared/api/errors';
import {
	type ExecutionStarter,
	openStarter,
	withStarter,
} from '../shared/n8n/triggers/executionStarter';
import type { Fields } from '../shared/n8n/forms/fields';
import { asItems } from '../shared/n8n/run/itemLoop';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { noteUnusable, readUsable, requireUsable } from '../shared/n8n/triggers/usableFields';
import {
	TRY_LATER,
	NO_EXECUTION,
	readJson,
	WebhookResponder,
} from '../shared/n8n/triggers/webhookResponse';
import { checkSecret, requireSecret, type SecretCheck } from '../shared/n8n/triggers/webhookSecret';
import { isJsonObject, type JsonValue, valueAt } from '../shared/json';
import { deliveryFields } from './properties';

/** Run as `trigger()`. */
export function openDeliveries(trigger: ITriggerFunctions): ITriggerResponse {
	const closing = new AbortController();
	const form = formOf(trigger, deliveryFields);
	const read = () => {
		if (form.choice('secretIn', NO_SECRET) !== NO_SECRET) requireSecret(form, 'secret');
		form.text('keyField');
	};
	requireUsable(trigger, read, closing.signal);
	return openStarter(trigger, async () => {
		closing.abort();
	});
}

/** One delivery: its payload is open, so it is passed on as it came. */
export async function onDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new WebhookResponder(context);
	const form = formOf(context, deliveryFields);
	const secret = checkDelivery(context, form);
	if (secret.kind === 'unusable') noteUnusable(context, secret.why);
	if (secret.kind !== 'passed') {
		return reply.reject({ status: 403, message: 'The secret in the address is missing or wrong.' });
	}
	const payload = await readJson(context);
	if ('rejected' in payload) return reply.reject(payload.rejected);
	const { json, bytes } = payload;
	const keyField = readUsable(context, () => form.text('keyField'));
	if ('rejected' in keyField) return reply.reject(keyField.rejected);
	const key = keyOf(json, keyField.fields);
	const take = async (emitter: ExecutionStarter | undefined) => {
		if (emitter === undefined) return reply.reject(TRY_LATER);
		if (emitter.isUsed(key)) {
			reply.send(200, { received: true, message: 'This was received before.' });
			return NO_EXECUTION;
		}
		const items = asItems(isJsonObject(json) ? json : { payload: json });
		return await Promise.resolve(emitter.emit(items, key, reply, { received: true }));
	};
	return await withStarter(context, take, bytes);
}

const NO_SECRET = 'none';

function checkDelivery(context: IWebhookFunctions, form: Fields): SecretCheck {
	let place: string;
	try {
		place = form.choice('secretIn', NO_SECRET);
	} catch (error) {
		return { kind: 'unusable', why: explained(error) };
	}
	if (place === NO_SECRET) return { kind: 'passed' };
	const parts: object = place === 'path' ? context.getParamsData() : context.getQueryData();
	const given: unknown = 'secret' in parts ? parts.secret : undefined;
	return checkSecret(given, () => requireSecret(form, 'secret'));
}

/** A delivery without its key cannot be told from others, and so is never held off. */
function keyOf(payload: JsonValue, path: string): string | undefined {
	const value = (path === '' ? undefined : valueAt(payload, path)) ?? '';
	return value === '' ? undefined : JSON.stringify(value);
}
