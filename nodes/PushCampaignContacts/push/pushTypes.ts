import type { ExplainedError } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/modelAdvice';
import type { JsonObject, JsonValue } from '../../shared/json';

/** Where the whole push goes. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** A row of the push as it came in; nothing is promised about what its cells hold. */
export type ContactRow = Readonly<Record<string, unknown>>;

/** Rows stay inside the items that carry them, so that a large push is held only once. */
export type ContactItem = { readonly json: ContactRow; readonly binary?: unknown };

/** Lets other work of the process go on; awaited now and then in a long push. */
export type YieldToEventLoop = () => Promise<void>;

export const ROWS_PER_YIELD = 20_000;
/** While a request is under way: its bytes must leave meanwhile. */
export const ROWS_PER_YIELD_IN_FLIGHT = 2_000;

/**
 * Why nobody is called for a row:
 * `rejected` it cannot be used · `do_not_disturb` the service skipped its number, which is on the
 * agent's list · `skipped_duplicate` the service skipped its number as a duplicate (`engine_skipped_duplicates`) ·
 * `duplicate` another row has its number · `pushed_before` an earlier run of the workflow sent its number · `unknown` it was sent and no answer tells its fate ·
 * `not_sent` the push stopped before it took effect.
 */
export const ROW_STATUSES = [
	'rejected',
	'do_not_disturb',
	'skipped_duplicate',
	'duplicate',
	'pushed_before',
	'unknown',
	'not_sent',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

export type RejectedRow = { index: number; status: RowStatus; reason: string };

/** Columns that the Rejected output adds. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** Columns that *One Item per Row* adds. */
export const PUSH_STATUS_COLUMN = 'push_status';
export const PHONE_SENT_COLUMN = 'phone_sent';
/** Of a dry run. */
export const PHONE_TO_SEND_COLUMN = 'phone_to_send';
export const PHONE_KEY_COLUMN = 'phone_key';
export const LIST_COLUMN = 'campaign_upload_id';

/** Columns of rows that come from files. */
export const SOURCE_FILE_COLUMN = 'source_file';
export const SOURCE_ROW_COLUMN = 'source_row';

/** A row that is pushed again does not carry them along. */
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
] as const;

/** One request that the service took, and those of its rows that can be called. */
export type PushedRequest = {
	rows: readonly number[];
	answer: JsonObject;
	/** What the service says it skipped, and no row of the request could be told to be. */
	unmatched: readonly JsonValue[];
};

/** Every row of the push is in exactly one of `pushed`, `rejectedRows` and `ready`. */
export type PushOutcome = {
	received: number;
	pushed: PushedRequest[];
	rejectedRows: RejectedRow[];
	/** Whether some of these rows are rejected because the service rejected them. */
	hasRejections?: boolean;
	/** Whether the contacts were to be released to the calling queue. */
	enqueue?: boolean;
	/** Of a dry run alone: the rows that would be sent, and how the campaign stands. */
	ready?: readonly number[];
	/** Whether numbers pushed before may be among these: n8n's memory cannot be asked without noting them. */
	readyIsUpperBound?: boolean;
	campaignStatus?: string | undefined;
	/** Where the memory of earlier runs was emptied instead: of how many numbers. */
	forgotten?: number | 'all';
	/** Whether this attempt couldn't begin, so that all of it is about earlier attempts. */
	isEarlier?: boolean;
	/** Why the push stopped before its end. */
	stopped?: ExplainedError;
};

/** What a row is told of the error that kept it out. */
export function reasonOf(error: ExplainedError, reader: Reader): string {
	return `${error.message}. ${error.descriptionFor(reader)}`.trim();
}
