import { unusable } from '../service/errors';
import { isJsonObject, type JsonObject } from '../values/json';
import { comparable, withoutEnd } from '../values/text';

/** The key of the data point, unless the user changes it. */
export const OPT_OUT_KEY = 'opt_out';

const YES = ['yes', 'true'];
const NO = ['no', 'false'];

/**
 * `opted_out` of a call: whether the person asked for no more calls. Only the captured value tells. The agent also writes
 * the summary and the transcript, but about everything that was said.
 *
 * @param key of the data point
 * @returns null if the value is missing, or isn't clearly yes or no
 */
export function optedOut({ data_captured: captured }: JsonObject, key: string): boolean | null {
	const value = isJsonObject(captured) && Object.hasOwn(captured, key) ? captured[key] : undefined;
	if (typeof value !== 'string' && typeof value !== 'boolean') return null;
	const word = withoutEnd(comparable(value).replace(/^["']/, ''), /["'.!]/);
	return YES.includes(word) || (NO.includes(word) ? false : null);
}

/** Which calls are wanted: `opted_out` as text. An empty text accepts all. */
export type OptOutFilter = { key: string; wanted: string };

export function isOptOutWanted(record: JsonObject, { key, wanted }: OptOutFilter): boolean {
	return wanted === '' || String(optedOut(record, key)) === wanted;
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
