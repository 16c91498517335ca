import { fieldsIn, valueAt, type JsonValue } from '../json';

/**
 * The value of a documented field in an answer whose shape is open, wherever it stands; the
 * outermost one where there are several.
 */
export function findId(answer: JsonValue, name: string): string | null {
	for (const value of fieldsIn(answer, name)) {
		const found = asId(value);
		if (found !== null) return found;
	}
	return null;
}

/** The ID at the place that the credential names, e.g. `data.turn`. */
export function idAt(answer: JsonValue, path: string): string | null {
	return asId(valueAt(answer, path));
}

/** The document does not give the type of ids: a number names the same thing as its digits. */
function asId(value: JsonValue | undefined): string | null {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value !== '' ? value : null;
}
