import type { Answer, ServiceRequest, WireAnswer } from './http';
import { explainRefusal } from './errorTable';
import { OutcomeUnknown, ServiceRefusal, type Refusal } from './explained';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../types';

/**
 * Reads the envelope (General conventions). A refusal is known by its body at any status, 200
 * included, since the status of several error bodies is open.
 *
 * @throws ServiceRefusal when the service says no
 * @throws OutcomeUnknown when the answer cannot be read or the service stumbled over a write
 */
export function readAnswer(request: ServiceRequest, answer: WireAnswer): Answer {
	const body = parseJson(answer.text);
	const refusal = isJsonObject(body) ? findRefusal(body, answer.status) : undefined;
	if (answer.status >= 500) throw serverStumbled(request, answer, refusal);
	if (refusal !== undefined) throw refused(request, answer.status, refusal);
	if (answer.status >= 300 && answer.status < 400) throw redirected(request, answer);
	if (answer.status >= 400) throw refusedWithoutBody(request, answer);
	if (body === undefined && !(answer.status === 204 || answer.text === '')) {
		throw unreadable(request, answer);
	}
	return { status: answer.status, body: body ?? null };
}

/** `data` of an answer, or the whole body where the service used no envelope. */
export function dataOf(answer: Answer): JsonValue {
	const { body } = answer;
	return isJsonObject(body) && body.data !== undefined ? body.data : body;
}

/** `data` as an output record, with what stands beside it (`message`, `meta`, `warnings`) kept. */
export function recordOf(answer: Answer): JsonObject {
	const { body } = answer;
	if (!isJsonObject(body)) return body === null ? {} : { data: body };
	const { data } = body;
	const beside: JsonObject = { ...body };
	delete beside.success;
	delete beside.data;
	if (data === undefined) return beside;
	return isJsonObject(data) ? { ...data, ...beside } : { data, ...beside };
}

function findRefusal(body: JsonObject, status: number): Refusal | undefined {
	const texts = [body.error, ...(Array.isArray(body.errors) ? body.errors : [body.errors])]
		.filter((text) => text !== undefined && text !== null && text !== '')
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
	// A success may carry `error: null`; an accepted turn may report `error` inside `data`, not here.
	if (body.success !== false && (body.success === true || (texts.length === 0 && status < 400))) {
		return undefined;
	}
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

function refused(request: ServiceRequest, status: number, refusal: Refusal): ServiceRefusal {
	const { what, todo } = explainRefusal(refusal, status, request);
	return new ServiceRefusal(what, todo, serviceSaid(refusal, status), status, refusal);
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

function refusedWithoutBody(request: ServiceRequest, answer: WireAnswer): ServiceRefusal {
	const refusal: Refusal = { texts: [], body: {} };
	const { what, todo } = explainRefusal(refusal, answer.status, request);
	const said = `HTTP status ${answer.status}${excerpt(answer.text)}`;
	return new ServiceRefusal(what, todo, said, answer.status, refusal);
}

function serverStumbled(
	request: ServiceRequest,
	answer: WireAnswer,
	refusal: Refusal | undefined,
): OutcomeUnknown | ServiceRefusal {
	if (refusal !== undefined && isDocumentedBody(request, refusal, answer.status)) {
		return refused(request, answer.status, refusal);
	}
	const said =
		refusal === undefined
			? `HTTP status ${answer.status}${excerpt(answer.text)}`
			: serviceSaid(refusal, answer.status);
	return unknown(
		request,
		`The service stumbled (HTTP status ${answer.status})`,
		said,
		answer.status,
	);
}

/** A body of the error table is a refusal even at 5xx: its status is open. */
function isDocumentedBody(request: ServiceRequest, refusal: Refusal, status: number): boolean {
	return explainRefusal(refusal, status, request).documented;
}

/** 307 and 308 ask for the same request again; after a write the others may mean that it was done. */
function redirected(request: ServiceRequest, answer: WireAnswer): ServiceRefusal | OutcomeUnknown {
	const said = `HTTP status ${answer.status} on ${request.method} ${request.path}`;
	const wasNotDone = request.method === 'GET' || answer.status === 307 || answer.status === 308;
	if (!wasNotDone) {
		return unknown(request, 'The service answered with a redirect', said, answer.status);
	}
	return new ServiceRefusal(
		'The base URL answers with a redirect, which is never followed with your API token',
		'Open the credential and set Base URL to the final address of the service.',
		said,
		answer.status,
		{ texts: [], body: {} },
	);
}

function unreadable(request: ServiceRequest, answer: WireAnswer): OutcomeUnknown {
	const html = /^\s*</.test(answer.text);
	return unknown(
		request,
		html
			? 'A web page came back instead of the service’s answer'
			: 'The service’s answer arrived incomplete',
		`HTTP status ${answer.status}${excerpt(answer.text)}`,
		answer.status,
	);
}

function excerpt(text: string): string {
	const line = text.replace(/\s+/g, ' ').trim().slice(0, 200);
	return line === '' ? '' : ` · ${line}`;
}

/** Says what is known of a request whose fate is open, and how to find out. */
export function unknown(
	request: ServiceRequest,
	happened: string,
	said: string,
	status?: number,
): OutcomeUnknown {
	if (request.method === 'GET') {
		return new OutcomeUnknown(
			happened,
			'Nothing was changed by this read. Check Base URL in the credential, then run the node again.',
			said,
			status,
		);
	}
	return new OutcomeUnknown(
		`${happened}, so it is not known whether the request took effect`,
		'It was not sent a second time. Look in the service whether it arrived before you run this item again.',
		said,
		status,
	);
}
