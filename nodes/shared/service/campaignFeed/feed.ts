import type { ExplainedError } from '../core/explained';
import type { JsonObject } from '../types';

/** A row of the feed as it came in; nothing is promised about what its cells hold. */
export type Row = Readonly<Record<string, unknown>>;

/** Rows stay inside the items that carry them, so that a large feed is held only once. */
export type FeedItem = { readonly json: Row };

/** Lets other work of the process go on; awaited now and then in a long feed. */
export type Breathe = () => Promise<void>;

export const ROWS_PER_BREATH = 20_000;

/**
 * Why a row is not in the campaign:
 * `rejected` it cannot be used · `unknown` it was sent and no answer tells its fate ·
 * `not_sent` the feed stopped before it took effect · `duplicate` another row has its number.
 */
export type RowStatus = 'rejected' | 'unknown' | 'not_sent' | 'duplicate';

export type LeftOutRow = { index: number; status: RowStatus; reason: string };

/** Columns that the Rejected output adds; a row that is fed again does not carry them along. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** One request that the service took, and the rows that were in it. */
export type PushedRequest = { rows: readonly number[]; answer: JsonObject };

/** Every row of the feed is in exactly one of `pushed` and `leftOut`. */
export type FeedOutcome = {
	received: number;
	pushed: PushedRequest[];
	leftOut: LeftOutRow[];
	/** Why the feed stopped before its end. */
	stopped?: ExplainedError;
};
