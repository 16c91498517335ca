/**
 * An expression for the subtitle of a node: the entered or selected value of a parameter, or the fallback if it's empty or an
 * expression.
 */
export function enteredOr(name: string, fallback: string): string {
	const raw = `$rawParameter["${name}"]`;
	return `(String(${raw}?.value ?? ${raw} ?? "").replace(/^=.*/s, "") || "${fallback}")`;
}
