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
import { isJsonObject, type JsonObject, type JsonValue, valueAt } from '../shared/json';
import { deliveryFields } from './properties';

/** Run as `trigger()`. */
export function activateDeliveries(trigger: ITriggerFunctions): ITriggerResponse {
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

/** Starts the workflow with the payload as received, because its shape isn't documented. */
export async function onDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const responder = new WebhookResponder(context);
	const form = formOf(context, deliveryFields);
	const secret = checkDelivery(context, form);
	if (secret.kind === 'unusable') noteUnusable(context, secret.why);
	if (secret.kind !== 'passed') {
		return responder.reject({ status: 403, message: 'The secret in the URL is missing or wrong.' });
	}
	const payload = await readJson(context);
	if ('rejected' in payload) return responder.reject(payload.rejected);
	const { json, bytes } = payload;
	const keyField = readUsable(context, () => form.text('keyField'));
	if ('rejected' in keyField) return responder.reject(keyField.rejected);
	const output = isJsonObject(json) ? json : { payload: json };
	const key = keyOf(output, keyField.fields);
	const startExecution = async (starter: ExecutionStarter | undefined) => {
		if (starter === undefined) return responder.reject(TRY_LATER);
		if (starter.isUsed(key)) {
			responder.send(200, { received: true, message: 'This delivery was received before.' });
			return NO_EXECUTION;
		}
		const items = asItems(output);
		return await Promise.resolve(starter.emit(items, key, responder, { received: true }));
	};
	return await withStarter(context, startExecution, bytes);
}

const NO_SECRET = 'none';

function checkDelivery(context: IWebhookFunctions, form: Fields): SecretCheck {
	let secretIn: string;
	try {
		secretIn = form.choice('secretIn', NO_SECRET);
	} catch (error) {
		return { kind: 'unusable', why: explained(error) };
	}
	if (secretIn === NO_SECRET) return { kind: 'passed' };
	const values: object = secretIn === 'path' ? context.getParamsData() : context.getQueryData();
	const given: unknown = 'secret' in values ? values.secret : undefined;
	return checkSecret(given, () => requireSecret(form, 'secret'));
}

/**
 * Undefined if there is no key, because then a repeated delivery can't be recognized. With the path, because values of
 * another field are other keys.
 */
function keyOf(output: JsonObject, path: string): string | undefined {
	const value = (path === '' ? undefined : valueAt(output, path)) ?? '';
	return isEmpty(value) ? undefined : JSON.stringify([path, value]);
}

/** Whether the value is the same in deliveries that have nothing in the field. */
function isEmpty(value: JsonValue): boolean {
	return value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
}
