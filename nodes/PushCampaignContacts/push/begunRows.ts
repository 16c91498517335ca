import isEqual from 'lodash/isEqual';
import partition from 'lodash/partition';
import range from 'lodash/range';
import uniq from 'lodash/uniq';
import {
	BegunPush,
	pushIndexOf,
	rowsChanged,
	targetOfPush,
	valuesOf,
	type BegunPushOptions,
	type RowsId,
} from './begunPush';
import type { UnsentRows } from './checkpoint';
import type { PreparedRows } from './prepareRows';
import type { YieldToEventLoop } from './pushTypes';
import { RowSet, type RowRanges } from './rowSet';

export type BegunRowsOptions = BegunPushOptions & {
	/** The part of the checkpoint that this needs. Changed in place. */
	push: {
		unsent?: UnsentRows;
		readonly sent?: ReadonlyArray<{ campaign: number; rows: RowRanges }>;
		readonly rejected?: ReadonlyArray<{ row: number }>;
	};
};

/** Recorded blocks per push. More of them would slow down each write. */
const MAX_BLOCKS = 1_000;

/** A recorded part of a block: its unsent rows, or the others. `begun`: the blocks in which an earlier attempt began it. */
type BlockPart = { block: number; begun: Set<number>; target: unknown };

/**
 * Recognizes rows that an earlier attempt of the execution began to send, if n8n has no other record of them because it was
 * killed, restarted, or stopped. Rows are recorded in blocks, before the first row of a block is sent. They are recognized
 * as long as the numbers of the push and their order stay the same, also those of earlier pushes.
 *
 * A block stays recorded if any of its rows was or may have been pushed. Those that certainly weren't sent are then in the
 * checkpoint. Only an attempt with this checkpoint may send them, and it records them as a part of their own. Each part
 * stays recorded for one attempt at most, and only this attempt stores which of its rows weren't sent. So no two attempts
 * send the same row.
 */
export class BegunRows {
	/**
	 * By recorded block: its rows without a result. Undefined after one of them was or may have been pushed, because the block
	 * then stays recorded. Empty for a block that an earlier attempt began.
	 */
	private readonly reserved = new Map<number, Set<number> | undefined>();
	private readonly begunBefore = new Set<number>();
	/** By block, the positions of the rows that earlier attempts certainly didn't push, although they pushed others. */
	private readonly unsent = new Map<number, RowSet>();
	/** Whether this attempt may send them. */
	private maySendUnsent = false;
	/** The blocks whose unsent rows an earlier attempt began after all. */
	private readonly begunUnsent = new Set<number>();
	/** Settled rows that certainly aren't in the campaign. */
	private readonly withoutEffect: number[] = [];
	/** Rows that earlier attempts report as rejected, and that this one hasn't sent. */
	private readonly rejected: Set<number>;
	/** Rows that earlier attempts sent. */
	private readonly sent: RowSet;
	private readonly push: BegunPush;

	private constructor(
		private readonly options: BegunRowsOptions,
		private readonly rows: RowSet,
		private readonly rowsId: RowsId,
	) {
		this.push = new BegunPush(options, rowsId);
		const { sent = [], rejected = [] } = options.push;
		const toCampaign = sent.filter(({ campaign }) => campaign === options.campaign);
		this.sent = RowSet.ofRanges(toCampaign.flatMap((request) => request.rows));
		this.rejected = new Set(rejected.map(({ row }) => row).filter((row) => !this.sent.has(row)));
	}

	/** @param contactsPerRequest rows that are sent together */
	static async open(
		options: BegunRowsOptions,
		{ rows, keys }: Pick<PreparedRows, 'rows' | 'keys'>,
		contactsPerRequest: number,
		yieldToEventLoop: YieldToEventLoop,
	): Promise<BegunRows> {
		const blockSize = Math.max(contactsPerRequest, Math.ceil(rows.size / MAX_BLOCKS));
		const fingerprint = await keys.fingerprintOf(rows, yieldToEventLoop);
		const rowsId = { campaign: options.campaign, fingerprint, blockSize };
		const begunRows = new BegunRows(options, rows, rowsId);
		await begunRows.openUnsent();
		if (await begunRows.push.find()) await begunRows.findBlocks();
		return begunRows;
	}

	/** Whether an earlier attempt began this push with other rows. */
	get isAnotherPush(): boolean {
		return this.push.isAnother;
	}

	/** The rows that an earlier attempt may have sent without a known result. */
	begunRows(): RowSet {
		const { blockSize } = this.rowsId;
		const blocks = Array.from(this.begunBefore, (block) => {
			const rows = RowSet.of(this.rows.slice(block * blockSize, (block + 1) * blockSize));
			const unsent = this.unsentRowsOf(block);
			const known = this.maySendUnsent ? unsent : unsent.filter((row) => this.rejected.has(row));
			return rows.without(this.sent).without(known);
		});
		const unsent = Array.from(this.begunUnsent, (block) =>
			this.unsentRowsOf(block).without(this.sent),
		);
		return RowSet.union([...blocks, ...unsent]);
	}

