/** What the record of a call tells: whether it has ended, with which outcome, and whether the person opted out. */
import { DateTime } from 'luxon';
import { InvalidInput } from '../service/errors';
import { hasOffset as endsWithOffset } from '../values/dates';
import { fingerprint } from '../values/hash';
import { isJsonObject, type JsonObject, type JsonValue, numberIn } from '../values/json';
import { comparable, withoutEnd } from '../values/text';
import { isUnset, plainText } from '../values/values';
import { callIdKey, reportedField, type ReportedCall } from './completionWebhook';

/** Outcomes in the document. A service may have others, so users can change the list. */
export const OBSERVED_OUTCOMES = ['picked', 'not_picked', 'failed'] as const;

export const PICKED = 'picked';

/** Fields of the call record that only an ended call has. */
export const END_FIELDS = [
	'call_ended_by',
	'call_ended_reason',
	'call_ended_reason_message',
	'summary',
	'post_call_analysis',
] as const;

/** The state of a call. */
export type CallState = {
	/** As last read. Empty if it was never read. */
	record: JsonObject;
	hasEnded: boolean;
	/** Why the last reading failed, in which case `record` is older. */
	readFailure?: string;
};

/** Statuses as {@link statusKey} returns them. */
export type StatusKeys = ReadonlySet<string>;

/** Separators within a status, which people and services write in several ways. */
const SEPARATORS = /[\s_-]/g;

/** A key for a status: without case and separators, unless it has nothing else. */
export function statusKey(status: string): string {
	return status.toLowerCase().replace(SEPARATORS, '') || status;
}

/**
 * Whether a record shows that its call has ended: by a field that only an ended call has, or by one of the finished
 * statuses. `picked` alone isn't enough, because the document doesn't say whether a call in progress has it.
 */
export function hasEnded(record: JsonObject, finished: StatusKeys): boolean {
	if (showsEnd(record)) return true;
	return !isPicked(record.status) && finished.has(statusKey(plainText(record.status)));
}

function isPicked(status: JsonValue | undefined): boolean {
	return statusKey(plainText(status)) === PICKED;
}

/** Whether a record has a field that only an ended call has. */
export function showsEnd(record: JsonObject): boolean {
	return END_FIELDS.some((name) => hasValue(record[name]));
}

/** Whether there is a value. An analysis may have empty fields before it's finished. */
export function hasValue(value: JsonValue | undefined): boolean {
	if (typeof value === 'object' && value !== null) return Object.values(value).some(hasValue);
	return !isUnset(value);
}

/** Whether a person answered, and something was captured. */
export function hasAnswers({ status, data_captured: captured }: JsonObject): boolean {
	return isPicked(status) && hasValue(captured);
}

/** Fields that differ between the outcomes of a call, such as after a redial with the same ID. */
export const OUTCOME_FIELDS = ['status', 'retry_count', 'call_picked_at'] as const;

/** A report may round up to the next second. No callback is picked up this soon after the call before. */
const ROUNDING_MS = 1_000;

/** A key for an outcome of a call, the same for all its deliveries and readings. */
export function outcomeKey(callId: string, { status, ...record }: JsonObject): string {
	const outcome = [isUnset(status) ? null : (status ?? null), retriesOf(record), pickedAt(record)];
	// A fingerprint, because a forged report may have long values.
	return fingerprint([callIdKey(callId), ...outcome]);
}

/** In epoch milliseconds, without fractions of a second, because the call list may leave out those of the record. */
function pickedAt({ call_picked_at: time }: JsonObject): number | null {
	const at = typeof time === 'string' ? DateTime.fromISO(time, { zone: 'utc' }).toMillis() : NaN;
	return Number.isNaN(at) ? null : Math.floor(at / 1_000) * 1_000;
}

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

/** Values of the calls that start the workflow. An empty list accepts all. */
export type CompletionFilters = Record<'agent_uuid' | 'campaign_id', string[]> & {
	status: StatusKeys;
	/** As of {@link isOptOutWanted}. */
	optedOut: string;
};

export function isWanted(
	record: JsonObject,
	{ status, optedOut, ...filters }: CompletionFilters,
	optOutKey: string,
): boolean {
	if (!isOptOutWanted(record, optedOut, optOutKey)) return false;
	if (status.size > 0 && !status.has(statusKey(plainText(record.status)))) return false;
	return Object.entries(filters).every(
		([field, wanted]) => wanted.length === 0 || wanted.includes(plainText(record[field])),
	);
}

/** Fields that the service may add to the record after the end of the call. */
const LATE_FIELDS = ['summary', 'data_captured', 'post_call_analysis'] as const;

/**
 * What a record is compared with: the outcome, and which of the late fields have a value. An envelope may have a summary of
 * its own, which the record never gets.
 */
export function comparedReport(call: ReportedCall): JsonObject {
	const given = LATE_FIELDS.filter((name) => hasValue(call.record[name]));
	return Object.fromEntries([
		...OUTCOME_FIELDS.map((name) => [name, reportedField(call, name)] as const),
		...given.map((name) => [name, true] as const),
	]);
}

/**
 * Whether the record shows less than the report: it lacks what the report has, has fewer retries, or was picked up earlier
 * or not at all. Times without a UTC offset can't be compared, because their time zone isn't documented.
 */
export function isBehind(record: JsonObject, report: JsonObject): boolean {
	if (LATE_FIELDS.some((name) => hasValue(report[name]) && !hasValue(record[name]))) return true;
	const retries = retriesOf(report) - retriesOf(record);
	if (retries !== 0) return retries > 0;
	if (!hasOffset(report)) return false;
	if (!hasOffset(record)) return isUnset(record.call_picked_at) && !isPicked(record.status);
	return (pickedAt(report) ?? 0) - (pickedAt(record) ?? 0) > ROUNDING_MS;
}

function hasOffset({ call_picked_at: time }: JsonObject): boolean {
	return typeof time === 'string' && endsWithOffset(time);
}

/** A missing count equals 0. */
function retriesOf({ retry_count: count }: JsonObject): number {
	return numberIn(count) ?? 0;
}
