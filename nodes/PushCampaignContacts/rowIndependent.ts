/** Quoted text without escapes or embedded code. */
const TEXT = String.raw`"[^"\\]*"|'[^'\\]*'`;
/** The same for every item of a run: fixed values, workflow data, and the first or last item of a node. */
const SOURCE = String.raw`-?\d+(?:\.\d+)?|true|false|${TEXT}|\$(?:vars|env|workflow|execution)|(?:\$input|\$\((?:${TEXT})\))\.(?:first|last)\(\)`;
/** Properties, and methods without arguments. */
const MEMBER = String.raw`\??\.[A-Za-z_]\w*(?:\(\))?|(?:\?\.)?\[(?:\d+|${TEXT})\]`;
const INDEPENDENT = new RegExp(String.raw`^(?:${SOURCE})(?:${MEMBER})*$`);
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
