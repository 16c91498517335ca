import { isJsonObject, type JsonObject, type JsonValue } from '../../nodes/shared/json';
import type { Exported } from './exported';
import type { Input } from './shapes';

const listOf = (json: JsonValue): JsonValue[] => (Array.isArray(json) ? json : [json]);
const objectOf = (json: JsonValue): JsonObject => (isJsonObject(json) ? json : FIELDS(json));

/** An object with the documented fields that readers use, each with the same value. */
const FIELDS = (json: JsonValue): JsonObject =>
	Object.fromEntries(
		[
			...['data', 'error', 'errors', 'details', 'message', 'meta', 'transcript', 'uploads'],
			...['phone', 'phone_number', 'person_name', 'status', 'created_at', 'call_picked_at'],
			...['token', 'recording_url', 'call_id', 'session_id', 'action', 'session_ids', 'summary'],
		].map((name) => [name, json]),
	);

const textsOf = ({ json }: Input): string[] => listOf(json).map(String);

/** Parameter types that contain text from outside, and how to convert an input to each. */
const EXTERNAL_TYPES: Record<string, (input: Input) => unknown> = {
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

const OTHER_TYPES: Record<string, unknown> = {
	number: 1,
	boolean: true,
	true: true,
	false: false,
	Infinity,
	// Field names in the code.
	'...string[]': 'status',
};

/** Types that contain text from outside, including types that only `readers.ts` can create. */
const CARRIES_TEXT =
	/\b(string|unknown|JsonValue|JsonObject|Buffer|Uint8Array|ApiResponse|ChatEvent|ContactRow|Query|RejectionBody|CampaignView|OpenFile|Source|Schedule|CallFields|CallFilters)\b/;

/** Functions with these parameters call the service or n8n, and leave the reading to others. */
const DELEGATES =
	/\b(I\w+Functions|Context|ServiceContext|ApiClient|AccountClient|NodeParameters|ChatSocketPool|Transport)\b/;

export function takesText({ types }: Exported): boolean {
	return (
		types.some((type) => CARRIES_TEXT.test(type)) && !types.some((type) => DELEGATES.test(type))
	);
}

/** The value for a parameter while another parameter gets the input. */
const HARMLESS: Input = { text: 'a', json: 'a' };

/**
 * Arguments for a function whose parameter types are all known: with the input in all text parameters, and in each of
 * them separately. Empty if a type is unknown.
 */
export function argumentsFor({ types, isClass }: Exported): Array<(input: Input) => unknown[]> {
	if (isClass || types.some((type) => !(type in EXTERNAL_TYPES) && !(type in OTHER_TYPES)))
		return [];
	const indexes = types.flatMap((type, index) => (type in EXTERNAL_TYPES ? [index] : []));
	const argumentsWith = (input: Input, getsInput: (index: number) => boolean) =>
		types.map((type, index) => {
			const convert = EXTERNAL_TYPES[type];
			return convert === undefined
				? OTHER_TYPES[type]
				: convert(getsInput(index) ? input : HARMLESS);
		});
	const all = (input: Input) => argumentsWith(input, () => true);
	if (indexes.length < 2) return indexes.map(() => all);
	return [
		all,
		...indexes.map((one) => (input: Input) => argumentsWith(input, (index) => index === one)),
	];
}
