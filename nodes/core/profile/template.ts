import type { QueryValue } from '../service/http';
import type { JsonValue } from '../values/json';

/** The values of a request by their placeholders. */
export type Values = { readonly [placeholder: string]: QueryValue | undefined };

/** `{phone}`, or `{reason?}` for a value that may be left out. */
const PLACEHOLDERS = /\{(\w+)(\??)\}/g;

export function placeholdersIn(text: string): Array<{ name: string; isOptional: boolean }> {
	return [...text.matchAll(PLACEHOLDERS)].map(([, name = '', mark]) => {
		return { name, isOptional: mark === '?' };
	});
}

/** Whether a placeholder is written in another way, such as `{{phone}}`, `${phone}`, or `{ phone }`. */
export function hasUnclearPlaceholder(text: string): boolean {
	return text.includes('${') || /[{}]/.test(text.replace(PLACEHOLDERS, ''));
}

type WrittenText = { text: string; path: string[]; isName?: boolean };

/** The texts of a template, and the names in it. */
export function* textsIn(template: JsonValue, path: string[] = []): Generator<WrittenText> {
	if (typeof template === 'string') yield { text: template, path };
	if (typeof template !== 'object' || template === null) return;
	for (const [name, inner] of Object.entries(template)) {
		yield { text: name, path: [...path, name], isName: true };
		yield* textsIn(inner, [...path, name]);
	}
}

/**
 * The template with values for its placeholders. A text that is only a placeholder becomes the value, of any type. Texts
 * without their value are left out, and lists and objects of which nothing else is left.
 */
export function filled(template: JsonValue, values: Values): JsonValue | undefined {
	if (typeof template === 'string') return filledText(template, values);
	if (typeof template !== 'object' || template === null) return template;
	const entries: Array<[string, JsonValue]> = [];
	for (const [name, inner] of Object.entries(template)) {
		const value = filled(inner, values);
		if (value !== undefined) entries.push([name, value]);
	}
	if (entries.length === 0 && Object.keys(template).length > 0) return undefined;
	return Array.isArray(template) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

function filledText(text: string, values: Values): QueryValue | undefined {
	const placeholders = placeholdersIn(text);
	if (placeholders.some(({ name }) => values[name] === undefined)) return undefined;
	const [only] = placeholders;
	if (only !== undefined && /^\{\w+\??\}$/.test(text)) return values[only.name];
	return text.replace(PLACEHOLDERS, (_all, one: string) => String(values[one]));
}
