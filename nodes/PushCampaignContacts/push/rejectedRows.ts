import sortBy from 'lodash/sortBy';
import { RowSet } from './rowSet';

/**
 * Why nobody is called for a row:
 * - `rejected`: the node or the service can't use it.
 * - `do_not_disturb`: the service skipped its number, which is on the agent's list (`dnd_skipped`).
 * - `skipped_duplicate`: the service skipped its number as a duplicate (`engine_skipped_duplicates`).
 * - `duplicate`: another row has the same number, or an earlier run of the node in the execution pushed it.
 * - `pushed_before`: an earlier execution of the workflow sent its number.
 * - `unknown`: it was sent, and the result isn't known.
 * - `not_sent`: the push stopped before it reached the campaign.
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

/** Consecutive rows with the same cause. Some reasons are created when they are read, see `cause`. */
export type RejectedRange = {
	first: number;
	last: number;
	cause: { readonly status: RowStatus; readonly reason: string };
};

/** Rows with the same status and reason. */
export type RejectedGroup = { rows: RowSet; status: RowStatus; reason: string };

/**
 * The rows for which nobody is called. Many rows with the same reason, such as those after the request where a push
 * stopped, take as much memory as one.
 */
export class RejectedRows implements Iterable<RejectedRow> {
	/** In the order in which they were added. */
	readonly single: RejectedRow[] = [];
	private readonly groups: RejectedGroup[] = [];

	static of(rows: Iterable<RejectedRow>): RejectedRows {
		const rejected = new RejectedRows();
		for (const row of rows) rejected.add(row);
		return rejected;
	}

	add(row: RejectedRow): void {
		this.single.push(row);
	}

	addAll(group: RejectedGroup): void {
		if (group.rows.size > 0) this.groups.push(group);
	}

	get size(): number {
		return this.groups.reduce((sum, { rows }) => sum + rows.size, this.single.length);
	}

	count(status: RowStatus): number {
		const inGroups = this.groups.filter((group) => group.status === status);
		let count = inGroups.reduce((sum, { rows }) => sum + rows.size, 0);
		for (const row of this.single) if (row.status === status) count++;
		return count;
	}

	/** The rows with one of these statuses, or all. */
	rowsWith(...statuses: RowStatus[]): RowSet {
		const rows = new RowSet();
		for (const { first, last, cause } of this.ranges()) {
			if (statuses.length === 0 || statuses.includes(cause.status)) rows.addRange(first, last);
		}
		return rows;
	}

	/** In the order of the rows. */
	*ranges(): Generator<RejectedRange> {
		const ranges = sortBy(this.groups.flatMap(rangesOfGroup), ({ first }) => first);
		let next = 0;
		for (const row of this.single.toSorted((one, other) => one.index - other.index)) {
			while ((ranges[next]?.first ?? Infinity) < row.index) yield* ranges.slice(next, ++next);
			yield { first: row.index, last: row.index, cause: row };
		}
		yield* ranges.slice(next);
	}

	/** In the order of the rows. */
	*[Symbol.iterator](): Generator<RejectedRow> {
		for (const { first, last, cause } of this.ranges()) {
			const { status, reason } = cause;
			for (let index = first; index <= last; index++) yield { index, status, reason };
		}
	}
}

function rangesOfGroup(cause: RejectedGroup): RejectedRange[] {
	return Array.from(cause.rows.ranges(), ([first, last]) => ({ first, last, cause }));
}
