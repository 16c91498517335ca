import isPlainObject from 'lodash/isPlainObject';
import { isSafeObjectProperty } from 'n8n-workflow';
import { hasExpression, isLocator } from './fieldValue';

/** The value must be evaluated by n8n's engine. */
export const UNREAD = Symbol('unread');

/** Returns a parameter's value for one row, or `UNREAD`. */
export type RowReader = (row: unknown) => unknown;

const ROW = '$json';
const NUL = '\0';
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Reads expressions that only pick values of the row, with text around them, without n8n's expression engine. Never
 * returns another value than the engine: if the engine might differ, the result is `UNREAD`.
 *
 * @returns undefined if the expression always needs the engine
 */
export function rowReader(raw: unknown): RowReader | undefined {
	if (isLocator(raw)) {
		// Only the value of a resource locator is used. No mode of ours extracts a part of it.
		const { value, ...others } = raw;
		return hasExpression(others) ? undefined : rowReader(value);
	}
	return typeof raw === 'string' && raw.startsWith('=')
		? expressionReader(raw.slice(1))
		: undefined;
}

function expressionReader(expression: string): RowReader | undefined {
	// A backslash escapes brackets in n8n, and n8n rejects some words anywhere in an expression.
	if (/\\|constructor|\p{Surrogate}/u.test(expression) || expression.includes(NUL))
		return undefined;
	const [before = '', ...codes] = expression.split('{{');
	const parts = codes.map((code) => {
		const end = code.indexOf('}}');
		const path = end < 0 ? undefined : parsePath(code.slice(0, end).trim());
		return path && { path, after: code.slice(end + 2) };
	});
	const known = parts.filter((part) => part !== undefined);
	const [first, ...others] = known;
	if (first === undefined || known.length < parts.length) return undefined;
	if (before === '' && first.after === '' && others.length === 0) {
		return (row) => valueIn(row, first.path);
	}
	return (row) => {
		let text = before;
		for (const { path, after } of known) {
			const value = valueIn(row, path);
			if (value === UNREAD) return UNREAD;
			text += textOf(value) + after;
		}
		return text;
	};
}

type Simple = string | number | boolean | null | undefined;

/** In a text, n8n writes nothing for missing values. */
function textOf(value: Simple): string {
	return value === undefined || value === null || Number.isNaN(value) ? '' : String(value);
}

function parsePath(code: string): string[] | undefined {
	if (!code.startsWith(ROW)) return undefined;
	const path: string[] = [];
	// A step such as `.phone`, `["Phone Number"]`, or `?.phone`.
	const step = /\??\.([A-Za-z_]\w*)|(?:\?\.)?\[(["'])([^"'\\{}\n\r\u2028\u2029]+)\2\]/y;
	step.lastIndex = ROW.length;
	while (step.lastIndex < code.length) {
		const [, dotted, , quoted] = step.exec(code) ?? [];
		const name = dotted ?? quoted;
		// n8n's engines reject names such as "constructor", and differ for names such as "toString".
		if (name === undefined || !isSafeObjectProperty(name) || name in Object.prototype)
			return undefined;
		path.push(name);
	}
	return path.length === 0 ? undefined : path;
}

/** Only simple values, because the engine converts dates and objects. */
function valueIn(row: unknown, path: readonly string[]): Simple | typeof UNREAD {
	let value = row;
	for (const name of path) {
		if (!isRecord(value)) return UNREAD;
		value = value[name];
	}
	return isSimple(value) ? value : UNREAD;
}

function isRecord(value: unknown): value is { [name: string]: unknown } {
	return isPlainObject(value);
}

function isSimple(value: unknown): value is Simple {
	// One of n8n's engines truncates a text at a NUL character, and one replaces half of a surrogate pair.
	if (typeof value === 'string') return !value.includes(NUL) && !HALF_PAIR.test(value);
	return value === null || ['number', 'boolean', 'undefined'].includes(typeof value);
}
