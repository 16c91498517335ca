import type { INodeExecutionData } from 'n8n-workflow';
import { OutcomeUnknown, type StoredUnknown } from '../../core/service/errors';
import { shortFingerprint } from '../../core/values/hash';
import { isJsonObject, type JsonObject } from '../../core/values/json';

/** 72 bits. */
const KEY_LENGTH = 12;

/** The owner of a record: an item, or a tool request with the `unit` of its quota. */
export type RecordOwner = { item?: number; tool_request?: string; unit?: string };

/**
 * The result of a request. Until the response has arrived, it's unknown. `repeatableWith`: fingerprint of the idempotency
 * key with which it may be sent again.
 */
export type RequestRecord = RecordOwner &
	({ completed: JsonObject[] } | { unknown: StoredUnknown; repeatableWith?: string });
export type RequestRecords = { [request: string]: RequestRecord };

/** Whether the outcome is unknown, and the request may be sent again, because it has the same idempotency key. */
export function isRepeatable(
	record: RequestRecord | undefined,
	idempotencyKey: string | undefined,
): boolean {
	if (record === undefined || idempotencyKey === undefined) return false;
	return 'unknown' in record && record.repeatableWith === hashOf(idempotencyKey);
}

/** @throws OutcomeUnknown if the stored outcome is unknown */
export function replay(record: RequestRecord): INodeExecutionData[] {
	if ('unknown' in record) throw OutcomeUnknown.fromStored(record.unknown);
	return record.completed.map((json) => ({ json: structuredClone(json) }));
}

/** n8n stores what {@link SendOnce} wrote, so the records aren't checked further. */
export function areRecords(stored: unknown): stored is RequestRecords {
	return isJsonObject(stored) && Object.values(stored).every(isJsonObject);
}

/** A short name of a value, for the keys of records. */
export function hashOf(value: unknown): string {
	return shortFingerprint(value, KEY_LENGTH);
}
