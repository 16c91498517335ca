import omit from 'lodash/omit';
import { documentedError, explainStatus, type Refusal } from './errorTable';
import type { Evidence } from './evidence';
import { OutcomeUnknown, ServiceRefusal, type Speaker } from './errors';
import type { Answer, ServiceRequest, WireAnswer } from './http';
import { explainNotPerformed } from './notPerformed';
import { withoutItsSecrets } from './secrets';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json';

/** How an answer is judged: what proves it, and whether nothing of it may be shown. */
export type AnswerReading = {
	evidence: Evidence;
	/** The answer holds a token or a signed address, so no part of it stands in a message. */
	isSecret?: boolean;
	/** Epoch milliseconds. */
	now: number;
};

/** Statuses at which the document has the service itself say no (HTTP status codes). */
const REFUSAL_STATUSES = new Set([400, 401, 403, 404, 409, 422]);

/**
 * Reads the envelope (General conventions). Nothing is taken for granted:
 * a **success** is a 2xx with the evidence of its endpoint · a **refusal** is the service's own error body, at any
 * status (those of several bodies are open), or one of the few statuses that say by themselves that nothing was
 * done · everything else is **unknown**, whatever its status: a page, an empty body, a proxy's answer.
 *
 * @throws ServiceRefusal when the service says no
 * @throws OutcomeUnknown when nothing shows what became of the request
 */
export function readAnswer(
	request: ServiceRequest,
	answer: WireAnswer,
	{ evidence, isSecret = false, now }: AnswerReading,
): Answer {
	const { status } = answer;
	const body = parseJson(answer.text);
	const shown = isSecret && body !== undefined ? withoutItsSecrets(body) : body;
	const refusal = isJsonObject(shown) ? findRefusal(shown, status, request) : undefined;
	if (refusal !== undefined) throw refused(request, answer, refusal, now);
	if (status >= 200 && status < 300 && body !== undefined && evidence(body)) {
		return { status, body };
	}
	const { originalMessage, speaker } = wordsOf(answer, shown, isSecret);
	const notPerformed = explainNotPerformed(request, answer, now);
	if (notPerformed !== undefined) {
		const { what, resolution } = notPerformed;
		throw new ServiceRefusal(
			what,
			resolution,
			originalMessage,
			status,
			{ texts: [], body: {} },
			speaker,
		);
	}
	throw outcomeUnknown(request, describe(request, answer, body), originalMessage, status, speaker);
}

/** `data` of an answer, or the whole body where the service used no envelope. */
export function dataOf(answer: Answer): JsonValue {
	const { body } = answer;
	return isJsonObject(body) && body.data !== undefined ? body.data : body;
}

/**
 * `data` as an output record. What stands beside it (`message`, `meta`, `warnings`) is kept under its name where
 * the record has no field of that name: an envelope with a `status` of its own must not change a call's.
 */
export function recordOf(answer: Answer): JsonObject {
	const { body } = answer;
	if (!isJsonObject(body)) return body === null ? {} : { data: body };
	const { data } = body;
	const beside: JsonObject = { ...body };
	delete beside.success;
	delete beside.data;
	if (data === undefined || data === null) return beside;
	return isJsonObject(data) ? { ...data, ...omit(beside, Object.keys(data)) } : { data, ...beside };
}

/**
 * The service's own words of refusal: `success: false`; or, without it, `error` or `errors` as text where the
 * document names that error or has the service refuse with that status. Gateways write such bodies too.
 */
function findRefusal(
	body: JsonObject,
	status: number,
	request: ServiceRequest,
): Refusal | undefined {
	if (body.success === true) return undefined;
	const saysNo = body.success === false;
	const refusal = wordsIn(body, saysNo);
	const { texts, errorCode, upstreamReason } = refusal;
	const hasWords = texts.length > 0 || errorCode !== undefined || upstreamReason !== undefined;
	if (!saysNo && !hasWords) return undefined;
	const documented = documentedError(refusal, status, request);
	if (documented !== undefined) return { ...refusal, code: documented.code };
	// A body of the error table is a refusal even at 5xx; anything else there is the service in trouble.
	if (status >= 500) return undefined;
	return saysNo || REFUSAL_STATUSES.has(status) ? refusal : undefined;
}

