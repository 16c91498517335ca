import { isJsonObject, type JsonValue } from '../types';

/** The value at names separated by dots (a lone dot: the value itself), `undefined` where the way ends early. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
	let current: JsonValue | undefined = value;
	for (const name of path.split('.').filter(Boolean)) {
		if (Array.isArray(current)) current = current[Number(name)];
		else current = isJsonObject(current) ? current[name] : undefined;
	}
	return current;
}

/** Where lists stand in an answer, for a message about one that was looked for elsewhere. */
export function listPlaces(value: JsonValue, place = ''): string[] {
	if (Array.isArray(value)) return [place === '' ? '.' : place];
	if (!isJsonObject(value)) return [];
	return Object.entries(value).flatMap(([name, inner]) =>
		listPlaces(inner, place === '' ? name : `${place}.${name}`),
	);
}
