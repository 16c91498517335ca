import pick from 'lodash/pick';
import { isJsonObject, parseJson, valuesIn, type JsonValue } from '../values/json';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something (Recording, `ws_token`). */
const SECRET_FIELDS = ['token', 'recording_url'];

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** How JSON may write characters that need no escape: `\/` and `\u002b`. */
const NEEDLESS_ESCAPE = /\\(?:\/|u00)/;

/** A text, JSON or not, without a secret, as it is or URL-encoded. */
export function withoutSecret(text: string, secret: string): string {
	if (secret.length < MIN_SECRET_LENGTH) return text;
	const json = NEEDLESS_ESCAPE.test(text) ? parseJson(text) : undefined;
	const plain = json === undefined ? text : JSON.stringify(json);
	const encoded = encodeURIComponent(secret);
	const inLowerCase = encoded.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
	const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encoded, inLowerCase]);
	return [...forms].reduce((redacted, form) => redacted.replaceAll(form, HIDDEN), plain);
}

/** A response that contains secrets, without everything that may quote them. */
export function withoutQuotes(body: JsonValue | undefined): JsonValue | undefined {
	if (!isJsonObject(body)) return body;
	const hasSecret = [...valuesIn(body)].some(
		(value) => isJsonObject(value) && SECRET_FIELDS.some((name) => typeof value[name] === 'string'),
	);
	return hasSecret ? pick(body, 'success') : body;
}
