import { errorRowOf, type ErrorRow } from './errorTable';
import { isId, saysSuccess, type SuccessCheck } from './envelope';
import { type ErrorFacts, type ErrorOrigin, OutcomeUnknown, ServiceRejection } from './errors';
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
	/** Whether the response contains a token or a presigned URL. Messages then don't quote it. */
	isSecret?: boolean;
};

/** The service or a proxy timed out. The request may have taken effect. */
const TIMEOUT_STATUSES = new Set([408, 499]);

/**
 * Reads the envelope of a response (General conventions). Success and rejection each need proof:
 * - **success**: a 2xx without an error, which passes the success check of its endpoint
 * - **rejection**: `success: false` with a 2xx, a 4xx that isn't a timeout, or a documented error whose status isn't shown. A
 *   list of `errors` with 400 or 422. Or a status that alone means that the request wasn't processed (`statusAloneRejects`).
 * - **unknown**: everything else, such as a web page, an empty body, and other 5xx. Gateways also write `error`, and the
 *   service may have processed the request behind them, or failed halfway.
 *
 * @throws ServiceRejection if the request was rejected
 * @throws OutcomeUnknown if the response proves neither
 */
export function parseResponse(
	request: ServiceRequest,
	response: HttpResponse,
	{ successCheck, isSecret = false }: ResponseChecks,
): ApiResponse {
	const { status } = response;
	const body = parseJson(response.text);
	const said = isSecret ? withoutQuotes(body) : body;
	const errorBody = isJsonObject(said) ? said : {};
	const texts = errorTexts(errorBody);
	const { success = null } = errorBody;
	const isFine = success === null ? texts.length === 0 : success === true;
	if (isSuccessStatus(status) && body !== undefined && isFine && successCheck(body))
		return { status, body };

	const row = errorRowOf(request, status, texts, errorBody);
	const isOwn =
		(success === false && (mayReject(status) || isShown(row, request, errorBody))) ||
		isValidationError(errorBody, status);
	const isRejected = isOwn || row.statusAloneRejects === true;
	const isQuoted = isOwn || success === false;
	const originalMessage = isQuoted
		? serviceText(texts, errorBody, status)
		: excerptOf(response, isSecret);
	const origin: ErrorOrigin = isQuoted ? 'service' : 'response';
	const effect = isRejected ? findEffect(request, body) : undefined;
	if (isRejected && effect === undefined)
		throw new ServiceRejection(row, originalMessage, status, { code: row.code, texts }, origin);
	const message =
		effect === undefined
			? unexpected(request, response)
			: `The response contradicts itself, because it has ${effect} (HTTP status ${status})`;
	throw outcomeUnknown(request, message, { originalMessage, status, origin });
}

/** Fields that only an effect fills, such as the ID of the created record. */
const EFFECT_FIELDS = ['call_id', 'campaign_upload_id', 'contacts_accepted', 'queued_calls'];

const MAX_SHOWN_CHARACTERS = 100;

/** What shows that a write took effect although the rest of the response says that it didn't, such as "call_id c-1". */
export function findEffect(
	{ method }: ServiceRequest,
	body: JsonValue | undefined,
): string | undefined {
	if (method === 'GET' || body === undefined) return undefined;
	for (const field of EFFECT_FIELDS) {
		const value = [...fieldsIn(body, [field])].find(isId);
		if (value !== undefined) return `${field} ${plainText(value).slice(0, MAX_SHOWN_CHARACTERS)}`;
	}
	return saysSuccess(body) ? 'success: true' : undefined;
}

function isSuccessStatus(status: number): boolean {
	return status >= 200 && status < 300;
}

/** The texts of `error` and `errors`, and the reason of a rejection that the service relays from the chat engine. */
function errorTexts({
	error = null,
	errors = null,
	upstream_body: upstream = null,
}: JsonObject): string[] {
	return [error, errors, isJsonObject(upstream) ? (upstream.reason ?? null) : null]
		.flat()
		.filter((text) => text !== null && text !== '' && text !== false)
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
}

/** What the service said, for messages. */
function serviceText(texts: string[], { details = null }: JsonObject, status: number): string {
	return [
		...(texts.length > 0 ? texts : [`HTTP status ${status}`]),
		...(details === null ? [] : [JSON.stringify(details)]),
	].join(' · ');
}

/** Whether the body is a documented error whose status isn't, and not one in a crash report. */
function isShown(
	{ anyStatus }: ErrorRow,
	{ method, path }: ServiceRequest,
	{ error, errors = null }: JsonObject,
): boolean {
	if (anyStatus?.test(`${method} ${path}`) !== true) return false;
	return errors === null && !plainText(error).includes('\n');
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

function excerptOf({ status, text }: HttpResponse, isSecret: boolean): string {
	const excerpt = isSecret ? '' : wordsIn(text).replace(/\s+/g, ' ').trim().slice(0, 200);
	return `HTTP status ${status}${excerpt === '' ? '' : ` · ${excerpt}`}`;
}

const MAX_PAGE_CHARACTERS = 20_000;

/** A proxy responds with a page, whose words come after a long head. Any other text as it is. */
function wordsIn(text: string): string {
	const start = text.trimStart().slice(0, MAX_PAGE_CHARACTERS);
	if (!/^<(?:!doctype|html)\b/i.test(start)) return start;
	return start.replace(/<(script|style)\b.*?(?:<\/\1>|$)/gis, ' ').replace(/<[^<>]*>/g, ' ');
}

/** The error for a request that may have taken effect. */
export function outcomeUnknown(
	{ method, changesNothing }: ServiceRequest,
	message: string,
	facts: ErrorFacts,
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
