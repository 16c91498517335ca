import { isJsonObject, parseJson, valuesIn, type JsonValue } from '../json';
import { firstCharacters, withoutEnd } from '../text';
import { hidingEncoded } from './encodedSecrets';
import { secretPatterns } from './secretPatterns';

const HIDDEN = '[hidden]';

/** Fields whose values give access to something. */
const SECRET_FIELDS = new Set(['token', 'recording_url']);

/** Hiding shorter texts would hide plain words. */
const MIN_SECRET_LENGTH = 8;

/** Number of secrets of responses to remember. Tokens expire after five minutes. */
const MAX_SECRETS = 100;

/** For a longer secret, only this many characters are searched, and everything after them is hidden. */
const MAX_SEARCHED_CHARACTERS = 4_000;

/** Not accepted by `encodeURIComponent`. */
const LONE_SURROGATE = /\p{Surrogate}/u;

type Hide = (text: string) => string;

/**
 * Hides secrets in texts: the API token and the secrets of earlier responses, such as WebSocket tokens. Finds them in
 * plain text, JSON escapes, percent-encoding, HTML entities, hexadecimal, and base64, and also the start of a secret
 * at the end of a truncated text.
 *
 * The token is short and always the same, so patterns of it find every form. The secrets of responses are long and many,
 * and change, so the text is decoded instead.
 */
export class Secrets {
	private readonly ownPatterns: readonly RegExp[];
	private given: readonly string[] = [];

	constructor(apiToken = '') {
		const isWorthHiding = apiToken.length >= MIN_SECRET_LENGTH;
		this.ownPatterns = isWorthHiding ? secretPatterns(apiToken, MIN_SECRET_LENGTH) : [];
	}

	/** Remembers the secrets of a response. */
	remember(body: JsonValue): void {
		this.given = [...new Set([...this.given, ...secretsIn(body)])].slice(-MAX_SECRETS);
	}

	/** @param bringsSecrets whether the text is a response that may return the same secrets again. Hides only the API token. */
	hide(text: string, bringsSecrets = false): string {
		const redacted = hiddenIn(text, (plain) => this.withoutOwn(plain));
		return bringsSecrets ? redacted : withoutSecrets(redacted, this.given);
	}

	private withoutOwn(text: string): string {
		return this.ownPatterns.reduce((redacted, form) => redacted.replace(form, HIDDEN), text);
	}
}

/** A body without its own secrets, for messages. Hides everything if there are too many. */
export function withoutOwnSecrets(body: JsonValue): JsonValue {
	const secrets = [...new Set(secretsIn(body))];
	if (secrets.length === 0) return body;
	return secrets.length > MAX_SECRETS ? HIDDEN : mapTexts(body, hiding(secrets));
}

/** A text, JSON or not, without these secrets in any encoding. Hides everything if there are more than 100. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
	const worthHiding = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH);
	if (worthHiding.length === 0) return text;
	if (worthHiding.length > MAX_SECRETS) return HIDDEN;
	return hiddenIn(text, hiding(worthHiding), hidingCut(worthHiding));
}

/** The values of secret fields at any depth of a response. */
function secretsIn(body: JsonValue): string[] {
	const found: string[] = [];
	for (const value of valuesIn(body)) {
		if (!isJsonObject(value)) continue;
		for (const [name, inner] of Object.entries(value)) {
			if (!SECRET_FIELDS.has(name) || typeof inner !== 'string') continue;
			if (inner.length >= MIN_SECRET_LENGTH) found.push(inner);
		}
	}
	return found;
}

/**
 * Hides secrets in a text. JSON stays valid: its texts are searched decoded, because an escape may be part of a
 * longer one.
 *
 * @param hideCut also applied to text that isn't complete JSON and may be truncated
 */
