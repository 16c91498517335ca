import type { INodeExecutionData } from 'n8n-workflow';
import { OutcomeUnknown, type StoredUnknown } from '../../api/errors';
import { shortFingerprint } from '../../hash';
import { isJsonObject, type JsonObject } from '../../json';

/** 72 bits. */
const KEY_LENGTH = 12;

/**
 * The owner of a record: a tool request, with the `unit` of its quota, or an item, as "parameters/index/person" of
 * fingerprints. `logged`: a retry sent the request, so its entry stays in the write-ahead log.
 */
export type RecordOwner = { tool_request?: string; unit?: string; item?: string; logged?: true };

/**
 * The result of a request. `inProgress`: n8n stored the execution before the response arrived. `key`: fingerprint of the
 * idempotency key, with which it may be sent again.
 */
export type IdempotencyRecord = RecordOwner &
	({ completed: JsonObject[] } | { unknown: StoredUnknown; key?: string } | { inProgress: true });
export type IdempotencyRecords = { [request: string]: IdempotencyRecord };

/** Whether the outcome is unknown, and the request may be sent again, because it has the same idempotency key. */
export function isRepeatable(
	record: IdempotencyRecord | undefined,
	idempotencyKey: string | undefined,
): record is Extract<IdempotencyRecord, { unknown: StoredUnknown }> {
	if (record === undefined || idempotencyKey === undefined || !('unknown' in record)) return false;
	return record.key === payloadKey(idempotencyKey);
}

/**
 * Whether the write-ahead log may have an entry of the request. Those of a first attempt are removed when n8n stores its
 * records, so an entry of an equal request isn't theirs.
 */
export function mayBeLogged(record: IdempotencyRecord | undefined): boolean {
	return record === undefined || record.logged === true;
}

/** @throws OutcomeUnknown if the stored outcome is unknown */
export function replay(record: IdempotencyRecord): INodeExecutionData[] {
	if ('completed' in record)
		return record.completed.map((json) => ({ json: structuredClone(json) }));
	if ('unknown' in record) throw storedUnknown(record);
	throw new OutcomeUnknown(
		'An earlier attempt sent this and was interrupted before the response arrived, so the outcome is unknown',
		{
			onScreen: "It wasn't sent again. Check the service before you send it in a new execution.",
			forModel: 'It was not sent again.',
		},
	);
}

/** With a key, the stored text says that sending again is safe. This one isn't sent again. */
function storedUnknown({ unknown, key }: { unknown: StoredUnknown; key?: string }): OutcomeUnknown {
	const error = OutcomeUnknown.fromStored(unknown);
	return key === undefined
		? error
		: error.withText({
				resolution: {
					onScreen:
						"It wasn't sent again, because this is safe only with the same idempotency key. Check the service before you send it again.",
					forModel: 'It was not sent again.',
				},
			});
}

/** Checks what an earlier attempt stored. */
export function areRecords(stored: unknown): stored is IdempotencyRecords {
	return isJsonObject(stored) && Object.values(stored).every(isRecord);
}

function isRecord(entry: unknown): boolean {
	if (!isJsonObject(entry)) return false;
	const { completed, unknown, inProgress, item, unit } = entry;
	if (unit !== undefined && typeof unit !== 'string') return false;
	if (item !== undefined && typeof item !== 'string') return false;
	if (Array.isArray(completed)) return completed.every(isJsonObject);
	if (isJsonObject(unknown)) {
		return typeof unknown.message === 'string' && typeof unknown.resolution === 'string';
	}
	return inProgress === true;
}

/** The key of the first record with these values. */
export function payloadKey(payload: unknown): string {
	return shortFingerprint(payload, KEY_LENGTH);
}

/** The key of one of several records with the same values. */
export function recordKey(key: string, occurrence: number): string {
	return occurrence === 0 ? key : `${key}#${occurrence}`;
}