/** @param anyShape takes what is not text for words as well: `success: false` has said the rest */
function wordsIn(body: JsonObject, anyShape: boolean): Refusal {
	const texts = [body.error, ...(Array.isArray(body.errors) ? body.errors : [body.errors])]
		.filter((text) => text !== undefined && text !== null && text !== '')
		.filter((text) => anyShape || typeof text === 'string')
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
	const { details, upstream_body: upstream } = body;
	const errorCode = isJsonObject(details) ? details.error_code : undefined;
	const upstreamReason = isJsonObject(upstream) ? upstream.reason : undefined;
	return {
		texts,
		...(typeof errorCode === 'string' && { errorCode }),
		...(typeof upstreamReason === 'string' && { upstreamReason }),
		body,
	};
}

function refused(
	request: ServiceRequest,
	answer: WireAnswer,
	refusal: Refusal,
	now: number,
): ServiceRefusal {
	const { status } = answer;
	const { what, resolution } =
		documentedError(refusal, status, request) ??
		explainNotPerformed(request, answer, now) ??
		explainStatus(status, refusal.texts.length > 0);
	return new ServiceRefusal(what, resolution, serviceSaid(refusal, status), status, refusal);
}

function serviceSaid(refusal: Refusal, status: number): string {
	const parts = refusal.texts.length > 0 ? refusal.texts : [`HTTP status ${status}`];
	const { details } = refusal.body;
	const extra = details === undefined || details === null ? [] : [readable(details)];
	const reason = refusal.upstreamReason === undefined ? [] : [`reason: ${refusal.upstreamReason}`];
	return [...parts, ...reason, ...extra].join(' · ');
}

/** `details` as a person reads it: `error_code: …, action: …`. */
function readable(details: JsonValue): string {
	if (!isJsonObject(details)) return JSON.stringify(details);
	return Object.entries(details)
		.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
		.join(', ');
}

/** What came where neither a success nor a refusal did. */
function describe(
	{ method }: ServiceRequest,
	{ status, text }: WireAnswer,
	body: JsonValue | undefined,
): { happened: string; isForeign: boolean } {
	const shown = `HTTP status ${status}`;
	if (status >= 500) {
		const isOwn = isJsonObject(body) && body.success === false;
		const who = isOwn ? 'The service' : 'The service, or a proxy before it,';
		return { happened: `${who} stumbled (${shown})`, isForeign: false };
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
	if (/^\s*</.test(text)) {
		return {
			happened: 'A web page came back instead of the service’s answer',
			isForeign: true,
		};
	}
	if (text.trim() === '') return { happened: 'The answer is empty', isForeign: true };
	if (body === undefined) {
		return { happened: 'The service’s answer arrived incomplete', isForeign: false };
	}
	const happened =
		method === 'GET'
			? 'The answer does not hold what was asked for'
			: 'The answer does not confirm the request';
	return { happened, isForeign: true };
}

function wordsOf(
	{ status, text }: WireAnswer,
	body: JsonValue | undefined,
	isSecret: boolean,
): { originalMessage: string; speaker: Speaker } {
	if (isJsonObject(body) && body.success === false) {
		return { originalMessage: serviceSaid(wordsIn(body, true), status), speaker: 'service' };
	}
	const excerpt = isSecret ? '' : text.replace(/\s+/g, ' ').trim().slice(0, 200);
	const originalMessage = `HTTP status ${status}${excerpt === '' ? '' : ` · ${excerpt}`}`;
	return { originalMessage, speaker: 'answer' };
}

const CHECK_BASE_URL = ' Check Base URL in the credential as well.';

/** Says what is known of a request whose fate is open, and how to find out. */
export function outcomeUnknown(
	request: ServiceRequest,
	{ happened, isForeign = false }: { happened: string; isForeign?: boolean },
	originalMessage?: string,
	status?: number,
	speaker?: Speaker,
): OutcomeUnknown {
	if (request.method === 'GET') {
		const resolution = isForeign
			? 'Nothing was changed by this read. Check Base URL in the credential, then try again.'
			: 'Nothing was changed by this read. Try again later.';
		return new OutcomeUnknown(happened, resolution, originalMessage, status, speaker);
	}
	return new OutcomeUnknown(
		`${happened}, so it is not known whether the request took effect`,
		`It was not sent a second time. Look in the service whether it arrived before you send it again.${isForeign ? CHECK_BASE_URL : ''}`,
		originalMessage,
		status,
		speaker,
	);
}