	/**
	 * Records rows before they are sent. The caller sends the `fresh` ones.
	 *
	 * @throws OutcomeUnknown if an earlier attempt began this push with other rows
	 */
	async reserve(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		if (this.isAnotherPush) throw rowsChanged();
		const blocks = uniq(rows.map((row) => this.blockOf(row)));
		const newOnes = blocks.filter((block) => !this.reserved.has(block));
		const parts = newOnes.flatMap((block) => this.freshPartsOf(block));
		// Together, so that they are written in one go.
		const [, ...areBegun] = await Promise.all([
			this.push.begin(),
			...parts.map(async ({ target }) => await this.options.log.begin(target)),
		]);
		for (const [index, { block, begun }] of parts.entries()) {
			if (areBegun[index] === true) begun.add(block);
		}
		for (const block of newOnes) this.reserved.set(block, new Set());
		const [known, fresh] = partition(rows, (row) => this.isBegun(row));
		for (const row of fresh) {
			this.reserved.get(this.blockOf(row))?.add(row);
			this.rejected.delete(row);
		}
		return { fresh, known };
	}

	/**
	 * Records the results of rows. A retry may push a block if none of its rows is in the campaign.
	 *
	 * @param withoutEffect the rows that certainly aren't in the campaign
	 */
	async settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void> {
		const released = new Set(withoutEffect);
		for (const row of released) this.withoutEffect.push(row);
		for (const row of rows) {
			const block = this.blockOf(row);
			if (!released.has(row) && this.reserved.has(block)) this.reserved.set(block, undefined);
		}
		const emptied = new Set<number>();
		for (const row of released) {
			const block = this.blockOf(row);
			const reserved = this.reserved.get(block);
			if (reserved?.delete(row) === true && reserved.size === 0) emptied.add(block);
		}
		await Promise.all(
			[...emptied].map(async (block) => {
				this.reserved.delete(block);
				const { log } = this.options;
				const parts = this.freshPartsOf(block);
				await Promise.all(parts.map(async ({ target }) => await log.release(target)));
			}),
		);
	}

	/**
	 * Stores which rows certainly weren't pushed, although their block stays recorded.
	 *
	 * @param remaining the rows that this attempt didn't reserve
	 */
	close(remaining: RowSet): void {
		const { push } = this.options;
		const isKept = (block: number) =>
			this.reserved.has(block) && this.reserved.get(block) === undefined;
		const rows = [...this.withoutEffect, ...this.rejected].filter((row) =>
			isKept(this.blockOf(row)),
		);
		for (const row of remaining) {
			// The following ones are in later blocks.
			if (!isKept(this.blockOf(row))) break;
			rows.push(row);
		}
		const unsent = rows.filter((row) => !this.isBegun(row)).map((row) => this.rows.indexOf(row));
		const before = [...this.unsent].filter(([block]) => !isKept(block));
		const positions = RowSet.union([
			...before.map(([, those]) => those),
			RowSet.ofRanges(unsent.flatMap((position) => [position, position])),
		]);
		delete push.unsent;
		if (positions.size > 0) push.unsent = { ...this.rowsId, positions: positions.toRanges() };
	}

	/**
	 * Reads which rows weren't pushed. Sends them only in the first push to a campaign, if no attempt began another one: that
	 * push may have the same numbers, and then the records don't show which of the two pushes sent them.
	 */
	private async openUnsent(): Promise<void> {
		const { log, campaign, push } = this.options;
		if (push.unsent === undefined) return;
		const { positions, ...rowsId } = push.unsent;
		if (!isEqual(rowsId, this.rowsId)) {
			delete push.unsent;
			return;
		}
		const next = targetOfPush({ campaign, pushIndex: 1 });
		this.maySendUnsent = pushIndexOf(this.options) === 0 && !(await log.wasBegun(next));
		for (const position of RowSet.ofRanges(positions)) {
			const block = Math.floor(position / this.rowsId.blockSize);
			const rows = this.unsent.get(block) ?? new RowSet();
			rows.add(position);
			this.unsent.set(block, rows);
		}
	}

	/** All at once, because the push may stop before it reaches them. */
	private async findBlocks(): Promise<void> {
		const blocks = range(Math.ceil(this.rows.size / this.rowsId.blockSize));
		const parts = blocks.flatMap((block) => this.freshPartsOf(block));
		const areBegun = await this.options.log.findBegun(parts.map(({ target }) => target));
		for (const [index, { block, begun }] of parts.entries()) {
			if (areBegun[index] === true) begun.add(block);
		}
	}

	/** The parts of a block that no earlier attempt began, as far as is known. */
	private freshPartsOf(block: number): BlockPart[] {
		const values = [...valuesOf(this.rowsId), block];
		const parts: BlockPart[] = [{ block, begun: this.begunBefore, target: ['block', ...values] }];
		const unsent = this.unsent.get(block);
		if (unsent !== undefined && this.maySendUnsent) {
			const target = ['unsent', ...values, unsent.toRanges()];
			parts.push({ block, begun: this.begunUnsent, target });
		}
		return parts.filter(({ begun }) => !begun.has(block));
	}

	private unsentRowsOf(block: number): RowSet {
		const positions = this.unsent.get(block) ?? new RowSet();
		return RowSet.of([...positions].flatMap((position) => this.rows.slice(position, position + 1)));
	}

	private isBegun(row: number): boolean {
		const block = this.blockOf(row);
		const isUnsent =
			this.maySendUnsent && this.unsent.get(block)?.has(this.rows.indexOf(row)) === true;
		return (isUnsent ? this.begunUnsent : this.begunBefore).has(block);
	}

	private blockOf(row: number): number {
		return Math.floor(this.rows.indexOf(row) / this.rowsId.blockSize);
	}
}
