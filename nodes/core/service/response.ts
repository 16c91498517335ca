import {
	type ErrorRow,
	explanationOf,
	notProcessed,
	type RejectionBody,
	errorRowOf,
} from './errorTable';
import { isId, saysSuccess, type SuccessCheck } from './envelope';
import { OutcomeUnknown, ServiceRejection, type ErrorOrigin } from './errors';
import {
	type ApiResponse,
	type HttpResponse,
	type ServiceRequest,
	VALIDATION_STATUSES,
} from './http';
import { withoutQuotes } from './secrets';
import { fieldsIn, isJsonObject, type JsonObject, type JsonValue, parseJson } from '../values/json';
import { plainText } from '../values/values';

/** How to check a response. */
export type ResponseChecks = {
	/** Whether it proves success. */
	successCheck: SuccessCheck;
	/** Fields that only an effect fills, such as the ID of the created record. A rejection with one of them proves nothing. */
	effectFields?: readonly string[];
	/** Whether the response contains a token or a presigned URL. Messages then don't quote it. */
	isSecret?: boolean;
};

/** The service or a proxy timed out. The request may have taken effect. */
const TIMEOUT_STATUSES = new Set([408, 499]);

/**
 * Reads the envelope of a response (General conventions). Success and rejection each need proof:
 * - **success**: a 2xx that passes the success check of its endpoint
 * - **rejection**: an error body of the service, see {@link findRejection}, or a status of {@link notProcessed}
 * - **unknown**: everything else with any status, such as a web page, an empty body, or the response of a proxy
 *
 * @throws ServiceRejection if the request was rejected
 * @throws OutcomeUnknown if the response proves neither
 */
export function parseResponse(
	request: ServiceRequest,
	response: HttpResponse,
	{ successCheck, effectFields, isSecret = false }: ResponseChecks,
): ApiResponse {
	const { status } = response;
	const body = parseJson(response.text);
	const displayBody = isSecret ? withoutQuotes(body) : body;
	const rejection = isJsonObject(displayBody)
		? findRejection(displayBody, status, request)
		: undefined;
	const isSuccess = rejection === undefined && isSuccessStatus(status);
	if (isSuccess && body !== undefined && !deniesSuccess(body) && successCheck(body)) {
		return { status, body };
	}
	const { originalMessage, origin } = originalMessageOf(response, displayBody, rejection, isSecret);
	const row = rejection?.row ?? notProcessed(request, status);
	const effect = findEffect(request, body, effectFields);
	if (row !== undefined && effect === undefined) {
		const explanation = explanationOf(row, response);
		const { texts, body: said } = rejection ?? { texts: [], body: {} };
		const found = { code: row.code, texts, body: said };
		throw new ServiceRejection(explanation, originalMessage, status, found, origin);
	}
	const message =
		row === undefined
			? unexpected(request, response)
			: `The response contradicts itself, because it has ${effect} (HTTP status ${status})`;
	throw outcomeUnknown(request, message, { originalMessage, status, origin });
}

const MAX_SHOWN_CHARACTERS = 100;

/** What shows that a write took effect although the rest of the response says that it didn't, such as "call_id c-1". */
export function findEffect(
	{ method }: ServiceRequest,
	body: JsonValue | undefined,
	effectFields: readonly string[] = [],
): string | undefined {
	if (method === 'GET' || body === undefined) return undefined;
	for (const field of effectFields) {
		const value = [...fieldsIn(body, [field])].find(isId);
		if (value !== undefined) return `${field} ${plainText(value).slice(0, MAX_SHOWN_CHARACTERS)}`;
	}
	return saysSuccess(body) ? 'success: true' : undefined;
}

function isSuccessStatus(status: number): boolean {
	return status >= 200 && status < 300;
}

/** A `success` other than `true` (General conventions), or without it, an error. */
function deniesSuccess(body: JsonValue): boolean {
	if (!isJsonObject(body)) return false;
	const { success = null } = body;
	return success === null ? toRejection(body, true).texts.length > 0 : success !== true;
}

/**
 * Finds the service's own rejection in a body:
 * - For most statuses below 500: `success: false`. Without it, only a documented error of this endpoint with
 *   its documented status, or a list of `errors` with 400 or 422. Gateways also write `error`, and the service may
 *   have processed the request behind them.
 * - For 5xx, a timeout, or a redirect: only a documented error of this endpoint whose status isn't documented, with
 *   `success: false` and a single text. The service may have failed halfway.
 */
