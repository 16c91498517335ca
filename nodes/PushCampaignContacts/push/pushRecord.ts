import chunk from 'lodash/chunk';
import { OutcomeUnknown, type StoredUnknown } from '../../core/service/errors';
import type { Resolution } from '../../core/service/resolution';
import { isJsonObject, type JsonObject } from '../../core/values/json';
import type { Row } from './rows';

/**
 * What the requests of a push did, by chunk of its rows. Stored with the execution as plain JSON. It contains no rows and
 * no phone numbers: rows are stored by their position in the chunk. The common `SendOnce` (`host/once/sendOnce.ts`) knows one
 * request and its output per item. A chunk may take several requests, and a retry sends only its other rows.
 */
export type PushRecord = { [chunk: string]: ChunkRequest[] };

/** What happened to some rows of a chunk. With `rows` only, it isn't known. */
export type ChunkRequest = {
	/** Positions in the chunk, as pairs of first and last: `[0, 9, 12, 12]` is 0 to 9 and 12. */
	rows: number[];
	/** The service accepted the request. */
	response?: JsonObject;
	/** The service rejected the row. */
	rejection?: string;
	/** The outcome is unknown. */
	error?: StoredUnknown;
};

export const NOTED_EARLIER: Resolution = {
	onScreen:
		"An earlier attempt of this execution may have pushed this row, and n8n has no record of the result. It wasn't sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
	forModel:
		'This contact may have been pushed before, but the result is unknown. It was not sent again.',
};

/** The positions of some rows of a chunk, for its record. Both are in ascending order. */
export function positionsOf(some: readonly Row[], rows: readonly Row[]): ChunkRequest['rows'] {
	const positions: number[] = [];
	let at = -1;
	for (const row of some) {
		do at++;
		while (rows[at] !== row && at < rows.length);
		if (positions.at(-1) === at - 1) positions[positions.length - 1] = at;
		else positions.push(at, at);
	}
	return positions;
}

/** The rows of a chunk at these positions. */
export function rowsAt(positions: ChunkRequest['rows'], rows: readonly Row[]): Row[] {
	return chunk(positions, 2).flatMap(([first = 0, last = first]) => rows.slice(first, last + 1));
}

/** No row is sent, because any of them may be in the campaign. */
export function rowsChanged(): OutcomeUnknown {
	return new OutcomeUnknown(
		"The rows or the options changed since an earlier attempt of this execution, so the node can't know which rows it pushed",
		{
			onScreen:
				"No row was sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
			forModel: 'No row was sent again.',
		},
		{ origin: 'n8n' },
	);
}

/** n8n stores what the push wrote, so its chunks aren't checked further. */
export function isPushRecord(stored: unknown): stored is PushRecord {
	return isJsonObject(stored) && Object.values(stored).every(Array.isArray);
}
