import compact from 'lodash/compact';
import mapKeys from 'lodash/mapKeys';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import { isJsonObject, type JsonObject, type JsonValue } from '../values/json';
import { isUnset } from '../values/values';
import { phoneKey } from '../phone/phoneKey';
import { statusKey } from './callEnd';
import { findField } from './completionWebhook';
import { optedOut } from './optOut';

/** The documented fields (`CallRecord`). */
export const CALL_RECORD_FIELDS = [
	...['call_id', 'agent_uuid', 'agent_name', 'phone_number', 'from_number', 'status', 'call_type'],
	...['channel', 'duration_seconds', 'call_ended_by', 'call_ended_reason'],
	...['call_ended_reason_message', 'campaign_id', 'campaign_upload_id', 'tag', 'created_at'],
	...['call_picked_at', 'caller_name', 'retry_count', 'summary', 'data_captured'],
	'post_call_analysis',
];

/** The observed outcomes (Call record) in words for a table or a CRM, and whether the person answered. */
export const OUTCOMES = new Map<string, { outcome: string; answered: boolean | null }>([
	['picked', { outcome: 'Answered', answered: true }],
	['not_picked', { outcome: 'Not answered', answered: false }],
	['failed', { outcome: 'Failed', answered: null }],
]);

const OUTCOMES_BY_KEY = new Map([...OUTCOMES].map(([status, words]) => [statusKey(status), words]));

/** Fields with values by key, and how the flat record names them: `captured_` and the key. */
const PREFIXES = { data_captured: 'captured_', post_call_analysis: 'analysis_' } as const;

/** The fields with an object, each of which the flat record has as several fields. */
const NESTED = { ...PREFIXES, tag: 'tag_' } as const;

/**
 * The outcome of a call as a flat record: what a person looks for comes first, in the same order from every node, and
 * the other fields of the call record follow. Absent fields stay absent.
 *
 * - `outcome`: the status in words. A status that the document doesn't show stays as it is.
 * - `answered`: null if the status doesn't tell.
 * - `opted_out`: null if the captured value doesn't tell.
 * - `captured_…`, `analysis_…`, and `tag_…`: the values of `data_captured`, `post_call_analysis`, and `tag`, by key.
 *
 * @param optOutKey the key of the captured value for `opted_out`
 */
export function flatCallRecord(record: JsonObject, optOutKey: string): JsonObject {
	const main = mainFields(record, optOutKey);
	return { ...main, ...omit(record, ...Object.keys(main), ...nestedFields(record)) };
}

/** The outcome without the other fields. A record without documented fields stays unchanged. */
export function simplifyCall(record: JsonObject, optOutKey: string): JsonObject {
	const simple = mainFields(record, optOutKey);
	// More than opted_out and phone_key.
	return Object.keys(simple).length > 2 ? simple : record;
}

/** `outcome` and `answered`, if there is a status. */
export function outcomeOf({ status }: JsonObject): JsonObject {
	if (typeof status !== 'string') return {};
	return OUTCOMES_BY_KEY.get(statusKey(status)) ?? { outcome: status, answered: null };
}

function mainFields(record: JsonObject, optOutKey: string): JsonObject {
	return {
		...outcomeOf(record),
		opted_out: optedOut(record, optOutKey),
		...pick(record, 'status', 'retry_count', 'duration_seconds', 'summary'),
		...flat(record, 'tag'),
		...flat(record, 'data_captured'),
		...pick(record, 'caller_name', 'phone_number'),
		phone_key: record.phone_key ?? phoneKey(findField(record, 'phone_number')),
		...pick(record, 'agent_name', 'call_ended_reason_message', 'call_id'),
		...pick(record, 'created_at', 'call_picked_at'),
		...flat(record, 'post_call_analysis'),
	};
}

/** Whether a field of a flat record is a captured value or a value of the analysis. */
export function isValueByKey(field: string): boolean {
	return Object.values(PREFIXES).some((prefix) => field.startsWith(prefix));
}

function nestedFields(record: JsonObject): string[] {
	return Object.keys(NESTED).filter((name) => isUnset(record[name]) || isJsonObject(record[name]));
}

function flat(record: JsonObject, name: keyof typeof NESTED): JsonObject {
	const { [name]: values } = record;
	return isJsonObject(values) ? mapKeys(values, (_value, key) => NESTED[name] + key) : {};
}

/** The turns in the `data` of a transcript. Contrary to the document, a text has one per line. */
export function transcriptTurns({ transcript }: JsonObject): JsonValue[] {
	if (Array.isArray(transcript)) return transcript;
	if (typeof transcript === 'string') return compact(transcript.split(/\r?\n/));
	return transcript === undefined || isUnset(transcript) ? [] : [transcript];
}

/** The transcript as text, with a line per turn, such as "assistant: Hello". */
export function transcriptText(turns: JsonValue[]): string {
	return turns.map(lineOf).join('\n');
}

function lineOf(turn: JsonValue): string {
	if (!isJsonObject(turn)) return oneLine(turn);
	return `${oneLine(turn.role)}: ${oneLine(turn.content)}`;
}

function oneLine(value: JsonValue | undefined): string {
	if (value === undefined || value === null) return '';
	return (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ').trim();
}
