import { isJsonObject, type JsonObject, type JsonValue } from '../values/json';
import type { ErrorCode } from './errorTable';

/** An error body, and what identifies the error in it. */
export type RejectionBody = {
	/** The documented error. Undefined if the document doesn't name it. */
	code?: ErrorCode;
	/** `error`, or the texts of `errors`. */
	texts: string[];
	body: JsonObject;
};

/** For a rejection without an error body of the service. */
export const NO_ERROR_BODY: RejectionBody = { texts: [], body: {} };

/**
 * Reads an error body.
 *
 * @param anyShape whether to accept errors that aren't text. `success: false` already proves a rejection.
 */
export function toRejection(body: JsonObject, anyShape: boolean): RejectionBody {
	const texts = [body.error, ...(Array.isArray(body.errors) ? body.errors : [body.errors])]
		.filter((text) => text !== undefined && text !== null && text !== '' && text !== false)
		.filter((text) => anyShape || typeof text === 'string')
		.map((text) => (typeof text === 'string' ? text : JSON.stringify(text)));
	return { texts, body };
}

/** What the service said, for messages. */
export function serviceText({ texts, body }: RejectionBody, status: number): string {
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

/** An error code is all of `error`. Inside a longer text, it may be part of a crash report. */
export const isCode =
	(code: string) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => text.trim() === code);

/** `error` begins with the documented text. Details may follow on the same line. */
export function beginsWith(documented: string) {
	const start = documented.toLowerCase();
	return ({ texts }: RejectionBody) =>
		texts.some((text) => {
			const line = text.trim().replaceAll('’', "'").toLowerCase();
			return line.startsWith(start) && /^(?![\w-]).*$/.test(line.slice(start.length));
		});
}

export const matchesText =
	(pattern: RegExp) =>
	({ texts }: RejectionBody) =>
		texts.some((text) => pattern.test(text));

/** General conventions: `success: false`. */
export function isErrorEnvelope({ body }: RejectionBody): boolean {
	return body.success === false;
}

/** `details.error_code`. */
export const hasErrorCode =
	(code: string) =>
	({ body: { details } }: RejectionBody) =>
		isJsonObject(details) && details.error_code === code;

/** A rejection that the service relays from the chat engine. @param reason any if not set */
export const isRelayed =
	(reason?: string) =>
	({ body: { upstream_body: upstream } }: RejectionBody) =>
		isJsonObject(upstream) &&
		upstream.state === 'rejected' &&
		(reason === undefined ? typeof upstream.reason === 'string' : upstream.reason === reason);
