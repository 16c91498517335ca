import { shortFingerprint } from '../../shared/hash';
import type { StoredUnknown } from '../../shared/api/errors';
import { isJsonObject, type JsonObject } from '../../shared/json';
import type { IndexBase } from './rejectedIndexes';
import type { RowRanges } from './rowSet';

/**
 * The progress of a push, stored with the execution as plain JSON. It contains no rows and no phone numbers: rows are
 * stored by index, with a fingerprint of their numbers to detect changes.
 */
export type PushCheckpoint = {
	sent: SentRequest[];
	rejected: RejectedRowRecord[];
	/** For rows from files: a fingerprint of how the files were read. */
	reading?: string;
	/** The execution that recorded the begin of the push in n8n's store. A retry records it again. */
	notedBy?: string;
	/** Counts the pushes of this execution to the campaign, from 0. */
	pushIndex?: number;
	/** Rows that certainly weren't sent, although others of their recorded block were. */
	unsent?: UnsentRows;
	/** Rows of an earlier attempt that was interrupted. Later attempts must report them too. */
	interrupted?: InterruptedRows;
	/** Whether the service counts contacts from 0 or 1. */
	indexBase?: IndexBase;
};

/** A request that took effect or may have. Without `response` and `unknown`, it was interrupted. */
export type SentRequest = {
	campaign: number;
	rows: RowRanges;
	/** A fingerprint of the phone numbers. */
	numbers: string;
	/** The phone column. */
	column: string;
	/** The path of a nested phone column. */
	path?: string[];
	/** The name of the phone column in each file, if there are several. */
	columns?: string[];
	/** A fingerprint of what was sent besides the rows. */
	options: string;
	response?: JsonObject;
	unknown?: StoredUnknown;
};

/** A row that the service rejected. `settings` is a fingerprint of the settings and the contact. */
export type RejectedRowRecord = { settings: string; row: number; number: string; reason: string };

/** `positions` are those in the rows of the push that have this fingerprint, recorded in blocks of this size. */
export type UnsentRows = {
	campaign: number;
	fingerprint: string;
	blockSize: number;
	positions: RowRanges;
};

/** `numbers` is a fingerprint. */
type InterruptedRows = { campaign: number; rows: RowRanges; numbers: string };

export function emptyCheckpoint(): PushCheckpoint {
	return { sent: [], rejected: [] };
}

export function isPushCheckpoint(stored: unknown): stored is PushCheckpoint {
	if (!isJsonObject(stored)) return false;
	const { sent, rejected, reading, notedBy, pushIndex, unsent, interrupted, indexBase } = stored;
	return (
		Array.isArray(sent) &&
		sent.every(isSentRequest) &&
		Array.isArray(rejected) &&
		rejected.every(isRejectedRow) &&
		(reading === undefined || typeof reading === 'string') &&
		(notedBy === undefined || typeof notedBy === 'string') &&
		(pushIndex === undefined || typeof pushIndex === 'number') &&
		(unsent === undefined || isUnsent(unsent)) &&
		(interrupted === undefined || isInterrupted(interrupted)) &&
		(indexBase === undefined || indexBase === 0 || indexBase === 1)
	);
}

function isSentRequest(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, rows, numbers, column, path, columns, options, response, unknown } = value;
	return (
		typeof campaign === 'number' &&
		areRanges(rows) &&
		typeof numbers === 'string' &&
		typeof column === 'string' &&
		(path === undefined || areTexts(path)) &&
		(columns === undefined || areTexts(columns)) &&
		typeof options === 'string' &&
		(response === undefined || isJsonObject(response)) &&
		(unknown === undefined || (isJsonObject(unknown) && typeof unknown.message === 'string'))
	);
}

function areTexts(value: unknown): boolean {
	return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isUnsent(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, fingerprint, blockSize, positions } = value;
	return (
		typeof campaign === 'number' &&
		typeof fingerprint === 'string' &&
		typeof blockSize === 'number' &&
		areRanges(positions)
	);
}

function isInterrupted(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { campaign, rows, numbers } = value;
	return typeof campaign === 'number' && areRanges(rows) && typeof numbers === 'string';
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
