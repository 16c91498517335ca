import type { NumbersOfExecution } from '../../core/ledger/numbersOfExecution';
import { isJsonObject } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import type { RowsByStatus } from './outcome';
import type { PreparedRows } from './prepareRows';
import { phoneKeyOf, type Row, settle } from './rows';

/** What an execution remembers of its pushes, for all runs of the node, besides the numbers. */
export type PushMemory = {
	/** Of the numbers. */
	count: number;
	/** The runs of the node that push to each campaign, in ascending order. Empty for a model. */
	runs: { [campaign: string]: number[] };
};

/** n8n stores what this package wrote, so the runs aren't checked. */
export function isPushMemory(stored: unknown): stored is PushMemory {
	return isJsonObject(stored) && typeof stored.count === 'number' && isJsonObject(stored.runs);
}

/** Only if the number is known, not if the row says so. */
export const SENT_BEFORE =
	"This number was pushed to the campaign earlier in this execution or session, so it wasn't pushed again.";
const UNKNOWN =
	"This number may be in the campaign, because an earlier push of it has an unknown outcome. It wasn't pushed again.";
const MARKED_UNKNOWN =
	"The status of a row with this number says that an earlier push may have added it to a campaign, so it wasn't pushed. Look for the number there. To push it, empty push_status and rejection_status of that row, and with 'Skip Numbers Pushed Before', use DND List > Forget, too.";

/** The numbers that any run of the node pushed to a campaign in this execution. */
export class PushedNumbers {
	/**
	 * @param memory changed in place
	 * @param max how many numbers to remember
	 */
	constructor(
		readonly memory: PushMemory,
		private readonly numbers: NumbersOfExecution,
		private readonly max: number,
	) {}

	/** Settles rows with sent numbers, and with those that may have been sent. @returns the other rows */
	async leaveOut(rows: readonly Row[], { markedUnknown }: PreparedRows): Promise<readonly Row[]> {
		const isFirst = this.memory.count === 0 && !this.numbers.hasUnknown;
		// Looking up a million numbers takes two seconds.
		if (isFirst && markedUnknown.size === 0) return rows;
		const others: Row[] = [];
		await forEachWithPauses(rows, (row) => {
			const key = phoneKeyOf(row);
			if (markedUnknown.has(key)) settle(row, 'unknown', MARKED_UNKNOWN);
			else if (this.numbers.isUnknown(key)) settle(row, 'unknown', UNKNOWN);
			else if (this.numbers.isDone(key)) settle(row, 'duplicate', SENT_BEFORE);
			else others.push(row);
		});
		return others;
	}

	/** Remembers the sent rows, unless there are too many in total. First those that a person must look after. */
	async add(rows: RowsByStatus): Promise<void> {
		const unknown = rows.with('unknown').filter(({ phone }) => phone !== '');
		// A number that the service skipped as a duplicate is in the campaign too.
		for (const some of [unknown, rows.with('pushed', 'skipped_duplicate')]) {
			if (this.memory.count + some.length > this.max) continue;
			await forEachWithPauses(some, (row) => {
				if (this.numbers.add(phoneKeyOf(row), some === unknown)) this.memory.count++;
			});
		}
	}
}
