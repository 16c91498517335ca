/** Reads `curl` commands as documentation and browsers write them. Nothing is run or sent. */
import {
	isJsonObject,
	parseJson,
	type JsonObject,
	type JsonValue,
} from '../../nodes/core/values/json';

/** A request without headers and tokens. */
export interface ExampleRequest {
	method: string;
	/** Without host and query. */
	path: string;
	query: JsonObject;
	body: JsonObject;
	/** What can't be read or was left out. */
	notes: string[];
}

export interface ReadCommands {
	requests: ExampleRequest[];
	/** Tokens and passwords in the commands. */
	secrets: string[];
}

/** All requests in a text. Other text around them doesn't matter. */
export function readCommands(text: string): ReadCommands {
	const commands = commandsIn(text.replaceAll('\r\n', '\n'));
	const secrets = commands.flatMap(({ options }) => options).flatMap(secretsIn);
	return { requests: commands.map((command) => requestOf(command, secrets)), secrets };
}

/** An option by its long name with its value, or a URL as `url`. */
type Option = [name: string, value: string];

interface Command {
	options: Option[];
	/** Whether each quote has its end. Without one, it extends to the end of the text. */
	isClosed: boolean;
}

/** At the start of a line or after an operator, with or without a prompt. Other text may have an apostrophe. */
const CURL = /(?:^|[:;&|`])[^\S\n]*(?:[$>#%][^\S\n]*)?curl(?:\.exe)?(?=\s)/gm;

/**
 * A part of a command line: the end of a line that continues, an escaped character, the three kinds of quotes, the end of a
 * command, white space, or plain characters.
 */
const PIECES =
	/(?<continued>\\[^\S\n]*\n)|\\(?<escaped>[^])|'(?<single>[^']*)'?|\$'(?<ansi>[^'\\]*(?:\\[^][^'\\]*)*)'?|"(?<double>[^"\\]*(?:\\[^][^"\\]*)*)"?|(?<end>\n(?![^\S\n]*-))|(?<space>[^\S\n]+|\n)|(?<plain>[^\s\\'"$]+|\$|\\)/g;

const OPERATOR = /^(?:[|;&]|&&|\|\||\d?>.*)$/;

function commandsIn(text: string): Command[] {
	const commands: Command[] = [];
	let read = 0;
	for (const { 0: start, index } of text.matchAll(CURL)) {
		// A value of the command before may contain the word.
		if (index < read) continue;
		const { words, end, isClosed } = wordsFrom(text, index + start.length);
		commands.push({ options: optionsOf(words), isClosed });
		read = end;
	}
	return commands;
}

/** The words up to the end of a command. */
function wordsFrom(text: string, start: number) {
	const words: string[] = [];
	let word: { text: string; isPlain: boolean } | undefined;
	let end = start;
	let isClosed = true;
	const pieces = new RegExp(PIECES);
	pieces.lastIndex = start;
	for (let piece = pieces.exec(text); piece !== null; piece = pieces.exec(text)) {
		const { single, ansi, double, escaped, plain, end: isEnd } = piece.groups ?? {};
		const quoted = single ?? (ansi === undefined ? double && doubleText(double) : ansiText(ansi));
		const added = quoted ?? escaped ?? plain;
		if (added !== undefined) {
			const { text: before, isPlain } = word ?? { text: '', isPlain: true };
			word = { text: `${before}${added}`, isPlain: isPlain && plain !== undefined };
			if (quoted !== undefined) isClosed &&= /^(?:\$?'[^]*'|"[^]*")$/.test(piece[0]);
		} else if (word !== undefined) {
			if (word.isPlain && OPERATOR.test(word.text)) break;
			words.push(word.text);
			word = undefined;
		}
		end = pieces.lastIndex;
		if (isEnd !== undefined) break;
	}
	if (word !== undefined && !(word.isPlain && OPERATOR.test(word.text))) words.push(word.text);
	return { words, end, isClosed };
}

function doubleText(text: string): string {
	return text.replace(/\\(["\\$`\n])/g, (_all, one: string) => (one === '\n' ? '' : one));
}

const ANSI = new Map([
	['n', '\n'],
	['r', '\r'],
	['t', '\t'],
]);

/** The text of `$'…'`, as browsers write texts with line breaks and quotes. */
function ansiText(text: string): string {
	return text.replace(
		/\\(?:u([\da-f]{4})|x([\da-f]{2})|([^]))/gi,
		(_all, long?: string, short?: string, other: string = '') => {
			const code = long ?? short;
			return code === undefined
				? (ANSI.get(other) ?? other)
				: String.fromCharCode(Number.parseInt(code, 16));
		},
	);
}

const SHORT_WITH_VALUE = 'AbcCdDeEFHKmoPQrtTuUwxXyYz';
const SHORT: { [letter: string]: string } = {
	...{ d: 'data', F: 'form', G: 'get', H: 'header', I: 'head', u: 'user', X: 'request' },
};
const DATA = ['data', 'data-ascii', 'data-binary', 'data-raw', 'data-urlencode', 'json'];
const LONG_WITH_VALUE = new Set([
	...DATA,
	...['cacert', 'cert', 'ciphers', 'config', 'connect-timeout', 'connect-to', 'cookie'],
	...[
		'cookie-jar',
		'dump-header',
		'form',
		'form-string',
		'header',
		'interface',
		'key',
		'limit-rate',
	],
	...['max-redirs', 'max-time', 'noproxy', 'oauth2-bearer', 'output', 'pass', 'proto', 'proxy'],
	...['proxy-header', 'proxy-user', 'referer', 'request', 'resolve', 'retry', 'retry-delay'],
	...['retry-max-time', 'tls-max', 'upload-file', 'url', 'url-query', 'user', 'user-agent'],
	'write-out',
]);

