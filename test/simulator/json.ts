export type JsonObject = { [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SHOWN_LENGTH = 2_000;

/** The beginning of a body, for a person to read. */
export function shownText(body: unknown): string {
	if (body === undefined) return '';
	const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
	return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)} …` : text;
}

export function isNonEmptyString(value: unknown): value is string {
	return typeof value === 'string' && value.trim() !== '';
}
