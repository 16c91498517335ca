/** The same for every item, or different with the time only: workflow data, and the first, last, or all items of a node. */
const OF_NO_ROW =
	/\$(?:(?:vars|env|workflow|execution|runIndex|now|today)\b|[{\d]|(?:input|\((?:"[^"\\]*"|'[^'\\]*')\))\.(?:first|last|all)\(\))/g;
/** All other names of n8n, such as `$json`, `$itemIndex`, and `$('X').item`. */
const OTHER_NAME = /\$|\bthis\b|\\u/;

/**
 * Whether an expression may refer to the current item. If it doesn't, it may still return another value each time, such as
 * the time, so its values can't be compared.
 */
export function mayNameRow(expression: string): boolean {
	return OTHER_NAME.test(expression.replace(OF_NO_ROW, ' '));
}
