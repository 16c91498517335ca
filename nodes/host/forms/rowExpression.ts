import isPlainObject from 'lodash/isPlainObject';
import { isSafeObjectProperty } from 'n8n-workflow';

/** The value must be evaluated by n8n's engine. */
export const UNREAD = Symbol('unread');

/** Returns a parameter's value for one row, or `UNREAD`. */
type RowReader = (row: unknown) => unknown;

const ONE_CODE = /^=\{\{([^{}]*)\}\}$/;
/** A step such as `.phone` or `["Phone Number"]`. */
const STEP = /\.([A-Za-z_]\w*)|\[(["'])([^"'\\\n\r\u2028\u2029]+)\2\]/g;

/** One of n8n's engines truncates a text at a NUL character, and one replaces half of a surrogate pair. */
const CHANGED_BY_ENGINE = /\0|\p{Surrogate}/u;

/**
 * Reads expressions that only pick a field of the row, without n8n's expression engine. Never returns another value than
 * the engine: if the engine might differ, the result is `UNREAD`.
 *
 * @returns undefined if the expression always needs the engine
 */
export function rowReader(raw: unknown): RowReader | undefined {
	if (typeof raw !== 'string' || CHANGED_BY_ENGINE.test(raw)) return undefined;
	const code = ONE_CODE.exec(raw)?.[1]?.trim() ?? '';
	const steps = [...code.matchAll(STEP)];
	if (steps.length === 0 || code !== `$json${steps.map(([step]) => step).join('')}`)
		return undefined;
	const path = steps.map(([, dotted, , quoted = '']) => dotted ?? quoted);
	return path.every(isOrdinary) ? (row) => valueIn(row, path) : undefined;
}

/** n8n rejects "constructor" anywhere in an expression, and its engines differ for names such as "toString". */
function isOrdinary(name: string): boolean {
	return isSafeObjectProperty(name) && !name.includes('constructor') && !(name in Object.prototype);
}

/** Only simple values, because the engine converts dates and objects. */
function valueIn(row: unknown, path: readonly string[]): unknown {
	let value = row;
	for (const name of path) {
		if (!isRecord(value)) return UNREAD;
		value = value[name];
	}
	if (typeof value === 'string') return CHANGED_BY_ENGINE.test(value) ? UNREAD : value;
	const isSimple = value === null || ['number', 'boolean', 'undefined'].includes(typeof value);
	return isSimple ? value : UNREAD;
}

function isRecord(value: unknown): value is { [name: string]: unknown } {
	return isPlainObject(value);
}