function optionsOf(words: readonly string[]): Option[] {
	const options: Option[] = [];
	for (let at = 0; at < words.length; at++) {
		const word = words[at] ?? '';
		if (word.startsWith('--')) {
			const name = word.slice(2);
			options.push([name, LONG_WITH_VALUE.has(name) ? (words[++at] ?? '') : '']);
		} else if (/^-./.test(word)) {
			const first = [...word].findIndex(
				(one, index) => index > 0 && SHORT_WITH_VALUE.includes(one),
			);
			const flags = first < 0 ? word.slice(1) : word.slice(1, first);
			for (const flag of flags) options.push([SHORT[flag] ?? flag, '']);
			if (first < 0) continue;
			const letter = word.charAt(first);
			const attached = word.slice(first + 1);
			options.push([SHORT[letter] ?? letter, attached === '' ? (words[++at] ?? '') : attached]);
		} else if (word.includes('/')) options.push(['url', word]);
	}
	return options;
}

/** Shorter texts are words that another value may contain. */
const MIN_SECRET = 6;

function secretsIn([name, value]: Option): string[] {
	const [header = '', ...rest] = value.split(':');
	const isSecretHeader = name === 'header' && /auth|token|key|secret/i.test(header);
	const found = isSecretHeader ? rest.join(':').trim().split(/\s+/) : [];
	if (name === 'oauth2-bearer') found.push(value);
	if (name === 'user') found.push(value, rest.join(':'));
	return found.filter((one) => one.length >= MIN_SECRET);
}

function requestOf({ options, isClosed }: Command, secrets: readonly string[]): ExampleRequest {
	const valuesOf = (...names: string[]) => options.filter(([name]) => names.includes(name));
	const has = (name: string) => options.some(([one]) => one === name);
	const data = valuesOf(...DATA);
	const [, url = ''] = valuesOf('url')[0] ?? [];
	const [beforeQuery = '', ...parameters] = (url.split('#')[0] ?? '').split('?');
	const isInQuery = has('get');
	const pairs = [
		...new URLSearchParams(parameters.join('?')),
		...valuesOf('url-query').flatMap(pairsOf),
		...(isInQuery ? data.flatMap(pairsOf) : []),
	];
	const bodyText = isInQuery ? '' : textOf(data);
	const body = bodyText === '' ? {} : parseJson(bodyText);
	const notes: string[] = [];
	if (!isClosed) notes.push("A quotation mark isn't closed, so the command may be incomplete.");
	if (url === '') notes.push('The command has no URL.');
	if (has('form') || has('form-string') || !isJsonObject(body)) {
		notes.push("The body isn't a JSON object, so it was left out. The nodes send JSON.");
	}
	const example = withoutSecrets(
		{ query: queryOf(pairs), body: isJsonObject(body) ? body : {} },
		secrets,
		(name) => notes.push(`'${name}' was left out, because it has a token or password.`),
	);
	const { query = {}, body: shown = {} } = isJsonObject(example) ? example : {};
	return {
		method: (valuesOf('request').at(-1)?.[1] ?? defaultMethod(has, data)).toUpperCase(),
		path: pathOf(beforeQuery, secrets),
		query: isJsonObject(query) ? query : {},
		body: isJsonObject(shown) ? shown : {},
		notes,
	};
}

function pathOf(url: string, secrets: readonly string[]): string {
	const path = url.replace(/^(?:\w+:\/\/)?[^/]*/, '').replace(/(.)\/$/, '$1');
	return secrets.reduce((shown, secret) => shown.replaceAll(secret, '(token)'), path);
}

function defaultMethod(has: (name: string) => boolean, data: readonly Option[]): string {
	if (has('head')) return 'HEAD';
	if (has('get')) return 'GET';
	return data.length > 0 || has('form') || has('form-string') ? 'POST' : 'GET';
}

/** As curl joins them. */
function textOf(data: readonly Option[]): string {
	const separator = data.every(([name]) => name === 'json') ? '' : '&';
	return data.map(([, value]) => value).join(separator);
}

function pairsOf([name, value]: Option): Array<[string, string]> {
	if (name === 'data' || name === 'data-ascii' || name === 'data-binary' || name === 'data-raw')
		return [...new URLSearchParams(value)];
	const [first = '', ...rest] = value.split('=');
	return rest.length === 0 ? [[first, '']] : [[first, rest.join('=')]];
}

/** A name that is there several times has a list. */
function queryOf(pairs: ReadonlyArray<readonly [string, string]>): JsonObject {
	const lists = new Map<string, string[]>();
	for (const [name, value] of pairs) {
		const list = lists.get(name) ?? [];
		list.push(value);
		lists.set(name, list);
	}
	return Object.fromEntries(
		[...lists].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
	);
}

/** Names that only a token or password has. A cursor may have a name such as `page_token`. */
const SECRET_NAME =
	/^(?:(?:api|access|auth)[-_]?(?:token|key)|token|password|secret|authorization)$/i;

/** The value without members that have a secret. */
export function withoutSecrets(
	value: JsonValue,
	secrets: readonly string[],
	leftOut: (name: string) => void = () => {},
): JsonValue {
	if (typeof value !== 'object' || value === null) return value;
	const hasSecret = (inner: JsonValue) =>
		typeof inner === 'string' && secrets.some((secret) => inner.includes(secret));
	const kept = Object.entries(value).flatMap<[string, JsonValue]>(([name, inner]) => {
		if (!hasSecret(inner) && !SECRET_NAME.test(name) && !hasSecret(name)) {
			return [[name, withoutSecrets(inner, secrets, leftOut)]];
		}
		leftOut(hasSecret(name) ? 'A member' : name);
		return [];
	});
	return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
}
