import sumBy from 'lodash/sumBy';
import without from 'lodash/without';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { type Row, ROWS_PER_LOOK } from './rows';

/**
 * Why a row isn't reported as pushed:
 * - `rejected`: the node or the service can't use it.
 * - `do_not_disturb`: the service skipped its number, which is on the agent's list (`dnd_skipped`).
 * - `skipped_duplicate`: the service skipped its number as a duplicate (`engine_skipped_duplicates`).
 * - `duplicate`: another row has the same number, or an earlier push left the row out as a duplicate.
 * - `sent_before`: an earlier run or attempt of the execution, or with *Skip Numbers Pushed Before* another execution, sent its
 *   number, or may have.
 * - `unknown`: it was sent, and the result isn't known.
 * - `not_sent`: the push stopped before the service accepted it. Nothing is known against it, so a retry sends it.
 */
export const ROW_STATUSES = [
	'rejected',
	'do_not_disturb',
	'skipped_duplicate',
	'duplicate',
	'sent_before',
	'unknown',
	'not_sent',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

/** Those of the *Rejected* output. */
export const REJECTED_STATUSES = without(ROW_STATUSES, 'sent_before');

/** An accepted request. */
export type PushedRequest = {
	/** Those that can be called. */
	rows: readonly Row[];
	sent: readonly Row[];
	response: JsonObject;
	/** Entries of the service's skipped lists that match no row of the request. */
	unmatched: readonly JsonValue[];
};

/** What a check found besides the rows that a push would send. */
export type CheckResult = {
	/** The status of the campaign. */
	campaignStatus?: string | undefined;
	/** What is known of the names and the agent. */
	texts: string[];
};

/** The rows of a push by what became of them, once each one has a status. */
export class RowsByStatus {
	private readonly counts = new Map<Row['status'], number>();

	private constructor(private readonly rows: readonly Row[]) {}

	static async of(rows: readonly Row[]): Promise<RowsByStatus> {
		const grouped = new RowsByStatus(rows);
		await forEachWithPauses(rows, ({ status }) => grouped.add(status), ROWS_PER_LOOK);
		return grouped;
	}

	private add(status: Row['status']): void {
		this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
	}

	/** In the order of the input. */
	with(...statuses: ReadonlyArray<Row['status']>): readonly Row[] {
		// A push can have a million rows, and most have the same status.
		const count = this.count(...statuses);
		if (count === 0) return [];
		if (count === this.rows.length) return this.rows;
		return this.rows.filter(({ status }) => statuses.includes(status));
	}

	count(...statuses: ReadonlyArray<Row['status']>): number {
		return sumBy(statuses, (status) => this.counts.get(status) ?? 0);
	}
}
