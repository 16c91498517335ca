import { isJsonObject, type JsonObject, type JsonValue } from '../../nodes/shared/json';
import type { Exported } from './exported';
import type { Input } from './shapes';

const listOf = (json: JsonValue): JsonValue[] => (Array.isArray(json) ? json : [json]);
const objectOf = (json: JsonValue): JsonObject => (isJsonObject(json) ? json : FIELDS(json));

/** The fields of the service's document that readers look at, with the same in each. */
const FIELDS = (json: JsonValue): JsonObject =>
	Object.fromEntries(
		[
			...['data', 'error', 'errors', 'details', 'message', 'meta', 'transcript', 'uploads'],
			...['phone', 'phone_number', 'person_name', 'status', 'created_at', 'call_picked_at'],
			...['token', 'recording_url', 'call_id', 'session_id', 'action', 'session_ids', 'summary'],
		].map((name) => [name, json]),
	);

const textsOf = ({ json }: Input): string[] => listOf(json).map(String);

/** What holds text from outside, by its type, and how an input is given as such. */
const OUTSIDE: Record<string, (input: Input) => unknown> = {
	string: ({ text }) => text,
	'string | undefined': ({ text }) => text,
	'string | null': ({ text }) => text,
	'string | number': ({ text }) => text,
	'string | number | boolean': ({ text }) => text,
	Uint8Array: ({ text }) => Buffer.from(text),
	unknown: ({ json }) => json,
	JsonValue: ({ json }) => json,
	'JsonValue | undefined': ({ json }) => json,
	JsonObject: ({ json }) => objectOf(json),
	ContactRow: ({ json }) => objectOf(json),
	'{ [name: string]: unknown }': ({ json }) => objectOf(json),
	'JsonValue[]': ({ json }) => listOf(json),
	'JsonObject[]': ({ json }) => listOf(json).map(objectOf),
	'readonly JsonObject[]': ({ json }) => listOf(json).map(objectOf),
	'JsonObject | JsonObject[]': ({ json }) => listOf(json).map(objectOf),
	'string[]': textsOf,
	'readonly string[]': textsOf,
	ApiResponse: ({ json }) => ({ status: 200, body: json }),
	HttpResponse: ({ text }) => ({ status: 200, headers: { 'retry-after': text }, text }),
};

const PLAIN: Record<string, unknown> = {
	number: 1,
	boolean: true,
	true: true,
	false: false,
	Infinity,
	// Names that the code itself gives.
	'...string[]': 'status',
};

/** Types that carry text from outside, also those that only a table of the tests can make. */
const CARRIES_TEXT =
	/\b(string|unknown|JsonValue|JsonObject|Buffer|Uint8Array|ApiResponse|ChatEvent|ContactRow|Query|RejectionBody|CampaignView|OpenFile|Source|Schedule|CallFields|CallFilters)\b/;

/** Who takes one of these asks others, the service or n8n, and leaves the reading to the readers. */
const ASKS_OTHERS =
	/\b(I\w+Functions|Context|ServiceContext|ApiClient|AccountClient|NodeParameters|ChatSocketPool|Transport)\b/;

export function takesText({ types }: Exported): boolean {
	return (
		types.some((type) => CARRIES_TEXT.test(type)) && !types.some((type) => ASKS_OTHERS.test(type))
	);
}

/** What stands for text from outside where it is another parameter's turn. */
const HARMLESS: Input = { text: 'a', json: 'a' };

/**
 * The arguments with which a function can be called by its types alone: the input in all places for text, and in each of them by
 * itself. None where a type is not known.
 */
export function argumentsFor({ types, isClass }: Exported): Array<(input: Input) => unknown[]> {
	if (isClass || types.some((type) => !(type in OUTSIDE) && !(type in PLAIN))) return [];
	const places = types.flatMap((type, place) => (type in OUTSIDE ? [place] : []));
	const given = (input: Input, isTurn: (place: number) => boolean) =>
		types.map((type, place) => {
			const read = OUTSIDE[type];
			return read === undefined ? PLAIN[type] : read(isTurn(place) ? input : HARMLESS);
		});
	const all = (input: Input) => given(input, () => true);
	if (places.length < 2) return places.map(() => all);
	return [all, ...places.map((turn) => (input: Input) => given(input, (place) => place === turn))];
}
