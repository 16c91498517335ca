/**
 * A parameter for the subtitle of a node, as an expression: what was entered, or these words where it is empty or has
 * a value only when the node runs.
 */
export function enteredOr(name: string, otherwise: string): string {
	return `(String($rawParameter["${name}"] ?? "").replace(/^=.*/s, "") || "${otherwise}")`;
}
