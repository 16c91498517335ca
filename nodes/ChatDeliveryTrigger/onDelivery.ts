import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { plainText } from '../shared/values';
import { isSecret } from '../shared/hash';
import { asItems } from '../shared/n8n/itemLoop';
import { withEmitter } from '../shared/n8n/executionEmitter';
import { ASK_AGAIN, NO_EXECUTION, readJson, Reply } from '../shared/n8n/webhookAnswer';
import { isJsonObject, type JsonValue, valueAt } from '../shared/json';

/** One delivery: its payload is open, so it is passed on as it came. */
export async function onDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const reply = new Reply(context);
	if (!hasSecret(context)) {
		return reply.refuse({ status: 403, message: 'The secret in the address is missing or wrong.' });
	}
	const payload = await readJson(context);
	if ('refused' in payload) return reply.refuse(payload.refused);
	const { json } = payload;
	const key = keyOf(json, plainText(context.getNodeParameter('keyField', '')));
	return await withEmitter(context, async (emitter) => {
		if (emitter === undefined) return reply.refuse(ASK_AGAIN);
		if (emitter.isUsed(key)) {
			reply.send(200, { received: true, message: 'This was received before.' });
			return NO_EXECUTION;
		}
		const items = asItems(isJsonObject(json) ? json : { payload: json });
		return await Promise.resolve(emitter.emit(items, key, reply, { received: true }));
	});
}

function hasSecret(context: IWebhookFunctions): boolean {
	const place = context.getNodeParameter('secretIn', 'none');
	if (place === 'none') return true;
	const wanted = plainText(context.getNodeParameter('secret', ''));
	const parts: object = place === 'path' ? context.getParamsData() : context.getQueryData();
	const given = 'secret' in parts ? plainText(parts.secret) : '';
	// An empty secret protects nothing, so it lets nothing in.
	return wanted !== '' && isSecret(given, wanted);
}

/** A delivery without its key cannot be told from others, and so is never held off. */
function keyOf(payload: JsonValue, path: string): string | undefined {
	const value = (path.trim() === '' ? undefined : valueAt(payload, path.trim())) ?? '';
	return value === '' ? undefined : JSON.stringify(value);
}
