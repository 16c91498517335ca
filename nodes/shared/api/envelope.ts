import {
	documentedError,
	explainStatus,
	explainWords,
	isDocumentedAt,
	isEnvelope,
	type RejectionBody,
} from './errorTable';
import { onScreenOnly } from './modelAdvice';
import { shownEffect } from './effect';
import type { SuccessCheck } from './successChecks';
import { OutcomeUnknown, ServiceRejection, type ErrorOrigin } from './errors';
import type { ApiResponse, ServiceRequest, HttpResponse } from './http';
import { explainNotPerformed } from './notProcessed';
import { recordIn } from './record';
import { withoutItsSecrets } from './secrets';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json';

/** How an answer is judged: what proves it, and whether nothing of it may be shown. */
export type ResponseChecks = {
	evidence: SuccessCheck;
	/** What {@link shownEffect} looks for: beside a rejection, the outcome is unknown. */
	effectFields?: readonly string[];
	/** The answer holds a token or a signed address, so no part of it stands in a message. */
	isSecret?: boolean;
	/** Epoch milliseconds. */
	now: number;
};

/** The service, or a proxy before it, gave up waiting: the request may have taken effect all the same. */
const GAVE_UP_WAITING = new Set([408, 499]);

/** Statuses at which validation errors are documented (HTTP status codes). */
const VALIDATION_STATUSES = new Set([400, 422]);

/**
 * Reads the envelope (General conventions). Nothing is taken for granted:
 * a **success** is a 2xx with the evidence of its endpoint · a **rejection** is the service's own error body, as
 * {@link findRejection} has it, or one of the few statuses that say by themselves that nothing was done ·
 * everything else is **unknown**, whatever its status: a page, an empty body, a proxy's answer.
 *
 * @throws ServiceRejection when the service says no
 * @throws OutcomeUnknown when nothing shows what became of the request
 */
export function parseResponse(
	request: ServiceRequest,
	answer: HttpResponse,
	{ evidence, effectFields = [], isSecret = false, now }: ResponseChecks,
): ApiResponse {
	const { status } = answer;
	const body = parseJson(answer.text);
	const shown = isSecret && body !== undefined ? withoutItsSecrets(body) : body;
	const rejection = isJsonObject(shown) ? findRejection(shown, status, request) : undefined;
	const effect = shownEffect(request, { status, body }, effectFields);
	if (rejection !== undefined && effect === undefined)
		throw rejected(request, answer, rejection, now);
	const isSuccess = rejection === undefined && isSuccessStatus(status);
	if (isSuccess && body !== undefined && !deniesSuccess(body) && evidence(body)) {
		return { status, body };
	}
	const { originalMessage, origin } = wordsOf(answer, shown, isSecret);
	const notPerformed = explainNotPerformed(request, answer, now);
	if (notPerformed !== undefined && effect === undefined) {
		const { what, resolution } = notPerformed;
		throw new ServiceRejection(
			what,
			resolution,
			originalMessage,
			status,
			{ texts: [], body: {} },
			origin,
		);
	}
	const finding =
		effect === undefined
			? describe(request, answer, body)
			: {
					happened: `The response ${effect}, but doesn't confirm the request (HTTP status ${status})`,
				};
	throw outcomeUnknown(request, finding, originalMessage, status, origin);
}

function isSuccessStatus(status: number): boolean {
	return status >= 200 && status < 300;
}

/** `success`, if it is given, must be `true` (General conventions). */
function deniesSuccess(body: JsonValue): boolean {
	return isJsonObject(body) && (body.success ?? true) !== true;
}

/** `data` of an answer, or the whole body where the service used no envelope. */
export function dataOf(answer: ApiResponse): JsonValue {
	const { body } = answer;
	return isJsonObject(body) && body.data !== undefined ? body.data : body;
}

/** `data` of an answer as an output record; see {@link recordIn}. */
export function recordOf({ body }: ApiResponse, ownFields?: readonly string[]): JsonObject {
	return recordIn(body, ownFields);
}

/**
 * The service's own no. `success: false` below 500, as the document's error envelope has it. Without that, only what
 * the document shows: an error of this endpoint at its status, or a list of `errors` at 400 or 422; gateways write
 * `error` as well, and behind one of theirs the request may have been done. From 500 on, after a time-out, and with a
 * redirect, the service may have stumbled halfway: only a whole error body that the document has for this endpoint,
 * and whose status it leaves open, says no there.
 */
function findRejection(
	body: JsonObject,
	status: number,
	request: ServiceRequest,
): RejectionBody | undefined {
	if (body.success === true) return undefined;
	const rejection = wordsIn(body, body.success === false);
	const documented = documentedError(rejection, status, request);
	const isOpen = documented?.statuses === 'open';
	const coded = documented === undefined ? rejection : { ...rejection, code: documented.code };
	if (!mayReject(status)) {
		return isEnvelope(rejection) && isOpen && rejection.texts.length < 2 ? coded : undefined;
	}
	if (isEnvelope(rejection) || (documented !== undefined && isDocumentedAt(documented, status)))
		return coded;
	return isValidationError(body, status) ? rejection : undefined;
}

/** Whether a service that is up says no with this status. */
function mayReject(status: number): boolean {
	if (status >= 400 && status < 500) return !GAVE_UP_WAITING.has(status);
	return isSuccessStatus(status);
}

/** `422`: "the `errors` array lists problems"; at 400 just as well. */
function isValidationError({ errors }: JsonObject, status: number): boolean {
	if (!VALIDATION_STATUSES.has(status) || !Array.isArray(errors)) return false;
	return errors.some((text) => typeof text === 'string' && text.trim() !== '');
}