function findRejection(
	body: JsonObject,
	status: number,
	request: ServiceRequest,
): (RejectionBody & { row: ErrorRow }) | undefined {
	if (body.success === true) return undefined;
	const isOwn = body.success === false;
	const rejection = toRejection(body, isOwn);
	const row = errorRowOf(rejection, status, request);
	const { code, documentedStatuses } = row;
	const hasAnyStatus = code !== undefined && documentedStatuses === undefined;
	const isDocumented = hasAnyStatus || documentedStatuses?.includes(status) === true;
	const isProven = mayReject(status)
		? isOwn || isDocumented || isValidationError(body, status)
		: isOwn && hasAnyStatus && rejection.texts.length < 2;
	return isProven ? { ...rejection, row } : undefined;
}

/**
 * Reads an error body.
 *
 * @param anyShape whether to accept errors that aren't text. `success: false` already proves a rejection.
 */
function toRejection(body: JsonObject, anyShape: boolean): RejectionBody {
	const texts = [body.error, ...(Array.isArray(body.errors) ? body.errors : [body.errors])]
		.filter((text) => text !== undefined && text !== null && text !== '' && text !== false)
		.filter((text) => anyShape || typeof text === 'string')
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
	return { texts, body };
}

/** What the service said, for messages. */
function serviceText({ texts, body }: RejectionBody, status: number): string {
	const parts = texts.length > 0 ? [...texts] : [`HTTP status ${status}`];
	const { details = null, upstream_body: upstream } = body;
	if (isJsonObject(upstream) && typeof upstream.reason === 'string')
		parts.push(`reason: ${upstream.reason}`);
	if (details !== null) parts.push(readable(details));
	return parts.join(' · ');
}

/** `details` in readable form: `error_code: A, action: b`. */
function readable(details: JsonValue): string {
	if (!isJsonObject(details)) return JSON.stringify(details);
	return Object.entries(details)
		.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
		.join(', ');
}

/** Whether a working service can reject a request with this status. */
function mayReject(status: number): boolean {
	if (status >= 400 && status < 500) return !TIMEOUT_STATUSES.has(status);
	return isSuccessStatus(status);
}

/** "The `errors` array lists problems", documented for 422. 400 is the other validation status. */
function isValidationError({ errors }: JsonObject, status: number): boolean {
	if (!VALIDATION_STATUSES.has(status) || !Array.isArray(errors)) return false;
	return errors.some((text) => typeof text === 'string' && text.trim() !== '');
}

/** What happened, if a response is neither a success nor a rejection. The user sees the beginning of the response. */
function unexpected({ method }: ServiceRequest, { status, readBytes }: HttpResponse): string {
	if (!isSuccessStatus(status)) return `The service or a proxy returned HTTP status ${status}`;
	if (readBytes !== undefined)
		return `The response is larger than ${Math.round(readBytes / 1_000_000)} MB`;
	return `The response doesn't ${method === 'GET' ? 'contain the requested data' : 'confirm the request'}`;
}

function originalMessageOf(
	{ status, text }: HttpResponse,
	body: JsonValue | undefined,
	rejection: RejectionBody | undefined,
	isSecret: boolean,
): { originalMessage: string; origin: ErrorOrigin } {
	const isOwn = isJsonObject(body) && body.success === false;
	const said = isOwn ? toRejection(body, true) : rejection;
	if (said !== undefined) return { originalMessage: serviceText(said, status), origin: 'service' };
	const excerpt = isSecret ? '' : wordsIn(text).replace(/\s+/g, ' ').trim().slice(0, 200);
	const originalMessage = `HTTP status ${status}${excerpt === '' ? '' : ` · ${excerpt}`}`;
	return { originalMessage, origin: 'response' };
}

const MAX_PAGE_CHARACTERS = 20_000;

/** A proxy responds with a page, whose words come after a long head. Any other text as it is. */
function wordsIn(text: string): string {
	const start = text.trimStart().slice(0, MAX_PAGE_CHARACTERS);
	if (!/^<(?:!doctype|html)\b/i.test(start)) return text;
	return start.replace(/<(script|style)\b.*?(?:<\/\1>|$)/gis, ' ').replace(/<[^<>]*>/g, ' ');
}

/** The error for a request that may have taken effect. */
export function outcomeUnknown(
	{ method, changesNothing }: ServiceRequest,
	message: string,
	facts: ConstructorParameters<typeof OutcomeUnknown>[2],
): OutcomeUnknown {
	if (method === 'GET' || changesNothing === true) {
		const resolution =
			"Nothing was changed. Try again later. In n8n, check 'Base URL' in the credential if this happens each time.";
		return new OutcomeUnknown(message, resolution, facts);
	}
	return new OutcomeUnknown(
		`${message}, so the outcome is unknown`,
		"The request wasn't sent again. Before anybody repeats it, check in the service whether it took effect.",
		facts,
	);
}
