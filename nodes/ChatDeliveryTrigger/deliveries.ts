import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { isSecret } from '../core/values/hash';
import { isJsonObject, type JsonValue, valueAt } from '../core/values/json';
import { callerOf } from '../host/caller/caller';
import type { Fields } from '../host/forms/fields';
import { formOf, NodeParameters } from '../host/forms/nodeParameters';
import { asItems } from '../host/run/itemLoop';
import { toNodeError } from '../host/http/nodeErrors';
import { newEvents, readBody, reject } from '../host/triggers/webhookRequest';

/** The form, from top to bottom. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName:
			'Open <b>Webhook URLs</b>, and give the <b>Production URL</b> to your service provider. With a secret, add ?secret= and the secret.',
		name: 'urlNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Secret',
		name: 'secret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description:
			'Letters and digits that the URL must have as ?secret=. Without a secret, anyone who knows the URL can start the workflow.',
	},
	{
		displayName: 'Delivery ID Field',
		name: 'keyField',
		type: 'string',
		noDataExpression: true,
		default: '',
		placeholder: 'e.g. data.message_id',
		description:
			'The field of the output that identifies a delivery. A delivery that comes twice then starts the workflow once.',
	},
];

/** @throws InvalidInput naming the field that can't be used */
export function checkFields(form: Fields): void {
	form.text('secret');
	form.text('keyField');
}

/** Starts an execution with the body as received, because its shape isn't documented. */
export async function receiveDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const secret = formOf(context, deliveryFields).text('secret');
		const query: object = context.getQueryData();
		const given: unknown = 'secret' in query ? query.secret : undefined;
		if (secret !== '' && !isSecret(given, secret)) {
			return reject(context, 403, 'The secret in the URL is missing or wrong.');
		}
		const body = await readBody(context);
		if (body === undefined) return reject(context, 400, "The body is empty or can't be read.");
		return { workflowData: [asItems(isJsonObject(body) ? body : { payload: body })] };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** Passes the delivery on, unless it was received before. */
export async function passDelivery(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	try {
		const run = { context, caller: callerOf(context) };
		const path = new NodeParameters(run, deliveryFields).at(0).text('keyField');
		const key = keyOf(items[0]?.json, path);
		if (key === undefined) return [items];
		return [(await newEvents(run, [key])).has(key) ? items : []];
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/**
 * Undefined if there is no key, because then a repeated delivery can't be recognized. With the path, because values of
 * another field are other keys.
 */
function keyOf(delivery: unknown, path: string): string | undefined {
	if (path === '' || !isJsonObject(delivery)) return undefined;
	const value = valueAt(delivery, path) ?? '';
	return isEmpty(value) ? undefined : JSON.stringify([path, value]);
}

/** Whether the value is the same in deliveries that have nothing in the field. */
function isEmpty(value: JsonValue): boolean {
	return value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
}