/** @param anyShape takes what is not text for words as well: `success: false` has said the rest */
function wordsIn(body: JsonObject, anyShape: boolean): RejectionBody {
	const texts = [body.error, ...(Array.isArray(body.errors) ? body.errors : [body.errors])]
		.filter((text) => text !== undefined && text !== null && text !== '')
		.filter((text) => anyShape || typeof text === 'string')
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
	const { details, upstream_body: upstream } = body;
	const errorCode = isJsonObject(details) ? details.error_code : undefined;
	const { state: upstreamState, reason: upstreamReason } = isJsonObject(upstream) ? upstream : {};
	return {
		texts,
		...(typeof errorCode === 'string' && { errorCode }),
		...(typeof upstreamState === 'string' && { upstreamState }),
		...(typeof upstreamReason === 'string' && { upstreamReason }),
		body,
	};
}

function rejected(
	request: ServiceRequest,
	answer: HttpResponse,
	rejection: RejectionBody,
	now: number,
): ServiceRejection {
	const { status } = answer;
	const { what, resolution } =
		explainWords(rejection, status, request) ??
		explainNotPerformed(request, answer, now) ??
		explainStatus(request, status, rejection.texts.length > 0);
	return new ServiceRejection(what, resolution, serviceSaid(rejection, status), status, rejection);
}

function serviceSaid(rejection: RejectionBody, status: number): string {
	const parts = rejection.texts.length > 0 ? rejection.texts : [`HTTP status ${status}`];
	const { details } = rejection.body;
	const extra = details === undefined || details === null ? [] : [readable(details)];
	const reason =
		rejection.upstreamReason === undefined ? [] : [`reason: ${rejection.upstreamReason}`];
	return [...parts, ...reason, ...extra].join(' · ');
}

/** `details` as a person reads it: `error_code: …, action: …`. */
function readable(details: JsonValue): string {
	if (!isJsonObject(details)) return JSON.stringify(details);
	return Object.entries(details)
		.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
		.join(', ');
}

/** What came where neither a success nor a rejection did. */
function describe(
	{ method }: ServiceRequest,
	{ status, text, readBytes }: HttpResponse,
	body: JsonValue | undefined,
): { happened: string; isForeign: boolean } {
	const shown = `HTTP status ${status}`;
	const isOwn = isJsonObject(body) && body.success === false;
	if (status >= 500) {
		const who = isOwn ? 'The service' : 'The service, or a proxy before it,';
		return { happened: `${who} stumbled (${shown})`, isForeign: false };
	}
	if (isOwn && GAVE_UP_WAITING.has(status)) {
		return { happened: `The service timed out (${shown})`, isForeign: false };
	}
	if (status >= 400) {
		return {
			happened: `Something other than the service seems to have answered (${shown})`,
			isForeign: true,
		};
	}
	if (status >= 300) {
		return { happened: `The service answered with a redirect (${shown})`, isForeign: true };
	}
	if (readBytes !== undefined) {
		const megabytes = Math.round(readBytes / 1_000_000);
		return { happened: `The response is larger than ${megabytes} MB`, isForeign: true };
	}
	if (/^\s*</.test(text)) {
		return {
			happened: 'A web page came back instead of the service’s answer',
			isForeign: true,
		};
	}
	if (text.trim() === '') return { happened: 'The answer is empty', isForeign: true };
	if (body === undefined) {
		return /^\s*[[{]/.test(text)
			? { happened: 'The response arrived incomplete or unreadable', isForeign: false }
			: { happened: "The response isn't JSON", isForeign: true };
	}
	const happened =
		method === 'GET'
			? 'The answer does not hold what was asked for'
			: 'The answer does not confirm the request';
	return { happened, isForeign: true };
}

function wordsOf(
	{ status, text }: HttpResponse,
	body: JsonValue | undefined,
	isSecret: boolean,
): { originalMessage: string; origin: ErrorOrigin } {
	if (isJsonObject(body) && body.success === false) {
		return { originalMessage: serviceSaid(wordsIn(body, true), status), origin: 'service' };
	}
	const excerpt = isSecret ? '' : text.replace(/\s+/g, ' ').trim().slice(0, 200);
	const originalMessage = `HTTP status ${status}${excerpt === '' ? '' : ` · ${excerpt}`}`;
	return { originalMessage, origin: 'answer' };
}

const CHECK_BASE_URL = ' Check Base URL in the credential as well.';

/** Says what is known of a request whose fate is open, and how to find out. */
export function outcomeUnknown(
	request: ServiceRequest,
	{ happened, isForeign = false }: { happened: string; isForeign?: boolean },
	originalMessage?: string,
	status?: number,
	origin?: ErrorOrigin,
): OutcomeUnknown {
	if (request.method === 'GET') {
		const resolution = isForeign
			? onScreenOnly(
					'Nothing was changed by this read. Check Base URL in the credential, then try again.',
				)
			: onScreenOnly('Nothing was changed by this read. Try again later.');
		return new OutcomeUnknown(happened, resolution, originalMessage, status, origin);
	}
	return new OutcomeUnknown(
		`${happened}, so it is not known whether the request took effect`,
		{
			onScreen: `It was not sent a second time. Look in the service whether it arrived before you send it again.${isForeign ? CHECK_BASE_URL : ''}`,
			forModel: 'It was not sent a second time.',
		},
		originalMessage,
		status,
		origin,
	);
}
