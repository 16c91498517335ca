import escapeRegExp from 'lodash/escapeRegExp';
import { isJsonObject, parseJson, valuesIn, type JsonValue } from '../json';
import { firstCharacters, withoutEnd } from '../text';
import { hidingEncoded } from './encodedSecrets';

const HIDDEN = '[hidden]';

/** Fields whose values open something: a chat's socket, a recording in storage. */
const SECRET_FIELDS = new Set(['token', 'recording_url']);

/** Shorter texts are no secrets, and hiding them would blot out plain words. */
const SHORTEST_SECRET = 8;

/** Of the tokens that the service gave out, which live for five minutes, the latest are kept in mind. */
const MAX_SECRETS = 100;

/** Of a longer one its first characters are looked for, and all that follows them is hidden. */
const LONGEST_SOUGHT = 4_000;

/** Half a character, which `encodeURIComponent` rejects. */
const LONE_SURROGATE = /\p{Surrogate}/u;

type Hide = (text: string) => string;

/**
 * What must not be shown, whoever says it: the API token, however it is written (plain, escaped as in JSON,
 * percent-encoded, as HTML's entities, in hexadecimal or base64), and the WebSocket tokens that the service gave out, in the
 * same ways. Of a text that was cut, the beginning of one counts too.
 */
export class Secrets {
	private readonly hideOwn: Hide;
	private given: readonly string[] = [];

	constructor(apiToken = '') {
		this.hideOwn = hidingEachForm(apiToken);
	}

	/** Keeps the secrets of an answer in mind. */
	remember(body: JsonValue): void {
		this.given = [...new Set([...this.given, ...secretsIn(body)])].slice(-MAX_SECRETS);
	}

	/** A text without the API token; `bringsSecrets` where it may give the same token of a socket again. */
	hide(text: string, bringsSecrets = false): string {
		const shown = hiddenIn(text, this.hideOwn);
		return bringsSecrets ? shown : withoutSecrets(shown, this.given);
	}
}

/** A body without the secrets that it brings along itself, for what is shown of it: nothing where they are too many. */
export function withoutItsSecrets(body: JsonValue): JsonValue {
	const secrets = [...new Set(secretsIn(body))];
	if (secrets.length === 0) return body;
	return secrets.length > MAX_SECRETS ? HIDDEN : mapTexts(body, hiding(secrets));
}

