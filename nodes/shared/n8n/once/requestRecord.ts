import type { INodeExecutionData } from 'n8n-workflow';
import { OutcomeUnknown, type StoredUnknown } from '../../api/errors';
import { shortFingerprint } from '../../hash';
import { isJsonObject, type JsonObject } from '../../json';

/** 72 bits. */
const KEY_LENGTH = 12;

/** The owner of a record: an item, or a tool request with the `unit` of its quota. */
export type RecordOwner = { item?: number; tool_request?: string; unit?: string };

/**
 * The result of a request. `inProgress`: n8n stored the execution before the response arrived. `repeatableWith`:
 * fingerprint of the idempotency key with which it may be sent again.
 */
export type RequestRecord = RecordOwner &
	(
		| { completed: JsonObject[] }
		| { unknown: StoredUnknown; repeatableWith?: string }
		| { inProgress: true }
	);
export type RequestRecords = { [request: string]: RequestRecord };

/** Whether the outcome is unknown, and the request may be sent again, because it has the same idempotency key. */
export function isRepeatable(
	record: RequestRecord | undefined,
	idempotencyKey: string | undefined,
): boolean {
	if (record === undefined || idempotencyKey === undefined) return false;
	return 'unknown' in record && record.repeatableWith === nameOf(idempotencyKey);
}

/** @throws OutcomeUnknown if the stored outcome is unknown */
export function replay(record: RequestRecord): INodeExecutionData[] {
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
function storedUnknown({
	unknown,
	repeatableWith,
}: {
	unknown: StoredUnknown;
	repeatableWith?: string;
}): OutcomeUnknown {
	const error = OutcomeUnknown.fromStored(unknown);
	return repeatableWith === undefined
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
export function areRecords(stored: unknown): stored is RequestRecords {
	return isJsonObject(stored) && Object.values(stored).every(isRecord);
}

function isRecord(entry: unknown): boolean {
	if (!isJsonObject(entry)) return false;
	const { completed, unknown, inProgress, item, unit } = entry;
	if (unit !== undefined && typeof unit !== 'string') return false;
	if (item !== undefined && typeof item !== 'number') return false;
	if (Array.isArray(completed)) return completed.every(isJsonObject);
	if (isJsonObject(unknown)) {
		return typeof unknown.message === 'string' && isJsonObject(unknown.resolution);
	}
	return inProgress === true;
}

/** A short name of a value, for the keys of records. */
export function nameOf(value: unknown): string {
	return shortFingerprint(value, KEY_LENGTH);
}

/** The key of one of several records with the same name. */
export function recordKey(name: string, occurrence: number): string {
	return occurrence === 0 ? name : `${name}#${occurrence}`;
}
