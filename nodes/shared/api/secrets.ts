import escapeRegExp from 'lodash/escapeRegExp';
import { isJsonObject, parseJson, type JsonValue } from './types';

const HIDDEN = '[hidden]';

/** Fields whose values open something: a chat's socket, a recording in storage. */
const SECRET_FIELDS = new Set(['token', 'recording_url']);

/** Shorter texts are no secrets, and hiding them would blot out plain words. */
const SHORTEST_SECRET = 8;

/** Of the tokens that the service gave out, which live for five minutes, the latest are kept in mind. */
const MOST_REMEMBERED = 100;

/** Half a character, which `encodeURIComponent` refuses. */
const LONE_SURROGATE = /\p{Surrogate}/u;

type Hide = (text: string) => string;

/**
 * What must not be shown, whoever says it: the API token, however it is written (plain, escaped as in JSON,
 * percent-encoded, as HTML's entities), and the WebSocket tokens that the service gave out (plain or encoded).
 */
export class Secrets {
	private readonly hideOwn: Hide;
	private readonly given: string[] = [];

	constructor(apiToken = '') {
		this.hideOwn = hidingEachForm(apiToken);
	}

	/** Keeps the secrets of an answer in mind. */
	remember(body: JsonValue): void {
		const added = secretsIn(body).filter((secret) => !this.given.includes(secret));
		this.given.push(...added);
		this.given.splice(0, this.given.length - MOST_REMEMBERED);
	}

	/** A text without the API token; `bringsSecrets` where it may give the same token of a socket again. */
	hide(text: string, bringsSecrets = false): string {
		if (bringsSecrets || this.given.length === 0) return hiddenIn(text, this.hideOwn);
		const hideGiven = hiding(this.given);
		return hiddenIn(text, (plain) => hideGiven(this.hideOwn(plain)));
	}
}

/** A body without the secrets that it brings along itself, for what is shown of it. */
export function withoutItsSecrets(body: JsonValue): JsonValue {
	const secrets = secretsIn(body);
	return secrets.length === 0 ? body : mapTexts(body, hiding(secrets));
}

/** A text, JSON or not, without these secrets, plain or encoded. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
	const worthHiding = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
	return worthHiding.length === 0 ? text : hiddenIn(text, hiding(worthHiding));
}

/** The values in an answer that open something, wherever they stand. */
function secretsIn(body: JsonValue): string[] {
	const found: string[] = [];
	for (let level = [body]; level.length > 0; level = level.flatMap(childrenOf)) {
		for (const [name, inner] of level.filter(isJsonObject).flatMap(Object.entries<JsonValue>)) {
			if (!SECRET_FIELDS.has(name) || typeof inner !== 'string') continue;
			if (inner.length >= SHORTEST_SECRET) found.push(inner);
		}
	}
	return found;
}

/** JSON stays JSON: its texts are looked at decoded, as an escape may be part of a longer one. */
function hiddenIn(text: string, hide: Hide): string {
	if (!text.includes('\\') && hide(text) === text) return text;
	const body = parseJson(text);
	return body === undefined ? hide(text) : JSON.stringify(mapTexts(body, hide));
}

function mapTexts(value: JsonValue, map: Hide): JsonValue {
	if (typeof value === 'string') return map(value);
	if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
	if (!isJsonObject(value)) return value;
	const mapped = Object.entries(value).map(([name, inner]): [string, JsonValue] => [
		map(name),
		mapTexts(inner, map),
	]);
	return Object.fromEntries(mapped);
}

function childrenOf(value: JsonValue): JsonValue[] {
	if (Array.isArray(value)) return value;
	return isJsonObject(value) ? Object.values(value) : [];
}

function hiding(secrets: readonly string[]): Hide {
	const forms = secrets.flatMap((secret) =>
		LONE_SURROGATE.test(secret) ? [secret] : [secret, encodeURIComponent(secret)],
	);
	return (text) => forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}

function hidingEachForm(secret: string): Hide {
	if (secret.length < SHORTEST_SECRET) return (text) => text;
	const pattern = [...secret].map((char) => `(?:${formsOf(char).join('|')})`).join('');
	const anyForm = new RegExp(pattern, 'gi');
	return (text) => text.replace(anyForm, HIDDEN);
}

/** The ways of writing one character. Case does not count, as hexadecimal digits have both. */
function formsOf(char: string): string[] {
	const code = char.codePointAt(0) ?? 0;
	const units = char.split('').map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`);
	return [
		escapeRegExp(char),
		`\\\\${escapeRegExp(char)}`,
		units.join(''),
		`%${hex(code, 2)}`,
		`&#0*${code};`,
		`&#x0*${hex(code, 1)};`,
		...(NAMED_ENTITIES[char] ?? []),
	];
}

const NAMED_ENTITIES: { [char: string]: string[] } = {
	'&': ['&amp;'],
	'<': ['&lt;'],
	'>': ['&gt;'],
	'"': ['&quot;'],
	"'": ['&apos;'],
};

function hex(code: number, digits: number): string {
	return code.toString(16).padStart(digits, '0');
}