/** A text, JSON or not, without these secrets (at most 100), however they are written. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
	const worthHiding = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
	if (worthHiding.length === 0) return text;
	if (worthHiding.length > MAX_SECRETS) return HIDDEN;
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
	// A number is written as it came: parsed, it has other digits.
	const isPlain = body === undefined || typeof body === 'number';
	return isPlain ? shown : JSON.stringify(mapTexts(body, hide));
}

function mapTexts(value: JsonValue, map: Hide): JsonValue {
	if (typeof value === 'string') return map(value);
	// A secret that has only digits may come as a number.
	if (typeof value === 'number') return map(digitsOf(value)) === digitsOf(value) ? value : HIDDEN;
	if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
	if (!isJsonObject(value)) return value;
	const mapped = Object.entries(value).map(([name, inner]): [string, JsonValue] => [
		map(name),
		mapTexts(inner, map),
	]);
	return Object.fromEntries(mapped);
}

/** Large numbers, too, without an exponent. */
function digitsOf(value: number): string {
	return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function hiding(secrets: readonly string[]): Hide {
	// The longest first: another may be its beginning.
	const forms = secrets
		.flatMap(plainAndEncoded)
		.sort((one, other) => other.whole.length - one.whole.length);
	const hideEncoded = hidingEncoded(secrets.map((one) => firstCharacters(one, LONGEST_SOUGHT)));
	return (text) =>
		text.length < SHORTEST_SECRET ? text : hideEncoded(forms.reduce(withoutForm, text));
}

/** A secret in one of its forms, the least of it that is one, and whether that is all of it. */
type SecretForm = { whole: string; least: string; isAll: boolean };

function plainAndEncoded(secret: string): SecretForm[] {
	const whole = firstCharacters(secret, LONGEST_SOUGHT);
	const least = firstCharacters(secret, SHORTEST_SECRET);
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

/** Where the text ends in the middle of a secret, or shortens it: `…`, `..."`. */
function hidingCut(secrets: readonly string[]): Hide {
	const forms = secrets.flatMap(plainAndEncoded);
	return (text) => {
		const beforeDots = withoutEnd(text, AFTER_A_CUT);
		const shown = forms.reduce(withoutBeginning, text);
		return shown === text
			? forms.reduce(withoutBeginning, beforeDots) + text.slice(beforeDots.length)
			: shown;
	};
}

const AFTER_A_CUT = /[\s."'…)\]}]/;

function withoutBeginning(text: string, { whole, least }: SecretForm): string {
	const end = text.slice(-whole.length);
	if (!end.includes(least)) return text;
	const length = overlapOf(end, whole);
	return length < least.length ? text : `${text.slice(0, text.length - length)}${HIDDEN}`;
}

/** Length of the longest end of a text that another begins with, found in one pass over both (Knuth, Morris and Pratt). */
function overlapOf(text: string, whole: string): number {
	/** For each beginning of `whole`, the same of what follows its first character. */
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

function hidingEachForm(secret: string): Hide {
	if (secret.length < SHORTEST_SECRET) return (text) => text;
	const bytes = [...Buffer.from(secret)];
	const forms = [
		// Case does not count, as hexadecimal digits have both.
		new RegExp(anyBeginning([...secret].map(eitherOf), SHORTEST_SECRET), 'gi'),
		new RegExp(anyBeginning(bytes.map(hexOf), SHORTEST_SECRET), 'gi'),
		...ALIGNMENTS.map((before) => new RegExp(inBase64(bytes, before), 'g')),
	];
	return (text) => forms.reduce((shown, form) => shown.replace(form, HIDDEN), text);
}

/** All of a sequence, or the beginning of it: somebody may have cut or shortened the text. */
function anyBeginning(units: readonly string[], least: number): string {
	const more = units.slice(least).reduceRight((rest, unit) => `(?:${unit}${rest})?`, '');
	return units.slice(0, least).join('') + more;
}

const eitherOf = (char: string): string => `(?:${formsOf(char).join('|')})`;

/** A byte in a dump, with what is before it: `74`, `:74`, `, 0x74`. */
const hexOf = (byte: number, at: number): string =>
	`${at === 0 ? '' : '[\\s:,-]{0,2}'}(?:0x)?${hex(byte, 2)}`;

/** Bytes before a text of which base64 makes other characters: three bytes become four. */
const ALIGNMENTS = [0, 1, 2];

/** In base64, plain or for URLs, with the characters at both ends that hold bits of what is beside it. */
function inBase64(secret: readonly number[], before: number): string {
	const text = Buffer.from([...Array<number>(before).fill(0), ...secret]).toString('base64');
	const wholeCharacters = Math.floor(((before + secret.length) * 8) / 6);
	const own = text.slice(Math.ceil((before * 8) / 6), wholeCharacters);
	const leastCharacters = Math.floor((SHORTEST_SECRET * 8) / 6);
	const units = [...own].map((char) => `${BASE64_FORMS[char] ?? char}${LINE_BREAK}`);
	const beginning = before === 0 ? '' : '[\\w+/-]?';
	return beginning + anyBeginning([...units, '[\\w+/-]?(?:=|%(?:25)*3[dD]){0,2}'], leastCharacters);
}

/** Base64 may be broken into lines; within JSON in JSON the breaks are escaped. */
const LINE_BREAK = '(?:(?:\\r|\\\\{1,8}r)?(?:\\n|\\\\{1,8}n))?';

const BASE64_FORMS: { [char: string]: string } = {
	'+': '(?:[+-]|%(?:25)*2[bB])',
	'/': '(?:\\\\{0,8}[/_]|%(?:25)*2[fF])',
};

/** The ways of writing one character, also of writing what was written so again: `%2541`, `&amp;#65;`. */
function formsOf(char: string): string[] {
	const code = char.codePointAt(0) ?? 0;
	const units = char.split('').map((unit) => `\\\\{1,8}u${hex(unit.charCodeAt(0), 4)}`);
	// The plain one comes last, as an ampersand alone is the beginning of each entity, and so does its name.
	return [
		`&(?:amp;)*#0*${code};`,
		`&(?:amp;)*#x0*${hex(code, 1)};`,
		...(NAMED_ENTITIES[char] ?? []).map((name) => `&(?:amp;)*${name};`),
		`%(?:25)*${hex(code, 2)}`,
		units.join(''),
		`\\\\{1,8}x${hex(code, 2)}`,
		`\\\\{1,8}${escapeRegExp(char)}`,
		escapeRegExp(char),
	];
}

const NAMED_ENTITIES: { [char: string]: string[] } = {
	'&': ['amp'],
	'<': ['lt'],
	'>': ['gt'],
	'"': ['quot'],
	"'": ['apos'],
};

function hex(code: number, digits: number): string {
	return code.toString(16).padStart(digits, '0');
}
