import pick from 'lodash/pick';
import { isJsonObject, valuesIn, type JsonValue } from '../json';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something (Recording, `ws_token`). */
const SECRET_FIELDS = ['token', 'recording_url'];

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** A text without a secret, as it is (in JSON, with escaped quotes and backslashes) or URL-encoded. */
export function withoutSecret(text: string, secret: string): string {
	if (secret.length < MIN_SECRET_LENGTH) return text;
	const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
	return [...forms].reduce((redacted, form) => redacted.replaceAll(form, HIDDEN), text);
}

/** A response that contains secrets, without everything that may quote them. */
export function withoutQuotes(body: JsonValue): JsonValue {
	const hasSecret = [...valuesIn(body)].some(
		(value) => isJsonObject(value) && SECRET_FIELDS.some((name) => typeof value[name] === 'string'),
	);
	return isJsonObject(body) && hasSecret ? pick(body, 'success') : body;
}
