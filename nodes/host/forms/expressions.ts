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

/** What the expressions of a parameter read of rows. Constants, such as the first item of a node, aren't rows. */
export type RowReferences = {
	/** Nodes of which they read an item, such as `$('Name').item`. */
	nodes: string[];
	/** Whether they read the input item, as with `$json`. */
	readsItem: boolean;
	/** Whether they may read any field of it, as with `$json` alone. */
	readsAnyField: boolean;
	/** Names of fields in them, such as "phone" in `$json.phone`. */
	fields: string[];
	/** Whether they have another name that may depend on the row, such as `$itemIndex`. */
	hasOthers: boolean;
};

/** Names of n8n with the same value for every row. What a function gets is looked at as well. */
const CONSTANT =
	/\$(?:(?:vars|env|secrets|workflow|execution|runIndex|now|today|if|ifEmpty|max|min|jmespath|tool|fromAI|fromAi|fromai)\b|[{\d]|\(\s*(?:"[^"\\]*"|'[^'\\]*')\s*\)\.(?:(?:first|last|all)\(|(?:isExecuted|params)\b))/g;
const NODE_ITEM = /\$\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)/g;
const INPUT_ITEM = /\$(?:json|input|data|binary)\b/g;
/** Without the name of a field after it. */
const ANY_FIELD = /\$(?:input|data|binary)\b|\$json\b(?!\s*(?:\?\.(?!\s*\[)|\.|\[\s*["']))/;
const OTHER = /\$|\bthis\b|\\u/;
const FIELD = /\.\s*([A-Za-z_]\w*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\]/g;

/** @param raw the stored value of a parameter, with its expressions */
export function rowReferences(raw: unknown): RowReferences {
	const code = codeIn(raw).join('\n').replace(CONSTANT, ' ');
	const rest = code.replace(NODE_ITEM, ' ');
	return {
		nodes: Array.from(code.matchAll(NODE_ITEM), ([, double, single]) => double ?? single ?? ''),
		readsItem: rest.search(INPUT_ITEM) >= 0,
		readsAnyField: ANY_FIELD.test(rest),
		fields: Array.from(rest.matchAll(FIELD), ([, dotted, ...quoted]) => dotted ?? quoted.join('')),
		hasOthers: OTHER.test(rest.replace(INPUT_ITEM, ' ')),
	};
}

/** The items of the node, the same for each of them. For a tool, they have the arguments of the model. */
const ALL_ITEMS = /\$input\.(?:first|last|all)\(\)/g;

/**
 * Whether an expression may refer to the current item. If it doesn't, it may still return another value each time, such as
 * the time, so its values can't be compared.
 */
export function mayNameRow(expression: string): boolean {
	const { nodes, readsItem, hasOthers } = rowReferences(expression.replace(ALL_ITEMS, ' '));
	return nodes.length > 0 || readsItem || hasOthers;
}

/** Those that end the code of an expression. After a backslash, they're a part of it. */
const CLOSING_BRACKETS = /(?<!\\)\}\}/;

/** The code between the braces of each expression, because the text around it may have any words. */
function codeIn(raw: unknown): string[] {
	if (typeof raw === 'string') {
		if (!raw.startsWith('=')) return [];
		const [, ...parts] = raw.split('{{');
		return parts.map((part) => part.split(CLOSING_BRACKETS)[0] ?? '');
	}
	return typeof raw === 'object' && raw !== null ? Object.values(raw).flatMap(codeIn) : [];
}