function hiddenIn(text: string, hide: Hide, hideCut: Hide = (plain) => plain): string {
	const redacted = hideCut(hide(text));
	if (!text.includes('\\') && redacted === text) return text;
	const body = parseJson(text);
	// Parsing a number may change its digits.
	const isPlain = body === undefined || typeof body === 'number';
	return isPlain ? redacted : JSON.stringify(mapTexts(body, hide));
}

function mapTexts(value: JsonValue, map: Hide): JsonValue {
	if (typeof value === 'string') return map(value);
	// A secret that has only digits may be a number.
	if (typeof value === 'number') return map(digitsOf(value)) === digitsOf(value) ? value : HIDDEN;
	if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
	if (!isJsonObject(value)) return value;
	const mapped = Object.entries(value).map(([name, inner]): [string, JsonValue] => [
		map(name),
		mapTexts(inner, map),
	]);
	return Object.fromEntries(mapped);
}

/** The digits of a number, without an exponent. */
function digitsOf(value: number): string {
	return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function hiding(secrets: readonly string[]): Hide {
	// The longest first, because a shorter one may be its start.
	const forms = secrets
		.flatMap(plainAndEncoded)
		.sort((one, other) => other.whole.length - one.whole.length);
	const hideEncoded = hidingEncoded(
		secrets.map((one) => firstCharacters(one, MAX_SEARCHED_CHARACTERS)),
		HIDDEN,
	);
	return (text) =>
		text.length < MIN_SECRET_LENGTH ? text : hideEncoded(forms.reduce(withoutForm, text));
}

/** A form of a secret, the shortest start that counts, and whether `whole` is the complete secret. */
type SecretForm = { whole: string; least: string; isAll: boolean };

function plainAndEncoded(secret: string): SecretForm[] {
	const whole = firstCharacters(secret, MAX_SEARCHED_CHARACTERS);
	const least = firstCharacters(secret, MIN_SECRET_LENGTH);
	const isAll = whole.length === secret.length;
	const plain = { whole, least, isAll };
	if (LONE_SURROGATE.test(whole)) return [plain];
	return [plain, { whole: encodeURIComponent(whole), least: encodeURIComponent(least), isAll }];
}

function withoutForm(text: string, { whole, isAll }: SecretForm): string {
	if (isAll) return text.replaceAll(whole, HIDDEN);
	const start = text.indexOf(whole);
	return start === -1 ? text : `${text.slice(0, start)}${HIDDEN}`;
}

/** Hides the start of a secret at the end of a truncated text, also before `…` or `..."`. */
function hidingCut(secrets: readonly string[]): Hide {
	const forms = secrets.flatMap(plainAndEncoded);
	return (text) => {
		const beforeDots = withoutEnd(text, AFTER_A_CUT);
		const redacted = forms.reduce(withoutBeginning, text);
		return redacted === text
			? forms.reduce(withoutBeginning, beforeDots) + text.slice(beforeDots.length)
			: redacted;
	};
}

const AFTER_A_CUT = /[\s."'…)\]}]/;

function withoutBeginning(text: string, { whole, least }: SecretForm): string {
	const end = text.slice(-whole.length);
	if (!end.includes(least)) return text;
	const length = overlapOf(end, whole);
	return length < least.length ? text : `${text.slice(0, text.length - length)}${HIDDEN}`;
}

/** Length of the longest suffix of `text` that is a prefix of `whole`, in linear time (Knuth-Morris-Pratt). */
function overlapOf(text: string, whole: string): number {
	/** The prefix function of `whole`. */
	const shorter: number[] = [0];
	const longer = (length: number, next: string) => {
		let known = length;
		while (known > 0 && whole[known] !== next) known = shorter[known - 1] ?? 0;
		return whole[known] === next ? known + 1 : known;
	};
	for (let at = 1; at < whole.length; at++)
		shorter.push(longer(shorter[at - 1] ?? 0, whole.charAt(at)));
	let length = 0;
	for (let at = 0; at < text.length; at++) length = longer(length, text.charAt(at));
	return length;
}
