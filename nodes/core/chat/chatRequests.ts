import type { Additions } from '../service/endpoints';
import type { ApiResponse } from '../service/http';
import type { ApiMapping } from '../profile/apiMapping';
import { type PlacedValue, placeValues } from '../profile/placeValues';
import { isJsonObject, type JsonValue, levelsIn, valueAt } from '../values/json';
import { idText } from './frames';

/** A value whose name and placement (body or query) are in the credential. */
export type ChatValue =
	| `chat${'Inbound' | 'Async'}${'Session' | 'Agent' | 'Message'}`
	| `chatCreate${'Agent' | 'Person'}`;

/**
 * The values of a chat request, as the credential places them. Empty ones aren't sent and need no name there.
 *
 * @param documented values whose name and placement are in the document
 */
export function chatValues(
	mapping: ApiMapping,
	values: ReadonlyArray<[ChatValue, string]>,
	documented: PlacedValue[] = [],
): Additions {
	const given = values.filter(([, value]) => value !== '');
	mapping.require(given.map(([name]) => `${name}Name` as const));
	const placed = given.map(([name, value]) => ({
		placement: mapping.optional(`${name}Placement`) ?? 'body',
		name: mapping.required(`${name}Name`),
		value,
	}));
	return placeValues([...placed, ...documented]);
}

/** Values to search in a response of the chat. */
export const MAX_RESPONSE_VALUES = 10_000;

/**
 * The ID of the new session, or null if it isn't found. The shape of the response isn't documented, so without a path in the
 * credential, the outermost `session_id` wins. Null if the outermost ones differ, because any of them could be about
 * something else.
 */
export function createdSessionId(mapping: ApiMapping, { body }: ApiResponse): string | null {
	const path = mapping.optional('chatCreateSessionPath');
	if (path !== undefined) return idText(valueAt(body, path));
	for (const level of levelsIn(body, MAX_RESPONSE_VALUES)) {
		const [first = null, ...others] = new Set(level.flatMap((value) => sessionIdOf(value) ?? []));
		if (first !== null) return others.length === 0 ? first : null;
	}
	return null;
}

function sessionIdOf(value: JsonValue): string | null {
	const isSession = isJsonObject(value) && Object.hasOwn(value, 'session_id');
	return isSession ? idText(value.session_id) : null;
}
