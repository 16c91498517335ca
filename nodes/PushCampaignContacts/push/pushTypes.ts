import type { ExplainedError } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/resolution';
import type { JsonObject, JsonValue } from '../../shared/json';
import type { RejectedRows } from './rejectedRows';
import type { RowSet } from './rowSet';

/** The campaign and agent of a push. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** An input row. Its cells may have any value. */
export type ContactRow = Readonly<Record<string, unknown>>;

/**
 * Rows aren't copied out of their items, so that a large push is in memory only once. `json` may be missing, because n8n
 * doesn't check the items of other nodes.
 */
export type ContactItem = { readonly json?: ContactRow; readonly binary?: unknown };

/** Lets other work of the process run. Awaited regularly in a long push. */
export type YieldToEventLoop = () => Promise<void>;

/** They take about 20 ms. */
export const ROWS_PER_YIELD = 2_000;

/** Columns that the *Rejected* output adds. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** Columns that *One Item per Row* adds. */
export const PUSH_STATUS_COLUMN = 'push_status';
export const PHONE_SENT_COLUMN = 'phone_sent';
/** Added in a dry run. */
export const PHONE_TO_SEND_COLUMN = 'phone_to_send';
export const PHONE_KEY_COLUMN = 'phone_key';
export const LIST_COLUMN = 'campaign_upload_id';

/** Columns added to rows from files. */
export const SOURCE_FILE_COLUMN = 'source_file';
export const SOURCE_ROW_COLUMN = 'source_row';
/** Added if an item is about several consecutive rows. */
export const LAST_SOURCE_ROW_COLUMN = 'source_row_last';

/** Not sent if a row is pushed again. */
export const ADDED_COLUMNS = [
	REASON_COLUMN,
	STATUS_COLUMN,
	PUSH_STATUS_COLUMN,
	PHONE_SENT_COLUMN,
	PHONE_TO_SEND_COLUMN,
	PHONE_KEY_COLUMN,
	LIST_COLUMN,
	SOURCE_FILE_COLUMN,
	SOURCE_ROW_COLUMN,
	LAST_SOURCE_ROW_COLUMN,
] as const;

/** An accepted request, with those of its rows that can be called. */
export type PushedRequest = {
	rows: RowSet;
	response: JsonObject;
	/** Entries of the service's skipped lists that match no row of the request. */
	unmatched: readonly JsonValue[];
};

/** Each row is in exactly one of `pushed`, `rejectedRows`, and `ready`. */
export type PushOutcome = {
	received: number;
	pushed: PushedRequest[];
	rejectedRows: RejectedRows;
	/** Whether the service itself rejected rows. */
	hasRejections?: boolean;
	/** Whether the request asked to release the contacts to the calling queue. */
	enqueue?: boolean;
	/** Only in a dry run: the rows that a push would send, and the status of the campaign. */
	ready?: RowSet;
	/** Whether `ready` may include numbers pushed before. n8n's store can't be read without adding them. */
	readyIsUpperBound?: boolean;
	campaignStatus?: string | undefined;
	/** Whether this attempt pushed rows. Otherwise, all results come from earlier attempts. */
	hasSent?: boolean;
	/** Why the push stopped early. */
	stopped?: ExplainedError;
};

/** The reason of a row that wasn't pushed because of an error. */
export function reasonOf(error: ExplainedError, reader: Reader): string {
	return `${error.message}. ${error.descriptionFor(reader)}`.trim();
}
