import { OutcomeUnknown, type StoredUnknown } from '../../shared/api/errors';
import { forEveryone, type Reader } from '../../shared/api/resolution';
import { isJsonObject, type JsonObject } from '../../shared/json';
import type { PreparedRows } from './prepareRows';
import { reasonOf, type PushOutcome } from './pushTypes';
import { RowSet, type RowRanges } from './rowSet';
import { pushedRequest } from './skippedRows';

/**
 * What the requests of a push did, by chunk of its rows. Stored with the execution as plain JSON. It contains no rows and
 * no phone numbers: rows are stored by their position in the chunk.
 */
export type PushRecord = { [chunk: string]: ChunkRecord };

export type ChunkRecord = {
	/** Accepted requests, with their rows. */
	accepted: Array<{ rows: RowRanges; response: JsonObject }>;
	/** Rows that the service rejected. */
	rejected: Array<{ row: number; reason: string }>;
	/** The request whose outcome is unknown. Without an error, it was interrupted. */
	unknown?: { rows: RowRanges; error?: StoredUnknown };
};

/** Without, an earlier attempt certainly had no effect. */
export function hasResults({ accepted, rejected, unknown }: ChunkRecord): boolean {
	return accepted.length + rejected.length > 0 || unknown !== undefined;
}

/**
 * Adds what is known of a chunk to the outcome.
 *
 * @param rows of the chunk
 * @returns the other rows
 */
export function restoreChunk(
	{ accepted, rejected, unknown }: ChunkRecord,
	rows: readonly number[],
	{ keys }: Pick<PreparedRows, 'keys'>,
	outcome: PushOutcome,
	reader: Reader,
): readonly number[] {
	const rowsAt = (ranges: RowRanges) =>
		[...RowSet.ofRanges(ranges)]
			.map((position) => rows[position])
			.filter((row) => row !== undefined);
	const settled = new Set<number>();
	for (const request of accepted) {
		const own = rowsAt(request.rows);
		const { request: pushed, rejectedRows } = pushedRequest(own, request.response, keys);
		outcome.pushed.push(pushed);
		for (const row of rejectedRows) outcome.rejectedRows.add(row);
		for (const row of own) settled.add(row);
	}
	for (const { row, reason } of rejected) {
		for (const index of rowsAt([row, row])) {
			outcome.rejectedRows.add({ index, status: 'rejected', reason });
			settled.add(index);
		}
	}
	if (unknown !== undefined) {
		const { error } = unknown;
		const stopped = error === undefined ? interrupted() : OutcomeUnknown.fromStored(error);
		outcome.stopped ??= stopped;
		const reason = reasonOf(stopped, reader);
		for (const index of rowsAt(unknown.rows)) {
			outcome.rejectedRows.add({ index, status: 'unknown', reason });
			settled.add(index);
		}
	}
	return settled.size === 0 ? rows : rows.filter((row) => !settled.has(row));
}

function interrupted(): OutcomeUnknown {
	return new OutcomeUnknown(
		"An earlier attempt of this execution was interrupted during a request, so it's unknown whether the request took effect",
		forEveryone(
			"The request wasn't sent again. Check the campaign in the service before you push these rows again.",
		),
	);
}

export function isPushRecord(stored: unknown): stored is PushRecord {
	return isJsonObject(stored) && Object.values(stored).every(isChunkRecord);
}

function isChunkRecord(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { accepted, rejected, unknown } = value;
	return (
		Array.isArray(accepted) &&
		accepted.every(
			(one) => isJsonObject(one) && areRanges(one.rows) && isJsonObject(one.response),
		) &&
		Array.isArray(rejected) &&
		rejected.every(
			(one) => isJsonObject(one) && typeof one.row === 'number' && typeof one.reason === 'string',
		) &&
		(unknown === undefined || (isJsonObject(unknown) && isUnknown(unknown)))
	);
}

function isUnknown({ rows, error }: JsonObject): boolean {
	if (error !== undefined && !(isJsonObject(error) && typeof error.message === 'string'))
		return false;
	return areRanges(rows);
}

function areRanges(value: unknown): boolean {
	return Array.isArray(value) && value.every((row) => typeof row === 'number');
}
