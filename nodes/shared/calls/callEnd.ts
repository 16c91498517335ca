import { hasOffset } from '../clock';
import { fingerprint } from '../hash';
import { BoundedMap } from '../boundedMap';
import { isUnset } from '../values';
import type { JsonObject, JsonValue } from '../json';
import { callKey, reportedField, type ReportedCall } from './report';

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

/**
 * Whether a record shows that its call has ended: by a field that only an ended call has, or by one of the finished
 * statuses. `picked` alone isn't enough, because the document doesn't say whether a call in progress has it.
 */
export function hasEnded(record: JsonObject, finished: readonly string[]): boolean {
	if (END_FIELDS.some((name) => hasValue(record[name]))) return true;
	const { status } = record;
	return typeof status === 'string' && status !== PICKED && finished.includes(status);
}

/** Whether there is a value. An analysis may have empty fields before it's finished. */
export function hasValue(value: JsonValue | undefined): boolean {
	if (typeof value === 'object' && value !== null) return Object.values(value).some(hasValue);
	return !isUnset(value);
}

/**
 * Fields that differ between the outcomes of a call, such as after a redial with the same ID. Only fields that every
 * report of an ended call has.
 */
export const OUTCOME_FIELDS = ['status', 'retry_count'] as const;
export const PICKED_AT = 'call_picked_at';

/** A report may round up to the next second. No callback is picked up this soon after the call before. */
const ROUNDING_MS = 1_000;

/**
 * Keys for the outcomes of calls. Each trigger has its own, because what another one has seen must not change a key: after
 * a restart, it would be another key.
 */
export class OutcomeKeys {
	/** The first `call_picked_at` of each outcome, with and without a UTC offset: a whole second, in epoch milliseconds. */
	private readonly firstPicked = new BoundedMap<number>(20_000);

	/**
	 * A key for an outcome of a call, the same for all its deliveries. If a call is picked up again without a retry, such
	 * as by a callback, the key differs by the later time, if the trigger has seen the earlier one in this process.
	 *
	 * @param isShown whether a record shows this outcome. The time of a mere report isn't remembered
	 */
	keyOf(callId: string, record: JsonObject, isShown = true): string {
		const settled = OUTCOME_FIELDS.map((name) => record[name]);
		// A fingerprint, because a forged report may have long values.
		const key = fingerprint([
			callKey(callId),
			...settled.map((value) => (hasMoreValues(value) ? value : null)),
		]);
		const picked = wholeSecond(record[PICKED_AT]);
		if (picked === undefined) return key;
		// The call list may show times without a UTC offset, which can't be compared with those of the record.
		const keyAndForm = JSON.stringify([key, comparableTime(record[PICKED_AT]) !== undefined]);
		const first = this.firstPicked.get(keyAndForm);
		if (first !== undefined) return picked > first ? JSON.stringify([key, picked]) : key;
		if (isShown) this.firstPicked.set(keyAndForm, picked);
		return key;
	}
}

/** In epoch milliseconds, without fractions of a second, because the call list may leave out those of the record. */
function wholeSecond(time: JsonValue | undefined): number | undefined {
	const at = typeof time === 'string' ? Math.floor(Date.parse(time) / 1_000) * 1_000 : NaN;
	return Number.isNaN(at) ? undefined : at;
}

/** A time that can be compared with one from elsewhere. Without a UTC offset, the time zone isn't documented. */
function comparableTime(time: JsonValue | undefined): number | undefined {
	return typeof time === 'string' && hasOffset(time) ? wholeSecond(time) : undefined;
}

/** A missing count equals 0. */
function hasMoreValues(value: JsonValue | undefined): boolean {
	return !isUnset(value) && value !== 0;
}

/** The fields for the outcome and the filters, from a report that isn't verified. */
export function reportedOutcome(call: ReportedCall): JsonObject {
	const fields = [...OUTCOME_FIELDS, PICKED_AT, ...FILTER_FIELDS];
	return Object.fromEntries(fields.map((name) => [name, reportedField(call, name)]));
}

/** What a report says about the outcome. Only compared with the record, because the report may be forged. */
export type OutcomeHint = {
	status: string | undefined;
	retries: number | undefined;
	/** When the call was picked up: a whole second, in epoch milliseconds. */
	picked: number | undefined;
};

/** A status counts only if records can have it, because that of a report may mean something else. */
export function outcomeHint(call: ReportedCall, finished: readonly string[]): OutcomeHint {
	const status = reportedField(call, 'status');
	const retries = reportedField(call, 'retry_count');
	return {
		// Not the text of the report, which keeps the whole body in memory.
		status: [PICKED, ...finished].find((known) => known === status),
		retries: typeof retries === 'number' ? retries : undefined,
		picked: comparableTime(reportedField(call, PICKED_AT)),
	};
}

/**
 * The outcome that the record would show with what the report says. Undefined if it shows that or a later one. A report
 * without the time of a pick-up can be about a callback that nobody picked up, so it doesn't count as an earlier one.
 */
export function laterOutcome(record: JsonObject, hint: OutcomeHint): JsonObject | undefined {
	const { status = null } = record;
	const shownRetries = retriesOf(record);
	const later = { status: hint.status ?? status, retry_count: hint.retries ?? shownRetries };
	if (later.retry_count < shownRetries) return undefined;
	const isRetry = later.retry_count > shownRetries;
	const sincePicked = (hint.picked ?? NaN) - (comparableTime(record[PICKED_AT]) ?? NaN);
	if (!isRetry && sincePicked < 0) return undefined;
	if (hint.picked !== undefined && sincePicked > ROUNDING_MS) {
		return { ...later, [PICKED_AT]: new Date(hint.picked).toISOString() };
	}
	return isRetry || later.status !== status ? later : undefined;
}

/** A missing count equals 0. */
export function retriesOf({ retry_count: count }: JsonObject): number {
	return typeof count === 'number' ? count : 0;
}

/** Parses names separated by commas or line breaks. An expression may return several texts. */
export function parseList(text: string | readonly string[]): string[] {
	const texts = typeof text === 'string' ? [text] : text;
	return texts
		.flatMap((one) => one.split(/[,\n]/))
		.map((name) => name.trim())
		.filter((name) => name !== '');
}

const FILTER_FIELDS = ['status', 'agent_uuid', 'campaign_id'] as const;

/** Values of the calls to return. An empty list accepts all. */
export type CompletionFilters = Record<(typeof FILTER_FIELDS)[number], string[]>;

export function isWanted(record: JsonObject, filters: CompletionFilters): boolean {
	return Object.entries(filters).every(([field, wanted]) => {
		if (wanted.length === 0) return true;
		return [record[field]].flat().some((one) => isPlain(one) && wanted.includes(String(one)));
	});
}

function isPlain(value: JsonValue | undefined): value is string | number {
	return typeof value === 'string' || typeof value === 'number';
}
