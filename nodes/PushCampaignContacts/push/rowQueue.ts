import { explained, type ExplainedError } from '../../shared/api/errors';
import type { Reader, Resolution } from '../../shared/api/resolution';
import { rowsChanged } from './begunPush';
import type { BegunRows } from './begunRows';
import type { PushedNumbers } from './pushedNumbers';
import type { RejectedGroup } from './rejectedRows';
import { RowSet } from './rowSet';

/** The rows of a push, taken request by request. */
export type RowQueue = {
	/** The next rows, at most `size`. Empty at the end. */
	take(size: number): Promise<readonly number[]>;
	/** The rows that `take` will probably return. Has no effect. */
	peek(size: number): readonly number[];
	/** Records the results of rows. @param withoutEffect the rows that certainly aren't in the campaign */
	settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void>;
	/** The rows that were not taken. */
	remaining(): RowSet;
	close(): Promise<void>;
	/** The rows that `take` left out. */
	skipped(): RejectedGroup[];
};

/** All rows, except those that an earlier attempt of the execution began to send. */
export class AllRows implements RowQueue {
	private position = 0;
	private readonly begun: number[] = [];

	constructor(
		private readonly rows: RowSet,
		private readonly reader: Reader,
		private readonly earlier?: BegunRows,
	) {}

	async take(size: number): Promise<readonly number[]> {
		for (;;) {
			const rows = this.peek(size);
			if (this.earlier === undefined || rows.length === 0) {
				this.position += rows.length;
				return rows;
			}
			const { fresh, known } = await this.earlier.reserve(rows);
			this.position += rows.length;
			for (const row of known) this.begun.push(row);
			if (fresh.length > 0) return fresh;
		}
	}

	peek(size: number): number[] {
		return this.rows.slice(this.position, this.position + size);
	}

	async settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void> {
		await this.earlier?.settle(rows, withoutEffect);
	}

	remaining(): RowSet {
		return this.rows.from(this.position);
	}

	async close(): Promise<void> {
		this.earlier?.close(this.remaining());
		await Promise.resolve();
	}

	skipped(): RejectedGroup[] {
		const rows = RowSet.of(this.begun);
		return [{ rows, status: 'unknown', reason: BEGUN_EARLIER[this.reader] }];
	}
}

export const BEGUN_EARLIER: Resolution = {
	onScreen:
		"An earlier attempt of this execution may have pushed this row, and n8n has no record of the result. It wasn't sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
	forModel:
		'This contact may have been pushed before, but the result is unknown. It was not sent again.',
};

const TO_SEND_ANYWAY = 'To send it anyway, forget the number with DND List > Forget.';
const PUSHED_BEFORE: Resolution = {
	onScreen: `An earlier execution of this workflow pushed this number to the campaign or began to push it, so it wasn't sent again. If that execution was interrupted or reported the number as unknown, check whether it's in the campaign. ${TO_SEND_ANYWAY}`,
	forModel:
		"This number was pushed to the campaign before, or an earlier push of it began, so it wasn't sent again.",
};
export const STILL_STORED: Resolution = {
	onScreen:
		"n8n couldn't remove this number from the numbers pushed before. Before you push this row again, forget the number with DND List > Forget.",
	forModel: 'This number is still recorded as pushed, so a new request would leave it out.',
};

/** Rows whose number no earlier run sent to the campaign. Each number is reserved before its row is taken. */
export class NewNumbersOnly implements RowQueue {
	private position = 0;
	private readonly known: number[] = [];
	/** Reserved, but not taken yet. */
	private ready: number[] = [];

	constructor(
		private readonly rows: RowSet,
		private readonly pushedNumbers: PushedNumbers,
		private readonly reader: Reader,
		private readonly isAnotherPush = false,
		private readonly markExecution?: () => Promise<void>,
	) {}

	async take(size: number): Promise<number[]> {
		if (this.isAnotherPush && this.rows.size > 0) throw rowsChanged();
		while (this.ready.length < size && this.position < this.rows.size) {
			// No more than one request: after a crash, reserved numbers count as unknown.
			const rows = this.rows.slice(this.position, this.position + size - this.ready.length);
			const { fresh, known } = await this.pushedNumbers.reserve(rows);
			this.position += rows.length;
			for (const row of known) this.known.push(row);
			for (const row of fresh) this.ready.push(row);
		}
		if (this.ready.length > 0) await this.markExecution?.();
		const rows = this.ready;
		this.ready = [];
		return rows;
	}

	/** The store shows which numbers are new only by reserving them. */
	peek(): readonly number[] {
		return [];
	}

	async settle(_rows: readonly number[], withoutEffect: readonly number[]): Promise<void> {
		await this.pushedNumbers.release(withoutEffect);
	}

	remaining(): RowSet {
		return RowSet.union([RowSet.of(this.ready), this.rows.from(this.position)]);
	}

	async close(): Promise<void> {
		await this.pushedNumbers.release(this.ready);
	}

	skipped(): RejectedGroup[] {
		const reason = PUSHED_BEFORE[this.reader];
		return [{ rows: RowSet.of(this.known), status: 'pushed_before', reason }];
	}
}

/** The result, or the error if it can be explained. Other errors are thrown. */
export async function orExplained<T>(result: Promise<T>): Promise<T | ExplainedError> {
	return await result.catch(explained);
}
