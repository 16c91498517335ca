import type { NumbersOfExecution } from '../../core/ledger/numbersOfExecution';
import { isJsonObject } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import type { PreparedRows } from './prepareRows';
import { phoneKeyOf, type Row, ROWS_PER_LOOK, settle } from './rows';

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
	/** Whether this push is the first one. */
	private readonly isFirst: boolean;

	/**
	 * @param memory changed in place
	 * @param max how many numbers to remember
	 */
	constructor(
		readonly memory: PushMemory,
		private readonly numbers: NumbersOfExecution,
		private readonly max: number,
	) {
		this.isFirst = memory.count === 0 && !numbers.hasUnknown;
	}

	/**
	 * Settles rows with sent numbers, and with those that may have been sent.
	 *
	 * @param areUnknown whether these rows may have been sent, so that only those aren't settled
	 * @returns the other rows
	 */
	async leaveOut(
		rows: readonly Row[],
		{ markedUnknown }: PreparedRows,
		areUnknown = false,
	): Promise<readonly Row[]> {
		// Looking up a million numbers takes two seconds.
		if (this.isFirst && markedUnknown.size === 0) return rows;
		const others: Row[] = [];
		await forEachWithPauses(rows, (row) => {
			const key = phoneKeyOf(row);
			const isUnknown = this.numbers.isUnknown(key);
			if (markedUnknown.has(key)) settle(row, 'unknown', MARKED_UNKNOWN);
			else if (isUnknown && !areUnknown) settle(row, 'unknown', UNKNOWN);
			else if (!isUnknown && this.numbers.isDone(key)) settle(row, 'duplicate', SENT_BEFORE);
			else others.push(row);
		});
		return others;
	}

	/** Whether a push sent the row, and its outcome is unknown. */
	isUnknown(row: Row): boolean {
		return this.numbers.isUnknown(phoneKeyOf(row));
	}

	/** Whether all these numbers can be remembered. Those that earlier runs pushed already are. */
	async haveRoom(rows: readonly Row[]): Promise<boolean> {
		let free = this.max - this.memory.count;
		if (rows.length <= free || this.isFirst) return rows.length <= free;
		const take = (row: Row) => {
			if (!this.numbers.isDone(phoneKeyOf(row))) free--;
		};
		await forEachWithPauses(rows, take, ROWS_PER_LOOK);
		return free >= 0;
	}

	/** Remembers rows that were sent. */
	async add(rows: readonly Row[]): Promise<void> {
		await this.addAll(rows, false);
	}

	/** Remembers rows that a person must look after, unless there are too many in total. */
	async addUnknown(rows: readonly Row[]): Promise<void> {
		const withNumber = rows.filter(({ phone }) => phone !== '');
		if (await this.haveRoom(withNumber)) await this.addAll(withNumber, true);
	}

	private async addAll(rows: readonly Row[], areUnknown: boolean): Promise<void> {
		const add = (row: Row) => {
			if (this.numbers.add(phoneKeyOf(row), areUnknown)) this.memory.count++;
		};
		await forEachWithPauses(rows, add, ROWS_PER_LOOK);
	}
}
