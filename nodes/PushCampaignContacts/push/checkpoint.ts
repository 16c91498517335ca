import { z } from 'zod';
import { shortFingerprint } from '../../shared/hash';
import type { StoredUnknown } from '../../shared/api/errors';
import { isJsonObject, type JsonObject } from '../../shared/json';

/** Row indexes as pairs of first and last: `[0, 9, 12, 12]` is 0 to 9 and 12. */
const rowRanges = z.array(z.number());
const jsonObject = z.custom<JsonObject>(isJsonObject);
const storedUnknown = z.custom<StoredUnknown>(
	(value) => isJsonObject(value) && typeof value.message === 'string',
);

/** A request that took effect or may have. Without `response` and `unknown`, it was interrupted. */
const sentRequest = z.object({
	campaign: z.number(),
	rows: rowRanges,
	/** A fingerprint of the phone numbers. */
	numbers: z.string(),
	/** The phone column. */
	column: z.string(),
	/** The path of a nested phone column. */
	path: z.array(z.string()).optional(),
	/** The name of the phone column in each file, if there are several. */
	columns: z.array(z.string()).optional(),
	normalized: z.boolean(),
	/** A fingerprint of what was sent besides the rows. */
	options: z.string(),
	response: jsonObject.optional(),
	unknown: storedUnknown.optional(),
});

/** A row that the service rejected. */
const rejectedRow = z.object({
	/** A fingerprint of the settings and the contact. */
	settings: z.string(),
	row: z.number(),
	/** A fingerprint of the phone number. */
	number: z.string(),
	reason: z.string(),
});

/**
 * The progress of a push, stored with the execution as plain JSON. It contains no rows and no phone numbers: rows are
 * stored by index, with a fingerprint of their numbers to detect changes.
 */
const pushCheckpoint = z.object({
	sent: z.array(sentRequest),
	rejected: z.array(rejectedRow),
	/** For rows from files: a fingerprint of how the files were read. */
	reading: z.string().optional(),
	/** The execution that recorded the begin of the push in n8n's store. A retry records it again. */
	notedBy: z.string().optional(),
	/** Counts the pushes of this execution to the campaign, from 0. */
	pushIndex: z.number().optional(),
	/** Rows of an earlier run that was interrupted. Later attempts must report them too. */
	interrupted: z
		.object({
			campaign: z.number(),
			rows: rowRanges,
			/** A fingerprint of the phone numbers. */
			numbers: z.string(),
			/** An earlier attempt of the execution was interrupted, not an earlier run. */
			byAttempt: z.literal(true).optional(),
		})
		.optional(),
	/** Whether the service counts contacts from 0 or 1. */
	indexBase: z.union([z.literal(0), z.literal(1)]).optional(),
});

export type RowRanges = z.infer<typeof rowRanges>;
export type SentRequest = z.infer<typeof sentRequest>;
export type PushCheckpoint = z.infer<typeof pushCheckpoint>;

export function emptyCheckpoint(): PushCheckpoint {
	return { sent: [], rejected: [] };
}

export function isPushCheckpoint(stored: unknown): stored is PushCheckpoint {
	return pushCheckpoint.safeParse(stored).success;
}

export function rowsFingerprint(parts: readonly string[]): string {
	return shortFingerprint(parts, 16);
}

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

/** The first and last row of each range. */
export function pairsOf(ranges: RowRanges): Array<[first: number, last: number]> {
	const pairs: Array<[number, number]> = [];
	for (let i = 0; i + 1 < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
	return pairs;
}
