import type {
	IHookFunctions,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import { onScreenOnly } from '../../core/service/resolution';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/values/json';
import type { Fields } from '../forms/fields';
import { formOf } from '../forms/nodeParameters';
import { toNodeError } from '../http/nodeErrors';

/** The used part of n8n's request. n8n has read the body, unless it doesn't know the content type. */
type RawRequest = { readRawBody(): Promise<void>; rawBody?: Buffer; body?: unknown };

/**
 * The body of a request: JSON with any content type, the fields of a form or of XML, or else its text. Undefined if
 * it's empty or can't be read.
 */
export async function readBody(context: IWebhookFunctions): Promise<JsonValue | undefined> {
	const request: unknown = context.getRequestObject();
	if (!isRawRequest(request)) return undefined;
	// Fails if n8n has read a form with files, or if the sender is gone.
	await request.readRawBody().catch(() => undefined);
	const text = request.rawBody?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
	// Not n8n's parsed JSON, because it rounds long numbers.
	const json = parseJson(text);
	if (json !== undefined) return json;
	return formIn(request.body) ?? (text.trim() === '' ? undefined : text);
}

/** Responds to the sender, and starts no execution. */
export function respond(
	context: IWebhookFunctions,
	status: number,
	body: JsonObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Tells the sender why the request starts nothing. */
export function reject(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	return respond(context, status, { received: false, message });
}

/**
 * For a webhook URL that is entered in the service or sent with a request, so nothing must be registered.
 *
 * @param readFields throws if the workflow must not be published, because of a field of the trigger
 */
export function nothingToRegister(
	properties: readonly INodeProperties[] = [],
	readFields: (form: Fields) => void = () => {},
) {
	return {
		async checkExists(this: IHookFunctions): Promise<boolean> {
			try {
				readFields(formOf(this, properties));
				if (this.getNode().alwaysOutputData !== true) return true;
				throw new InvalidInput(
					"'Always Output Data' in the settings of this trigger must be off",
					onScreenOnly(
						'Turn it off. With it, an event that repeats can start the workflow with an empty item.',
					),
				);
			} catch (error) {
				throw toNodeError(this.getNode(), error);
			}
		},
		async create(this: IHookFunctions): Promise<boolean> {
			return true;
		},
		async delete(this: IHookFunctions): Promise<boolean> {
			return true;
		},
	};
}

/** What n8n has read of a form or of XML. */
function formIn(body: unknown): JsonValue | undefined {
	const isEmpty = typeof body !== 'object' || body === null || Object.keys(body).length === 0;
	return isEmpty ? undefined : parseJson(textOf(body));
}

/** JSON that is nested too deeply can't be written again. */
function textOf(body: object): string {
	try {
		return JSON.stringify(body);
	} catch {
		return '';
	}
}

function isRawRequest(request: unknown): request is RawRequest {
	return isJsonObject(request) && 'readRawBody' in request;
}
