import mapKeys from 'lodash/mapKeys';
import upperFirst from 'lodash/upperFirst';
import { isJsonObject, type JsonObject, type JsonValue } from '../values/json';
import { isUnset } from '../values/values';
import { phoneKey } from '../phone/callPhone';
import { optedOut, statusKey } from './callEnd';

/** The documented fields (`CallRecord`). */
export const CALL_RECORD_FIELDS = [
	...['call_id', 'agent_uuid', 'agent_name', 'phone_number', 'from_number', 'status', 'call_type'],
	...['channel', 'duration_seconds', 'call_ended_by', 'call_ended_reason'],
	...['call_ended_reason_message', 'campaign_id', 'campaign_upload_id', 'tag', 'created_at'],
	...['call_picked_at', 'caller_name', 'retry_count', 'summary', 'data_captured'],
	'post_call_analysis',
];

/** The observed statuses (Call record) in words for a table or a CRM. */
export const OUTCOMES = new Map([
	['picked', 'Answered'],
	['not_picked', 'Not answered'],
	['failed', 'Failed'],
]);

const OUTCOMES_BY_KEY = new Map([...OUTCOMES].map(([status, words]) => [statusKey(status), words]));

/** The status in words, also of one that the document doesn't show. */
export function outcomeOf({ status = null }: JsonObject): JsonValue {
	if (typeof status !== 'string') return status;
	return OUTCOMES_BY_KEY.get(statusKey(status)) ?? upperFirst(status.replaceAll('_', ' '));
}

/** Before the key of a captured value. */
export const CAPTURED = 'captured_';

/**
 * A call as a row of a table: the same columns from every node, what a person looks for first. A missing value is null, so
 * that a row that is written again keeps nothing of an earlier call. A record without documented fields stays unchanged.
 *
 * @param optOutKey the key of the captured value for `opted_out`, which is null if that doesn't tell
 */
export function callColumns(record: JsonObject, optOutKey: string): JsonObject {
	if (!CALL_RECORD_FIELDS.some((name) => Object.hasOwn(record, name))) return record;
	const { tag = null, data_captured: captured } = record;
	const column = (name: string) => ({ [name]: record[name] ?? null });
	return {
		person_name: record.caller_name ?? null,
		...column('phone_number'),
		outcome: outcomeOf(record),
		...column('summary'),
		tag: isJsonObject(tag) ? (tag.name ?? null) : tag,
		...column('created_at'),
		...column('call_id'),
		...(isJsonObject(captured) && mapKeys(captured, (_value, key) => CAPTURED + key)),
		opted_out: optedOut(record, optOutKey),
		...column('call_ended_reason_message'),
		...column('duration_seconds'),
		...column('retry_count'),
		...column('agent_name'),
		...column('campaign_id'),
		phone_key: record.phone_key ?? phoneKey(record.phone_number),
	};
}

/** The turns in the `data` of a transcript. */
export function transcriptTurns({ transcript = null }: JsonObject): JsonValue[] {
	if (Array.isArray(transcript)) return transcript;
	return isUnset(transcript) ? [] : [transcript];
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
