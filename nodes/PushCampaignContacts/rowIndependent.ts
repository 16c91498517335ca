/** Quoted text without escapes or embedded code. */
const TEXT = String.raw`"[^"\\]*"|'[^'\\]*'`;
/** The same for every item of a run: fixed values, workflow data, and the first or last item of a node. */
const SOURCE = String.raw`-?\d+(?:\.\d+)?|true|false|${TEXT}|\$(?:vars|env|workflow|execution)|(?:\$input|\$\((?:${TEXT})\))\.(?:first|last)\(\)`;
/** Properties, and methods without arguments. */
const MEMBER = String.raw`\??\.[A-Za-z_]\w*(?:\(\))?|(?:\?\.)?\[(?:\d+|${TEXT})\]`;
const INDEPENDENT = new RegExp(String.raw`^(?:${SOURCE})(?:${MEMBER})*$`);
/** Names of n8n, except those of values that are the same for every item, or that differ with the time only. */
const OTHER_NAME = /\$(?!(?:vars|env|workflow|execution|runIndex|now|today)\b|[{\d])|\bthis\b|\\u/;
const PART = /\{\{([^{}]*)\}\}/g;

/**
 * Whether an expression certainly returns the same value for every item. Expressions can reach the current item in many
 * ways (`$json`, `$itemIndex`, `$('X').item`, `pairedItem()`), so only expressions that certainly don't are accepted.
 */
export function isRowIndependent(expression: string): boolean {
	const text = expression.replace(PART, (_all, code: string) =>
		INDEPENDENT.test(code.trim()) ? '' : '{{',
	);
	return !text.includes('{{');
}

/**
 * Whether an expression may refer to the current item. If it doesn't, it may still return another value each time, such as
 * the time, so its values can't be compared.
 */
export function mayNameRow(expression: string): boolean {
	return OTHER_NAME.test(expression);
}
