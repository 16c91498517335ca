/** JSON as it travels. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/**
 * An answer whose fields the document names. Every one may be absent and more may be there: the
 * document lists what was observed, and what it does not show passes through.
 */
export type Documented<Fields extends object> = Partial<Fields> & JsonObject;

export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `undefined` where the text is not JSON, which is no JSON value. */
export function parseJson(text: string): JsonValue | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isJsonValue(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** Whatever `JSON.parse` gives is one; this only tells the compiler. */
function isJsonValue(value: unknown): value is JsonValue {
	return value !== undefined;
}
