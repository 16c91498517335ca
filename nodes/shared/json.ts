import isPlainObject from 'lodash/isPlainObject';
import { DateTime } from 'luxon';

/** JSON as it travels. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * An answer whose fields the document names. Every one may be absent and more may be there: the
 * document lists what was observed, and what it does not show passes through.
 */
export type Documented<Fields extends object> = Partial<Fields> & JsonObject;

export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object as it is, anything else under a name. */
export function asRecord(value: JsonValue): JsonObject {
	return isJsonObject(value) ? value : { value };
}

/** n8n copies what a node gives out, and fails at some thousand levels of lists and objects in each other. */
export const DEEPEST = 500;

/** `undefined` where the text is not JSON, which is no JSON value, or is nested deeper than n8n can handle. */
export function parseJson(text: string): JsonValue | undefined {
	try {
		// Each level takes two characters.
		if (text.length > 2 * DEEPEST && isDeeper(text, DEEPEST)) return undefined;
		const value: unknown = JSON.parse(text);
		return isJsonValue(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Whatever `JSON.parse` gives is one; this only tells the compiler. */
function isJsonValue(value: unknown): value is JsonValue {
	return value !== undefined;
}

/** Strings and the marks between values; a string without an end goes up to the end, so nothing is looked at twice. */
const JSON_MARKS = /"[^"\\]*(?:\\[^][^"\\]*)*"?|[{}[\],:]/g;

/**
 * The names that an object of a JSON text has more than once, of which `JSON.parse` gives the last: each with the names on
 * the way to it.
 */
export function repeatedNames(text: string): string[][] {
	const repeated: string[][] = [];
	/** The objects and lists around a place; `name` is where it is in an object. */
	const around: Array<{ names: Set<string>; name?: string }> = [];
	let last = '';
	for (const [mark] of text.matchAll(JSON_MARKS)) {
		const inner = around.at(-1);
		if (mark === '{' || mark === '[') around.push({ names: new Set() });
		else if (mark === '}' || mark === ']') around.pop();
		else if (mark === ':' && inner !== undefined) {
			const name = parseJson(last);
			inner.name = typeof name === 'string' ? name : last;
			if (inner.names.has(inner.name)) {
				repeated.push(around.flatMap((outer) => outer.name ?? []));
			}
			inner.names.add(inner.name);
		}
		last = mark;
	}
	return repeated;
}

/** Whether lists and objects of a JSON text stand in each other more often than that; `JSON.parse` takes long over such a text. */
function isDeeper(text: string, most: number): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '"') at = endOfString(text, at);
		else if (character === '[' || character === '{') depth++;
		else if (character === ']' || character === '}') depth--;
		if (depth > most) return true;
	}
	return false;
}

/** The same of a value that another node made. It may hold itself. */
export function isTooDeep(value: unknown): boolean {
	// Most values of most nodes are texts and numbers.
	if (!isNest(value)) return false;
	const seen = new Set<unknown>();
	let level: unknown[] = [value];
	for (let depth = 0; depth <= DEEPEST; depth++) {
		const next: unknown[] = [];
		for (const outer of level) {
			if (!isNest(outer) || seen.has(outer)) continue;
			seen.add(outer);
			for (const inner of Object.values(outer)) next.push(inner);
		}
		if (next.length === 0) return false;
		level = next;
	}
	return true;
}

/** What JSON would write as `null`: a number or a date that is none; `undefined` if there is nothing of the kind. */
export function lostInJson(root: unknown): unknown {
	const seen = new Set<unknown>([root]);
	for (const value of seen) {
		if (typeof value === 'number' && !Number.isFinite(value)) return value;
		if (value instanceof Date && Number.isNaN(value.getTime())) return value;
		if (DateTime.isDateTime(value) && !value.isValid) return value;
		if (isNest(value)) for (const inner of Object.values(value)) seen.add(inner);
	}
	return undefined;
}

/** A date or a file is none. */
function isNest(value: unknown): value is object {
	return Array.isArray(value) || isPlainObject(value);
}

function endOfString(text: string, start: number): number {
	let end = text.indexOf('"', start + 1);
	while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
	return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
	let first = at;
	while (text[first - 1] === '\\') first--;
	return (at - first) % 2 === 1;
}

/** The names of a path; `\.` is a dot within a name, and a lone dot is the value itself. */
export function pathOf(text: string): string[] {
	return text
		.split(/(?<!\\)\./)
		.filter(Boolean)
		.map((name) => name.replaceAll('\\.', '.'));
}

/** The value at names separated by dots, `undefined` where the way ends early; in a list -1 is the last. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
	let current: JsonValue | undefined = value;
	for (const name of pathOf(path)) {
		if (Array.isArray(current))
			current = /^-?\d+$/.test(name) ? current.at(Number(name)) : undefined;
		else
			current = isJsonObject(current) && Object.hasOwn(current, name) ? current[name] : undefined;
	}
	return current;
}

/** Each value of an answer, the outermost first, without a limit on its depth. */
export function* valuesIn(root: JsonValue, most = Infinity): Generator<JsonValue> {
	const queue: JsonValue[] = [root];
	for (let at = 0; at < queue.length && at < most; at++) {
		const value = queue[at] ?? null;
		yield value;
		if (typeof value !== 'object' || value === null) continue;
		for (const inner of Object.values(value)) if (queue.length < most) queue.push(inner);
	}
}

/** An answer with more values than this is not searched further, so that none can keep n8n busy. */
const MAX_VALUES = 100_000;

/** The values of these fields wherever they stand in an answer whose shape is open, those nearest to the top first. */
export function* fieldsIn(root: JsonValue, ...names: string[]): Generator<JsonValue> {
	for (const value of valuesIn(root, MAX_VALUES)) {
		if (!isJsonObject(value)) continue;
		for (const name of names) if (Object.hasOwn(value, name)) yield value[name] ?? null;
	}
}

/** A number, also where it is written as text. */
export function numberIn(value: JsonValue | undefined): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Places that a message names: more would hide the one that is looked for. */
const MAX_PLACES = 8;

/** Where lists and objects stand in an answer, for a message about something that is not found in it. */
export function outlineOf(root: JsonValue): string {
	const places: string[] = [];
	const queue: Array<{ value: JsonValue; place: string }> = [{ value: root, place: '' }];
	for (let at = 0; at < queue.length && places.length <= MAX_PLACES; at++) {
		const { value = null, place = '' } = queue[at] ?? {};
		if (Array.isArray(value)) places.push(`${place === '' ? '.' : place} (a list)`);
		if (!isJsonObject(value)) continue;
		if (place !== '') places.push(`${place} (an object)`);
		for (const [name, inner] of Object.entries(value).slice(0, MAX_PLACES)) {
			const written = name.replaceAll('.', '\\.');
			queue.push({ value: inner, place: place === '' ? written : `${place}.${written}` });
		}
	}
	if (places.length === 0) return 'neither a list nor an object';
	const shown = places.slice(0, MAX_PLACES);
	return [...shown, ...(places.length > MAX_PLACES ? ['…'] : [])].join(', ');
}
