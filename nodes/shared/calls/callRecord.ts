import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** What *Simplify* keeps of a call record. */
export const SIMPLE_CALL_FIELDS = [
	'call_id',
	'status',
	'phone_number',
	'caller_name',
	'agent_name',
	'created_at',
	'duration_seconds',
	'call_ended_reason_message',
	'summary',
	'data_captured',
] as const;

/** A call that has none of the documented fields passes as it is. */
export function simplifyCall(record: JsonObject): JsonObject {
	const simple = pick(record, SIMPLE_CALL_FIELDS);
	return Object.keys(simple).length === 0 ? record : simple;
}

/** The turns of a transcript's `data`; none where there is no list. */
export function transcriptTurns(data: JsonObject): JsonValue[] {
	return Array.isArray(data.transcript) ? data.transcript : [];
}

/** One line a turn, such as "assistant: Hello". Roles are shown as they are: their values are open. */
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

/** `data` of a recording, with the moment at which its link ends beside the documented seconds. */
export function withExpiry(recording: JsonObject, askedAt: number): JsonObject {
	const { expires_in_seconds: seconds } = recording;
	if (typeof seconds !== 'number') return recording;
	const expires = DateTime.fromMillis(askedAt + seconds * 1000, { zone: 'utc' });
	return { ...recording, expires_at: expires.toISO() };
}
