import type { QueryValue } from '../service/http';
import { type JsonValue, valueAt } from '../values/json';

/** Placeholders of further pages. The first request has none. `next` says which one the call list has. */
export const POSITIONS = ['page', 'offset', 'cursor'] as const;

export type Placeholder = {
	name: string;
	/** Whether a request may be sent without its value. */
	isOptional: boolean;
};

/** `{phone}`, or `{reason?}` for a value that may be left out. */
const PLACEHOLDER = /\{(\w+)(\??)\}/g;

/** The placeholders of a text, or of all texts of a template. */
export function placeholdersIn(template: JsonValue): Placeholder[] {
	// The curly brackets of JSON itself are beside a quotation mark or each other.
	return [...JSON.stringify(template).matchAll(PLACEHOLDER)].map(([, name = '', mark]) => {
		return { name, isOptional: mark === '?' || POSITIONS.some((one) => one === name) };
	});
}

/** Whether a placeholder is written in another way, such as `{{phone}}`, `${phone}`, or `{ phone }`. */
export function hasUnclearPlaceholder(text: string): boolean {
	return text.includes('${') || /[{}]/.test(text.replace(PLACEHOLDER, ''));
}

export type TemplateEntry = { path: string[]; name: string; value: JsonValue };

/** Every entry of a template, at any depth. */
export function* entriesIn(template: JsonValue, path: string[] = []): Generator<TemplateEntry> {
	if (typeof template !== 'object' || template === null) return;
	for (const [name, value] of Object.entries(template)) {
		yield { path: [...path, name], name, value };
		yield* entriesIn(value, [...path, name]);
	}
}

/** The values of a request by their placeholders. */
type Values = { readonly [placeholder: string]: QueryValue | undefined };

/**
 * The template with values for its placeholders. A text that is only a placeholder becomes the value, of any type. Texts
 * without their value are left out, and lists and objects of which nothing else is left.
 */
export function filled(template: JsonValue, values: Values): JsonValue | undefined {
	if (typeof template === 'string') return filledText(template, values);
	if (typeof template !== 'object' || template === null) return template;
	const entries = Object.entries(template).flatMap<[string, JsonValue]>(([name, inner]) => {
		const value = filled(inner, values);
		return value === undefined ? [] : [[name, value]];
	});
	if (entries.length === 0 && Object.keys(template).length > 0) return undefined;
	return Array.isArray(template) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

function filledText(text: string, values: Values): QueryValue | undefined {
	const placeholders = placeholdersIn(text);
	if (placeholders.some(({ name }) => values[name] === undefined)) return undefined;
	const [only] = placeholders;
	if (only !== undefined && /^\{\w+\??\}$/.test(text)) return values[only.name];
	return text.replace(PLACEHOLDER, (_all, one: string) => String(values[one]));
}

/** The list at a path of a profile: `{response}` is the whole response. */
export function listAt(response: JsonValue, list: string): JsonValue | undefined {
	return list === '{response}' ? response : valueAt(response, list);
}

/** A value of an entry of a list: at a path of a profile, or the entry or its key itself. */
export function valueIn([key, entry]: [string, JsonValue], place: string): JsonValue | undefined {
	if (place === '{key}') return key;
	return place === '{entry}' ? entry : valueAt(entry, place);
}
