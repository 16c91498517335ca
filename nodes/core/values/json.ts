import get from 'lodash/get';
import has from 'lodash/has';
import isPlainObject from 'lodash/isPlainObject';
import { DateTime } from 'luxon';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object unchanged, any other value as `{ value }`. */
export function asRecord(value: JsonValue): JsonObject {
	return isJsonObject(value) ? value : { value };
}

/** Maximum nesting of lists and objects. n8n fails to copy output with some thousand levels. */
const MAX_DEPTH = 500;

/**
 * Parses JSON. `undefined` if the text isn't JSON or is nested too deeply for n8n. Integers beyond
 * `Number.MAX_SAFE_INTEGER` become texts with the same digits, because two long IDs would be the same number.
 */
export function parseJson(text: string): JsonValue | undefined {
	try {
		const value: unknown = JSON.parse(text, LONG_NUMBER.test(text) ? exactInteger : undefined);
		return isJsonValue(value) && !isDeeper(value, MAX_DEPTH) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Integers with fewer digits are safe. */
const LONG_NUMBER = /\d{16}/;

/** Replaces an integer that JavaScript would round with the text of its digits. */
function exactInteger(_name: string, value: unknown, ...[context]: unknown[]): unknown {
	if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
	const digits = isJsonObject(context) ? context.source : undefined;
	return typeof digits === 'string' && !/[.eE]/.test(digits) ? digits : value;
}

/** Always true for a result of `JSON.parse`. For the compiler. */
function isJsonValue(value: unknown): value is JsonValue {
	return value !== undefined;
}

function isDeeper(value: JsonValue, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Finds a value that JSON would convert to `null`: an invalid number or date. `undefined` if there is none. */
export function lostInJson(root: unknown): unknown {
	const seen = new Set<unknown>([root]);
	for (const value of seen) {
		if (typeof value === 'number' && !Number.isFinite(value)) return value;
		if (value instanceof Date && Number.isNaN(value.getTime())) return value;
		if (DateTime.isDateTime(value) && !value.isValid) return value;
		// A date or a file isn't searched.
		if (!Array.isArray(value) && !isPlainObject(value)) continue;
		for (const inner of Object.values(value ?? {})) seen.add(inner);
	}
	return undefined;
}

/** The value at a lodash path such as `data.calls[0]`. `undefined` if it doesn't exist. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
	const found: unknown = has(value, path) ? get(value, path) : undefined;
	return isJsonValue(found) ? found : undefined;
}

/**
 * All values in a value, the outermost first, at any depth.
 *
 * @param skipped fields whose values aren't searched
 */
export function* valuesIn(
	root: JsonValue,
	max = Infinity,
	skipped: readonly string[] = [],
): Generator<JsonValue> {
	for (const level of levelsIn(root, max, skipped)) yield* level;
}

/** The values in a list or object, without those of the skipped fields. */
function innerOf(value: JsonObject | JsonValue[], skipped: readonly string[]): JsonValue[] {
	if (Array.isArray(value)) return value;
	return Object.entries(value).flatMap(([name, inner]) => (skipped.includes(name) ? [] : [inner]));
}

/** The values of each level, the outermost first, up to `max` in total. */
export function* levelsIn(
	root: JsonValue,
	max: number,
	skipped: readonly string[] = [],
): Generator<JsonValue[]> {
	let level = [root];
	for (let left = max - 1; level.length > 0; left -= level.length) {
		yield level;
		const inner = level.flatMap((value) =>
			typeof value === 'object' && value !== null ? innerOf(value, skipped) : [],
		);
		level = inner.slice(0, left);
	}
}

/** Maximum number of values to search, so that no response or report can keep n8n busy. */
export const MAX_VALUES = 100_000;

/** The values of these fields at any depth, those closest to the top level first. For what isn't documented. */
export function* fieldsIn(
	root: JsonValue,
	names: readonly string[],
	skipped?: readonly string[],
): Generator<JsonValue> {
	for (const value of valuesIn(root, MAX_VALUES, skipped)) {
		if (!isJsonObject(value)) continue;
		for (const name of names) if (Object.hasOwn(value, name)) yield value[name] ?? null;
	}
}

/** A number, or a text that is a number. */
export function numberIn(value: JsonValue | undefined): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Maximum number of paths in a message. */
const MAX_PATHS = 8;

/** Lists the paths of lists and objects in a response, for messages about a missing value. */
export function outlineOf(root: JsonValue): string {
	const paths: string[] = [];
	const queue: Array<{ value: JsonValue; path: string }> = [{ value: root, path: '' }];
	for (let at = 0; at < queue.length && paths.length < MAX_PATHS; at++) {
		const { value = null, path = '' } = queue[at] ?? {};
		if (Array.isArray(value)) paths.push(path === '' ? 'only a list' : `${path} (a list)`);
		if (!isJsonObject(value)) continue;
		if (path !== '') paths.push(`${path} (an object)`);
		for (const [name, inner] of Object.entries(value).slice(0, MAX_PATHS)) {
			const isPlain = /^[^.[\]"']+$/.test(name);
			const written = isPlain ? `.${name}` : `[${JSON.stringify(name)}]`;
			queue.push({ value: inner, path: `${path}${written}`.replace(/^\./, '') });
		}
	}
	return paths.join(', ') || 'neither a list nor an object';
}
