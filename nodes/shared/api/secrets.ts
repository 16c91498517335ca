import pick from 'lodash/pick';
import { isJsonObject, valuesIn, type JsonValue } from '../json';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something (Recording, `ws_token`). */
const SECRET_FIELDS = ['token', 'recording_url'];

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** A text, JSON or not, without a secret, as it is, with codes as in JSON, or URL-encoded. */
export function withoutSecret(text: string, secret: string): string {
	if (secret.length < MIN_SECRET_LENGTH) return text;
	const inJson = JSON.stringify(secret).slice(1, -1);
	// Half of a character pair has no URL-encoded form.
	const encoded = /\p{Surrogate}/u.test(secret) ? secret : encodeURIComponent(secret);
	const inLowerCase = encoded.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
	const forms = [secret, inJson, inJson.replaceAll('/', '\\/'), encoded, inLowerCase];
	return forms.reduce((redacted, form) => redacted.replaceAll(form, HIDDEN), withoutCodes(text));
}

/** A code of an ASCII character in JSON, such as `\u0026` for `&`. A backslash before it can be an escaped one. */
const CODE = /\\(?:\\|u00([2-7][\da-f]))/gi;

/** The same JSON, with the characters that some frameworks write as codes. */
function withoutCodes(text: string): string {
	return text.replace(CODE, (written: string, code?: string) =>
		code === undefined
			? written
			: JSON.stringify(String.fromCharCode(parseInt(code, 16))).slice(1, -1),
	);
}

/** A response that contains secrets, without everything that may quote them. */
export function withoutQuotes(body: JsonValue): JsonValue {
	const hasSecret = [...valuesIn(body)].some(
		(value) => isJsonObject(value) && SECRET_FIELDS.some((name) => typeof value[name] === 'string'),
	);
	return isJsonObject(body) && hasSecret ? pick(body, 'success') : body;
}
