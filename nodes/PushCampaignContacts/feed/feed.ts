import type { ExplainedError } from '../../shared/api/errors';
import type { JsonObject, JsonValue } from '../../shared/json';

/** Where the whole feed goes. */
export type CampaignTarget = { id: number; agentUuid: string; enqueue: boolean };

/** A row of the feed as it came in; nothing is promised about what its cells hold. */
export type FeedRow = Readonly<Record<string, unknown>>;

/** Rows stay inside the items that carry them, so that a large feed is held only once. */
export type FeedItem = { readonly json: FeedRow };

/** Lets other work of the process go on; awaited now and then in a long feed. */
export type Breathe = () => Promise<void>;

export const ROWS_PER_BREATH = 20_000;

/**
 * Why nobody is called for a row:
 * `rejected` it cannot be used · `do_not_disturb` the service skipped its number, which is on the
 * agent's list · `already_queued` the service skipped its number, which is queued already ·
 * `duplicate` another row has its number · `unknown` it was sent and no answer tells its fate ·
 * `not_sent` the feed stopped before it took effect.
 */
export const ROW_STATUSES = [
	'rejected',
	'do_not_disturb',
	'already_queued',
	'duplicate',
	'unknown',
	'not_sent',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

export type UnsentRow = { index: number; status: RowStatus; reason: string };

/** Columns that the Rejected output adds; a row that is fed again does not carry them along. */
export const REASON_COLUMN = 'rejection_reason';
export const STATUS_COLUMN = 'rejection_status';

/** One request that the service took, and those of its rows that can be called. */
export type PushedRequest = {
	rows: readonly number[];
	answer: JsonObject;
	/** What the service says it skipped, and no row of the request could be told to be. */
	unmatched: readonly JsonValue[];
};

/** Every row of the feed is in exactly one of `pushed` and `unsentRows`. */
export type FeedOutcome = {
	received: number;
	pushed: PushedRequest[];
	unsentRows: UnsentRow[];
	/** Why the feed stopped before its end. */
	stopped?: ExplainedError;
};

/** What a row is told of the error that kept it out. */
export function reasonOf({ message, advice }: ExplainedError): string {
	return `${message}. ${advice}`;
}
