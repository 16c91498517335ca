/**
 * An expression for the subtitle of a node: the entered value of a parameter, or the fallback if it's empty or an
 * expression.
 */
export function enteredOr(name: string, fallback: string): string {
	return `(String($rawParameter["${name}"] ?? "").replace(/^=.*/s, "") || "${fallback}")`;
}
