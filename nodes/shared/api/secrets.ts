import escapeRegExp from 'lodash/escapeRegExp';
import { isJsonObject, parseJson, valuesIn, type JsonValue } from '../json';

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
 * percent-encoded, as HTML's entities), and the WebSocket tokens that the service gave out (plain or encoded). Of a
 * text that was cut, the beginning of one counts too.
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
		const shown = hiddenIn(text, this.hideOwn);
		return bringsSecrets ? shown : withoutSecrets(shown, this.given);
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
	if (worthHiding.length === 0) return text;
	return hiddenIn(text, hiding(worthHiding), hidingCut(worthHiding));
}

/** The values in an answer that open something, wherever they stand. */
function secretsIn(body: JsonValue): string[] {
	const found: string[] = [];
	for (const value of valuesIn(body)) {
		if (!isJsonObject(value)) continue;
		for (const [name, inner] of Object.entries(value)) {
			if (!SECRET_FIELDS.has(name) || typeof inner !== 'string') continue;
			if (inner.length >= SHORTEST_SECRET) found.push(inner);
		}
	}
	return found;
}

/**
 * JSON stays JSON: its texts are looked at decoded, as an escape may be part of a longer one.
 *
 * @param hideCut what is hidden besides in a text that is not whole JSON, and so may have been cut
 */
function hiddenIn(text: string, hide: Hide, hideCut: Hide = (plain) => plain): string {
	const shown = hideCut(hide(text));
	if (!text.includes('\\') && shown === text) return text;
	const body = parseJson(text);
	return body === undefined ? shown : JSON.stringify(mapTexts(body, hide));
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

function hiding(secrets: readonly string[]): Hide {
	const forms = secrets.flatMap(plainAndEncoded);
	return (text) => forms.reduce((shown, { whole }) => shown.replaceAll(whole, HIDDEN), text);
}

/** A secret in one of its forms, and the least of it that is one. */
type SecretForm = { whole: string; least: string };

function plainAndEncoded(secret: string): SecretForm[] {
	const least = [...secret].slice(0, SHORTEST_SECRET).join('');
	const plain = { whole: secret, least };
	if (LONE_SURROGATE.test(secret)) return [plain];
	return [plain, { whole: encodeURIComponent(secret), least: encodeURIComponent(least) }];
}

/** Where the text ends in the middle of a secret, or shortens it: `…`, `..."`. */
function hidingCut(secrets: readonly string[]): Hide {
	const forms = secrets.flatMap(plainAndEncoded);
	return (text) => {
		const beforeDots = text.replace(/[\s."'…)\]}]+$/, '');
		const shown = forms.reduce(withoutBeginning, text);
		return shown === text
			? forms.reduce(withoutBeginning, beforeDots) + text.slice(beforeDots.length)
			: shown;
	};
}

function withoutBeginning(text: string, secret: SecretForm): string {
	const from = Math.max(0, text.length - secret.whole.length);
	for (let at = text.indexOf(secret.least, from); at !== -1; ) {
		if (secret.whole.startsWith(text.slice(at))) return `${text.slice(0, at)}${HIDDEN}`;
		at = text.indexOf(secret.least, at + 1);
	}
	return text;
}

function hidingEachForm(secret: string): Hide {
	if (secret.length < SHORTEST_SECRET) return (text) => text;
	const chars = [...secret].map((char) => `(?:${formsOf(char).join('|')})`);
	const least = chars.slice(0, SHORTEST_SECRET).join('');
	// A beginning alone is hidden as well: somebody may have cut or shortened the text.
	const more = chars.slice(SHORTEST_SECRET).reduceRight((rest, char) => `(?:${char}${rest})?`, '');
	const anyForm = new RegExp(least + more, 'gi');
	return (text) => text.replace(anyForm, HIDDEN);
}

/** The ways of writing one character. Case does not count, as hexadecimal digits have both. */
function formsOf(char: string): string[] {
	const code = char.codePointAt(0) ?? 0;
	const units = char.split('').map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`);
	// The plain one comes last: an ampersand alone is the beginning of each entity.
	return [
		...(NAMED_ENTITIES[char] ?? []),
		`&#0*${code};`,
		`&#x0*${hex(code, 1)};`,
		`%${hex(code, 2)}`,
		units.join(''),
		`\\\\${escapeRegExp(char)}`,
		escapeRegExp(char),
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
