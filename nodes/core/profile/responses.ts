import { type JsonValue, valueAt } from '../values/json';

/** The list at a path of a profile: `{response}` is the whole response. */
export function listAt(response: JsonValue, list: string): JsonValue | undefined {
	return list === '{response}' ? response : valueAt(response, list);
}

/** A value of an entry of a list: at a path of a profile, or the entry or its key itself. */
export function valueIn([key, entry]: [string, JsonValue], place: string): JsonValue | undefined {
	if (place === '{key}') return key;
	return place === '{entry}' ? entry : valueAt(entry, place);
}
