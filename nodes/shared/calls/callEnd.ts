import { fingerprint } from '../hash';
import { BoundedMap } from '../boundedMap';
import { isUnset } from '../values';
import { fieldsIn, type JsonObject, type JsonValue } from '../json';
import { callKey, reportedField, type ReportedCall } from './report';

/** The outcomes that the document observed; an account may show others, so the user can change them. */
export const OBSERVED_OUTCOMES = ['picked', 'not_picked', 'failed'] as const;

export const PICKED = 'picked';

/** Fields of the call record that only a call which is over has. */
const END_FIELDS = [
	'call_ended_by',
	'call_ended_reason',
	'call_ended_reason_message',
	'summary',
	'post_call_analysis',
] as const;

/** What is known of a call. */
export type CallState = {
	/** As last read; empty when it never was. */
	record: JsonObject;
	hasEnded: boolean;
	/** Why the last reading gave nothing, so that the record is one from before. */
	readFailure?: string;
	/** Whether the service reported it at the address that went along with the call. */
	isReported?: boolean;
};

/** The value of a field wherever it stands, the one nearest to the top first. */
export function findField(payload: JsonValue, name: string): JsonValue | undefined {
	for (const value of fieldsIn(payload, name)) if (!isUnset(value)) return value;
	return undefined;
}

/**
 * Whether a record shows that its call is over: by a sign that only a call which is over has, or by a status that
 * the user counts as finished. `picked` alone is no end: whether a call that is still going on may show it is open.
 */
export function hasEnded(record: JsonObject, finished: readonly string[]): boolean {
	if (END_FIELDS.some((name) => hasValue(record[name]))) return true;
	const { status } = record;
	return typeof status === 'string' && status !== PICKED && finished.includes(status);
}

/** An analysis may be there before it is made, with all its keys and no value. */
export function hasValue(value: JsonValue | undefined): boolean {
	if (typeof value === 'object' && value !== null) return Object.values(value).some(hasValue);
	return !isUnset(value);
}

/**
 * What tells one outcome of a call from a later one, as of a redial under the same ID. Only fields that a finished
 * call shows in each of its reports: what may come with one and not with another makes no new outcome.
 */
const OUTCOME_FIELDS = ['status', 'retry_count'] as const;
const PICKED_AT = 'call_picked_at';

/** When an outcome's call was picked up, as it was seen first. */
const firstPicked = new BoundedMap<number>(20_000);

/**
 * The same for every delivery of one outcome of one call. A call that was picked up once more, as by a callback that is
 * no retry, is told by the later time, where this process has seen the time before.
 */
export function outcomeKey(callId: string, record: JsonObject): string {
	const settled = OUTCOME_FIELDS.map((name) => record[name]);
	// Short, however long the values are that a stranger has made up.
	const key = fingerprint([
		callKey(callId),
		...settled.map((value) => (hasMoreValues(value) ? value : null)),
	]);
	const at = record[PICKED_AT];
	const picked = typeof at === 'string' ? Date.parse(at) : NaN;
	if (Number.isNaN(picked)) return key;
	const first = firstPicked.get(key);
	if (first !== undefined) return picked > first ? JSON.stringify([key, picked]) : key;
	firstPicked.set(key, picked);
	return key;
}

/** A count that is not there yet is the same as none. */
function hasMoreValues(value: JsonValue | undefined): boolean {
	return !isUnset(value) && value !== 0;
}

/** What the outcome and the filters ask of a call that is not verified. */
export function reportedOutcome(call: ReportedCall): JsonObject {
	const fields = [...OUTCOME_FIELDS, PICKED_AT, ...FILTER_FIELDS];
	return Object.fromEntries(fields.map((name) => [name, reportedField(call, name)]));
}

/** Names separated by commas or line breaks, as a person types a list; an expression may give several such texts. */
export function parseList(text: string | readonly string[]): string[] {
	const texts = typeof text === 'string' ? [text] : text;
	return texts
		.flatMap((one) => one.split(/[,\n]/))
		.map((name) => name.trim())
		.filter((name) => name !== '');
}

const FILTER_FIELDS = ['status', 'agent_uuid', 'campaign_id'] as const;

/** Which calls are wanted; an empty list wants all. */
export type CompletionFilters = Record<(typeof FILTER_FIELDS)[number], string[]>;

export function isWanted(source: JsonValue, filters: CompletionFilters): boolean {
	return Object.entries(filters).every(([field, wanted]) => {
		if (wanted.length === 0) return true;
		const value = findField(source, field);
		return [value].flat().some((one) => isPlain(one) && wanted.includes(String(one)));
	});
}

function isPlain(value: JsonValue | undefined): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
}
