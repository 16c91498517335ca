import { shortFingerprint } from '../../shared/hash';
import type { StoredUnknown } from '../../shared/api/errors';
import { isJsonObject, type JsonObject } from '../../shared/json';
import type { IndexBase } from './rejectedIndexes';

/**
 * What a push has done so far, as plain JSON that is kept with the execution: no row and no number
 * is in it. Rows are told by their place, and a fingerprint of their numbers tells whether the rows
 * at these places are still the same people.
 */
export type PushCheckpoint = {
	sent: SentRequest[];
	rejected: RejectedRowRecord[];
	/** A fingerprint of how the file was read, where the rows are those of a file. */
	reading?: string;
	/** The execution that has noted in n8n's store that the push began; a retry notes it again. */
	notedBy?: string;
	/** Which push to its campaign it is in this execution, from 0. */
	nth?: number;
	/** Rows of which an earlier run was cut off: another try must name them too. */
	interrupted?: InterruptedRows;
	/** Found out once for the whole push. */
	firstIndex?: IndexBase;
};

/** A request that took effect or may have; with neither `answer` nor `unknown` it was cut short. */
export type SentRequest = {
	campaign: number;
	rows: RowRanges;
	numbers: string;
	/** How the numbers were read. */
	column: string;
	/** Of a column inside another. */
	path?: string[];
	/** Of several files, its name in each. */
	columns?: string[];
	normalized: boolean;
	/** A fingerprint of what was sent beside the rows. */
	options: string;
	answer?: JsonObject;
	unknown?: StoredUnknown;
};

/** A row that the service rejected; `settings` is a fingerprint of the push’s settings and of what was sent. */
type RejectedRowRecord = { settings: string; row: number; number: string; reason: string };

/** `numbers` is a fingerprint of theirs; `byAttempt` tells an earlier attempt of the execution from an earlier run. */
type InterruptedRows = { campaign: number; rows: RowRanges; numbers: string; byAttempt?: true };

export function emptyCheckpoint(): PushCheckpoint {
	return { sent: [], rejected: [] };
}

export function isPushCheckpoint(stored: unknown): stored is PushCheckpoint {
	if (!isJsonObject(stored)) return false;
	const { sent, rejected, reading, notedBy, nth, interrupted, firstIndex } = stored;
	return (
		Array.isArray(sent) &&
		sent.every(isSentRequest) &&
		Array.isArray(rejected) &&
		rejected.every(isRejectedRow) &&
		(reading === undefined || typeof reading === 'string') &&
		(notedBy === undefined || typeof notedBy === 'string') &&
		(nth === undefined || typeof nth === 'number') &&
		(interrupted === undefined || isInterrupted(interrupted)) &&
		(firstIndex === undefined || firstIndex === 0 || firstIndex === 1)
	);
}

function isSentRequest(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, rows, numbers, column, path, columns, normalized, options, answer, unknown } =
		value;
	return (
		typeof campaign === 'number' &&
		areRanges(rows) &&
		typeof numbers === 'string' &&
		typeof column === 'string' &&
		(path === undefined || areTexts(path)) &&
		(columns === undefined || areTexts(columns)) &&
		typeof normalized === 'boolean' &&
		typeof options === 'string' &&
		(answer === undefined || isJsonObject(answer)) &&
		(unknown === undefined || (isJsonObject(unknown) && typeof unknown.message === 'string'))
	);
}

function areTexts(value: unknown): boolean {
	return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isInterrupted(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, rows, numbers, byAttempt } = value;
	return (
		typeof campaign === 'number' &&
		areRanges(rows) &&
		typeof numbers === 'string' &&
		(byAttempt === undefined || byAttempt === true)
	);
}

function areRanges(value: unknown): boolean {
	return Array.isArray(value) && value.every((row) => typeof row === 'number');
}

function isRejectedRow(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { settings, row, number, reason } = value;
	const texts = [settings, number, reason];
	return typeof row === 'number' && texts.every((text) => typeof text === 'string');
}

export function rowsFingerprint(parts: readonly string[]): string {
	return shortFingerprint(parts, 16);
}

/** Rows by their place in the push, as first and last of each run: `[0, 9, 12, 12]` is 0 to 9 and 12. */
export type RowRanges = number[];

export function rangesOf(rows: Iterable<number>): RowRanges {
	const ranges: RowRanges = [];
	let last: number | undefined;
	for (const row of rows) {
		if (last !== undefined && row === last + 1) ranges[ranges.length - 1] = row;
		else ranges.push(row, row);
		last = row;
	}
	return ranges;
}

export function rowsIn(ranges: RowRanges): number[] {
	const rows: number[] = [];
	for (const [first, last] of pairsOf(ranges)) {
		for (let row = first; row <= last; row++) rows.push(row);
	}
	return rows;
}

/** Each run of rows with its first and last. */
export function pairsOf(ranges: RowRanges): Array<[first: number, last: number]> {
	const pairs: Array<[number, number]> = [];
	for (let i = 0; i + 1 < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
	return pairs;
}
