import { OutcomeUnknown, type StoredUnknown } from '../../shared/api/errors';
import type { Resolution } from '../../shared/api/resolution';
import { isJsonObject, type JsonObject } from '../../shared/json';
import type { RowRanges } from './rowSet';

/**
 * What the requests of a push did, by chunk of its rows. Stored with the execution as plain JSON. It contains no rows and
 * no phone numbers: rows are stored by their position in the chunk. The common `SendOnce` (`n8n/once/sendOnce.ts`) knows one
 * request and its output per item. A chunk may take several requests, and a retry sends only its other rows.
 */
export type PushRecord = { [chunk: string]: ChunkRequest[] };

/** What happened to some rows of a chunk. With `rows` only, it isn't known. */
export type ChunkRequest = {
	rows: RowRanges;
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
