import { explained, type ExplainedError } from '../../shared/api/errors';
import type { Reader, Resolution } from '../../shared/api/modelAdvice';
import { rowsChanged, type BegunRows } from './begunRows';
import type { RejectedRow } from './pushTypes';
import type { PushedNumbers } from './pushedNumbers';

/** Hands out the rows of a push, request by request, and is told what became of them. */
export type RowQueue = {
	/** At most so many rows; none when all are handed out. */
	take(size: number): Promise<readonly number[]>;
	/** What `next` will hand out, as far as that can be told without doing anything. */
	peek(size: number): readonly number[];
	/** @param withoutEffect those of the rows that surely are not in the campaign */
	settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void>;
	/** The rows that were not handed out. */
	remaining(): number[];
	/** Ends the push. */
	close(): Promise<void>;
	/** The rows that were left out on the way. */
	skipped(): RejectedRow[];
};

/** Every row, whatever earlier runs have sent, but for those that an earlier attempt of the execution began. */
export class AllRows implements RowQueue {
	private position = 0;
	private readonly begun: number[] = [];

	constructor(
		private readonly rows: readonly number[],
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
			const { fresh, known } = await this.earlier.claim(rows);
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

	remaining(): number[] {
		return this.rows.slice(this.position);
	}

	async close(): Promise<void> {}

	skipped(): RejectedRow[] {
		return this.begun.map((index) => ({
			index,
			status: 'unknown',
			reason: BEGUN_EARLIER[this.reader],
		}));
	}
}

export const BEGUN_EARLIER: Resolution = {
	onScreen:
		"An earlier attempt of this execution may have pushed this row, and n8n has no record of the result. It was not sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists), and push the missing ones in a new execution.",
	forModel:
		'This row may have been pushed before, and the result is not known. It was not sent again.',
};

const AFTER_ALL = 'To send it after all, forget it (Options → Forget Pushed Numbers).';
const PUSHED_BEFORE: Resolution = {
	onScreen: `An earlier run of this workflow pushed this number to the campaign or began to, so it isn't sent again. If that run was interrupted or reported the number as unknown, check whether it is in the campaign. ${AFTER_ALL}`,
	forModel:
		"An earlier run of this workflow pushed this number to the campaign or began to, so it isn't sent again.",
};
export const INTERRUPTED: Resolution = {
	onScreen: `An earlier run of this workflow began to push this number and hasn't reported the result: it was interrupted, or it is still running. The number may be in the campaign, so it isn't sent again. Compare the campaign's newest contact list with your rows (Campaign Status shows the lists). ${AFTER_ALL}`,
	forModel:
		"An earlier push of this number hasn't reported its result: it was interrupted, or it is still running. The number may be in the campaign, so it isn't sent again.",
};
export const STILL_STORED: Resolution = {
	onScreen:
		'n8n could not take it out of its memory of pushed numbers: forget it (Options → Forget Pushed Numbers) before you push this row again.',
	forModel: 'It is still noted as pushed, so it would be left out if you asked for it again.',
};

/** Rows whose number no earlier run has sent to the campaign, each noted before it is handed out. */
export class NewNumbersOnly implements RowQueue {
	private position = 0;
	private readonly known: number[] = [];
	/** Noted, and not handed out yet. */
	private ready: number[] = [];
	private unconfirmed: ReadonlySet<number> = new Set();

	constructor(
		private readonly rows: readonly number[],
		private readonly memory: PushedNumbers,
		private readonly reader: Reader,
		private readonly isAnotherPush = false,
	) {}

	async take(size: number): Promise<number[]> {
		if (this.isAnotherPush && this.rows.length > 0) throw rowsChanged();
		while (this.ready.length < size && this.position < this.rows.length) {
			// No more than can leave at once: what is noted and not sent would be in doubt after a crash.
			const rows = this.rows.slice(this.position, this.position + size - this.ready.length);
			const { fresh, known } = await this.memory.reserve(rows);
			this.position += rows.length;
			for (const row of known) this.known.push(row);
			for (const row of fresh) this.ready.push(row);
		}
		const rows = this.ready;
		this.ready = [];
		return rows;
	}

	/** Whom an earlier run has pushed shows only once they are noted. */
	peek(): readonly number[] {
		return [];
	}

	async settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void> {
		const released = new Set(withoutEffect);
		this.memory.confirm(rows.filter((row) => !released.has(row)));
		await this.memory.release(withoutEffect);
	}

	remaining(): number[] {
		return [...this.ready, ...this.rows.slice(this.position)];
	}

	async close(): Promise<void> {
		await this.memory.release(this.ready);
		this.unconfirmed = new Set(await this.memory.end(this.known));
	}

	skipped(): RejectedRow[] {
		return this.known.map((index) =>
			this.unconfirmed.has(index)
				? { index, status: 'unknown', reason: INTERRUPTED[this.reader] }
				: { index, status: 'pushed_before', reason: PUSHED_BEFORE[this.reader] },
		);
	}
}

/** The value, or what went wrong where that can be told to a person. */
export async function orExplained<T>(result: Promise<T>): Promise<T | ExplainedError> {
	return await result.catch(explained);
}
