import { OutcomeUnknown, type StoredUnknown } from '../../shared/api/errors';
import { forEveryone, type Reader, type Resolution } from '../../shared/api/resolution';
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
	unknown: UnknownRows[];
};

/** Rows of a request whose outcome is unknown. Without an error, it was interrupted. */
type UnknownRows = {
	rows: RowRanges;
	error?: StoredUnknown;
	/** Whether only its note shows it, because it's of an attempt without a record. */
	isNoted?: true;
};

export const emptyChunk = (): ChunkRecord => ({ accepted: [], rejected: [], unknown: [] });

/** Without, an earlier attempt certainly had no effect. */
export function hasResults({ accepted, rejected, unknown }: ChunkRecord): boolean {
	return accepted.length + rejected.length + unknown.length > 0;
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
	for (const { rows: ranges, error, isNoted } of unknown) {
		const stopped = error === undefined ? interrupted() : OutcomeUnknown.fromStored(error);
		if (isNoted !== true) outcome.stopped ??= stopped;
		const reason = isNoted === true ? NOTED_EARLIER[reader] : reasonOf(stopped, reader);
		for (const index of rowsAt(ranges)) {
			outcome.rejectedRows.add({ index, status: 'unknown', reason });
			settled.add(index);
		}
	}
	return settled.size === 0 ? rows : rows.filter((row) => !settled.has(row));
}

export const NOTED_EARLIER: Resolution = {
	onScreen:
		"An earlier attempt of this execution may have pushed this row, and n8n has no record of the result. It wasn't sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
	forModel:
		'This contact may have been pushed before, but the result is unknown. It was not sent again.',
};

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
		Array.isArray(unknown) &&
		unknown.every((one) => isJsonObject(one) && isUnknown(one))
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
