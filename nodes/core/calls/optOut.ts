import { InvalidInput, unusable } from '../service/errors';
import { isJsonObject, type JsonObject } from '../values/json';
import { comparable, withoutEnd } from '../values/text';

const YES = ['yes', 'true'];
const NO = ['no', 'false'];

/**
 * `opted_out` of a call: whether the person asked for no more calls. Only the captured value tells. The agent also writes
 * the summary and the transcript, but about everything that was said.
 *
 * @param key of the data point. Empty if the user entered none.
 * @returns null if the value is missing, or isn't clearly yes or no
 */
export function optedOut({ data_captured: captured }: JsonObject, key: string): boolean | null {
	const value = isJsonObject(captured) && Object.hasOwn(captured, key) ? captured[key] : undefined;
	if (typeof value !== 'string' && typeof value !== 'boolean') return null;
	const word = withoutEnd(comparable(value).replace(/^["']/, ''), /["'.!]/);
	return YES.includes(word) || (NO.includes(word) ? false : null);
}

/** @throws InvalidInput if the user entered none. Otherwise, it would look as if nobody had opted out. */
export function requireOptOutKey(key: string): string {
	if (key !== '') return key;
	throw new InvalidInput(
		"'Opt-Out Key' in the credential is empty",
		'In n8n, enter there the key of the data point that tells whether a person opted out.',
	);
}

/**
 * @param wanted `opted_out` as text. An empty one accepts all.
 * @throws InvalidInput if no key tells
 */
export function isOptOutWanted(record: JsonObject, wanted: string, key: string): boolean {
	return wanted === '' || String(optedOut(record, requireOptOutKey(key))) === wanted;
}

/**
 * Requires that a list of calls shows captured values. Otherwise, it would look as if nobody had opted out.
 *
 * @throws OutcomeUnknown if none of its calls has the field
 */
export function requireCaptured(calls: readonly JsonObject[]): void {
	if (calls.length === 0 || calls.some((call) => Object.hasOwn(call, 'data_captured'))) return;
	throw unusable(
		"The list of calls has no captured values (data_captured), so 'Opted Out' can't be used",
		"Remove the filter, and read each call with 'Get', which returns opted_out.",
		{ origin: 'response' },
	);
}
