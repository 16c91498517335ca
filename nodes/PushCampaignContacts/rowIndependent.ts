/** Text in quotes, without escapes or anything that runs. */
const TEXT = String.raw`"[^"\\]*"|'[^'\\]*'`;
/** What is the same for every item of a run: fixed values, the workflow's own, and the ends of a node's output. */
const SOURCE = String.raw`-?\d+(?:\.\d+)?|true|false|${TEXT}|\$(?:vars|env|workflow|execution)|(?:\$input|\$\((?:${TEXT})\))\.(?:first|last)\(\)`;
/** Members of it, and methods without arguments. */
const MEMBER = String.raw`\??\.[A-Za-z_]\w*(?:\(\))?|(?:\?\.)?\[(?:\d+|${TEXT})\]`;
const INDEPENDENT = new RegExp(String.raw`^(?:${SOURCE})(?:${MEMBER})*$`);
const PART = /\{\{([^{}]*)\}\}/g;

/**
 * Whether an expression certainly gives the same for every item. There is no end of ways to reach the
 * item at hand (`$json`, `$itemIndex`, `$('X').item`, `pairedItem()`, …), so only what is known to be
 * free of them counts; anything else is for n8n's engine to evaluate.
 */
export function isRowIndependent(expression: string): boolean {
	const text = expression.replace(PART, (_all, code: string) =>
		INDEPENDENT.test(code.trim()) ? '' : '{{',
	);
	return !text.includes('{{');
}
