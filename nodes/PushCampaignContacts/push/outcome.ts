import difference from 'lodash/difference';
import type { ExplainedError } from '../../shared/api/errors';
import type { Reader } from '../../shared/api/resolution';
import type { JsonObject, JsonValue } from '../../shared/json';
import { RowSet } from './rowSet';

/** The statuses of the *Pushed Before* output. The others are in *Rejected*. */
export const PUSHED_BEFORE_STATUSES = [
	'pushed_before',
	'waiting_before',
	'unknown_before',
] as const;
export type PushedBeforeStatus = (typeof PUSHED_BEFORE_STATUSES)[number];

/**
 * Why a row isn't reported as pushed:
 * - `rejected`: the node or the service can't use it.
 * - `do_not_disturb`: the service skipped its number, which is on the agent's list (`dnd_skipped`).
 * - `skipped_duplicate`: the service skipped its number as a duplicate (`engine_skipped_duplicates`).
 * - `duplicate`: another row has the same number, or an earlier run of the node in the execution pushed it.
 * - `pushed_before`: an earlier execution of the workflow pushed its number, and the service reported the release.
 * - `waiting_before`: an earlier execution pushed its number, and the service reported that it isn't released.
 * - `unknown_before`: an earlier execution sent its number, or began to, and no more is known, or the service skipped it as
 *   a duplicate.
 * - `unknown`: it was sent, and the result isn't known.
 * - `not_sent`: the push stopped before the service accepted it. Nothing is known against it, so a retry sends it.
 */
export const ROW_STATUSES = [
	'rejected',
	'do_not_disturb',
	'skipped_duplicate',
	'duplicate',
	...PUSHED_BEFORE_STATUSES,
	'unknown',
	'not_sent',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

export const REJECTED_STATUSES = difference(ROW_STATUSES, PUSHED_BEFORE_STATUSES);

/** Consecutive rows with the same reason. */
type RangeNotPushed = {
	readonly first: number;
	readonly last: number;
	readonly status: RowStatus;
	readonly reason: string;
};

export type RowNotPushed = { index: number; status: RowStatus; reason: string };

/**
 * The rows of the other outputs than *Pushed*, some of which may be in the campaign. Consecutive rows with the same reason,
 * such as those after the request where a push stopped, take as much memory as one.
 */
export class RowsNotPushed implements Iterable<RowNotPushed> {
	/** In the order in which they were added. */
	readonly added: RangeNotPushed[] = [];
	size = 0;

	add(index: number, status: RowStatus, reason: string): void {
		this.addRange({ first: index, last: index, status, reason });
	}

	addAll(rows: RowSet, status: RowStatus, reason: string): void {
		for (const [first, last] of rows.ranges()) {
			this.addRange({ first, last, status, reason });
		}
	}

	addRange(range: RangeNotPushed): void {
		this.added.push(range);
		this.size += range.last - range.first + 1;
	}

	count(...statuses: RowStatus[]): number {
		return this.with(statuses).size;
	}

	counts(): Record<RowStatus, number> {
		const counts = {
			rejected: 0,
			do_not_disturb: 0,
			skipped_duplicate: 0,
			duplicate: 0,
			pushed_before: 0,
			waiting_before: 0,
			unknown_before: 0,
			unknown: 0,
			not_sent: 0,
		};
		for (const { first, last, status } of this.added) counts[status] += last - first + 1;
		return counts;
	}

	/** Those with one of these statuses. */
	with(statuses: readonly RowStatus[]): RowsNotPushed {
		const some = new RowsNotPushed();
		for (const range of this.added) if (statuses.includes(range.status)) some.addRange(range);
		return some;
	}

	/** The rows with one of these statuses. */
	rowsWith(...statuses: RowStatus[]): RowSet {
		return RowSet.ofRanges(this.with(statuses).added.flatMap(({ first, last }) => [first, last]));
	}

	/** In the order of the rows. */
	ranges(): RangeNotPushed[] {
		return this.added.toSorted((one, other) => one.first - other.first);
	}

	/** In the order of the rows. */
	*[Symbol.iterator](): Generator<RowNotPushed> {
		for (const { first, last, status, reason } of this.ranges()) {
			for (let index = first; index <= last; index++) yield { index, status, reason };
		}
	}
}

/** An accepted request, with those of its rows that can be called. */
export type PushedRequest = {
	rows: RowSet;
	response: JsonObject;
	/** Entries of the service's skipped lists that match no row of the request. */
	unmatched: readonly JsonValue[];
};

/** The rows of a check that a push would send. */
export type ReadyRows = {
	ready: RowSet;
	/** Which of them a push may leave out, because a check can't look them up. */
	readyMayInclude?: 'pushedBefore' | 'unknownBefore';
};

/** Each row is in exactly one of `pushed`, `notPushed`, and `ready`, which only a check has. */
export type PushOutcome = Partial<ReadyRows> & {
	received: number;
	pushed: PushedRequest[];
	notPushed: RowsNotPushed;
	/** Whether the service itself rejected rows. */
	hasRejections?: boolean;
	/** Whether the requests ask to release the contacts to the calling queue. */
	enqueue: boolean;
	/** Only of a check: the status of the campaign, and what is known of the agent. */
	campaignStatus?: string | undefined;
	aboutAgent?: string[];
	/** Why the push stopped early. */
	stopped?: ExplainedError;
};

/** The reason of a row that wasn't pushed because of an error. */
export function reasonOf(error: ExplainedError, reader: Reader): string {
	return `${error.message}. ${error.descriptionFor(reader)}`.trim();
}

/** The rows that can be called. */
export function pushedRows({ pushed }: PushOutcome): RowSet {
	return RowSet.ofRanges(pushed.flatMap(({ rows }) => rows.toRanges()));
}
