import escapeRegExp from 'lodash/escapeRegExp';
import pick from 'lodash/pick';
import { isJsonObject, valuesIn, type JsonValue } from '../json';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something (Recording, `ws_token`). */
const SECRET_FIELDS = ['token', 'recording_url'];

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** A text, JSON or not, without a secret, as it is or with characters that are encoded for JSON or a URL. */
export function withoutSecret(text: string, secret: string): string {
	if (secret.length < MIN_SECRET_LENGTH) return text;
	const pattern = [...secret].map((character) => `(?:${formsOf(character).join('|')})`).join('');
	return text.replace(new RegExp(pattern, 'g'), HIDDEN);
}

/** A character as regular expressions, each escaped form before the character itself. */
function formsOf(character: string): string[] {
	if (/[a-z0-9]/i.test(character)) return [character];
	const units = character.split('').map((unit) => unit.charCodeAt(0));
	const bytes = [...Buffer.from(character)];
	const hex = [
		units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join(''),
		bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
	];
	const inJson = [JSON.stringify(character).slice(1, -1), `\\${character}`];
	const forms = [
		...hex,
		...hex.map((form) => form.replace(/[a-f]/g, (digit) => digit.toUpperCase())),
		...inJson,
	];
	return [...forms, character].map(escapeRegExp);
}

/** A response that contains secrets, without everything that may quote them. */
export function withoutQuotes(body: JsonValue): JsonValue {
	const hasSecret = [...valuesIn(body)].some(
		(value) => isJsonObject(value) && SECRET_FIELDS.some((name) => typeof value[name] === 'string'),
	);
	return isJsonObject(body) && hasSecret ? pick(body, 'success') : body;
}
