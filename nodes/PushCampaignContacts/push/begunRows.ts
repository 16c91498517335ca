import partition from 'lodash/partition';
import uniq from 'lodash/uniq';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isJsonObject } from '../../shared/json';
import type { PreparedRows } from './prepareRows';

/** Where a push notes what it is about to send. */
export type PushLog = {
	/** @returns whether an earlier attempt of the execution began it */
	begin(target: unknown): Promise<boolean>;
	/** Removes a note of what surely took no effect. */
	release(target: unknown): Promise<void>;
	/** @returns for each target whether an earlier attempt began it; notes nothing */
	findBegun(targets: readonly unknown[]): Promise<boolean[]>;
};

/** What all runs of the node in an execution remember; kept with the execution. */
export type RowsMemory = {
	/** The rows were found to be others than those that an earlier attempt pushed. */
	areChanged?: true;
	/** By campaign, how many pushes began. A retry may go on after some of them. */
	pushes?: { [campaign: string]: number };
};

/** How the node notes what it is about to send. */
export type BegunRowsOptions = {
	log: PushLog;
	campaign: number;
	executionId: string;
	/** What this push remembers: by which execution it was noted, and which push to its campaign it is. */
	push: { notedBy?: string; nth?: number };
	/** Of all runs of the node: once rows have moved, any of them may be anywhere. */
	memory: RowsMemory;
};

/** Notes of one push: many more would make each write slow. */
const MAX_BLOCKS = 1_000;

/**
 * The rows of a push that earlier attempts of the execution began to send, where n8n has no other record of them: it
 * was killed or restarted, or the execution was stopped. Rows are noted in blocks, before the first of a block is
 * sent, and recognized as long as all numbers of the push and their order stay the same.
 */
export class BegunRows {
	/**
	 * By block that was noted: its rows whose result isn't known yet; undefined once one of them was pushed or may have
	 * been, because the note stays then. None of a block that an earlier attempt began.
	 */
	private readonly claimed = new Map<number, Set<number> | undefined>();
	private readonly begunBefore = new Set<number>();
	/** By row. */
	private readonly blocks: Uint32Array;
	/** What tells these rows from others. */
	private readonly rows: readonly unknown[];

	/** @param contactsPerRequest rows that are sent together */
	constructor(
		private readonly options: BegunRowsOptions,
		{ rows, keys }: Pick<PreparedRows, 'rows' | 'keys'>,
		contactsPerRequest: number,
	) {
		const blockSize = Math.max(contactsPerRequest, Math.ceil(rows.length / MAX_BLOCKS));
		this.rows = [options.campaign, keys.fingerprintOf(rows), blockSize];
		this.blocks = new Uint32Array((rows.at(-1) ?? -1) + 1);
		for (const [place, row] of rows.entries()) this.blocks[row] = Math.floor(place / blockSize);
	}

	/**
	 * Notes rows before they leave: `fresh` ones are now to be sent.
	 *
	 * @throws OutcomeUnknown if an earlier attempt began this push with other rows
	 */
	async claim(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const blocks = uniq(rows.map((row) => this.blockOf(row)));
		const newOnes = blocks.filter((block) => !this.claimed.has(block));
		// Together, so that they are written at once.
		const [isSamePush, ...areBegun] = await Promise.all([
			this.beginPush(),
			...newOnes.map(async (block) => await this.options.log.begin(this.targetOf(block))),
		]);
		if (!isSamePush) throw rowsChanged();
		for (const [index, block] of newOnes.entries()) {
			this.claimed.set(block, new Set());
			if (areBegun[index] === true) this.begunBefore.add(block);
		}
		const [known, fresh] = partition(rows, (row) => this.begunBefore.has(this.blockOf(row)));
		for (const row of fresh) this.claimed.get(this.blockOf(row))?.add(row);
		return { fresh, known };
	}

	/**
	 * What became of rows that were sent: a retry may push a block of which none is in the campaign.
	 *
	 * @param withoutEffect those of them that surely aren't
	 */
	async settle(rows: readonly number[], withoutEffect: readonly number[]): Promise<void> {
		const released = new Set(withoutEffect);
		for (const row of rows) {
			const block = this.blockOf(row);
			if (!released.has(row) && this.claimed.has(block)) this.claimed.set(block, undefined);
		}
		const emptied = new Set<number>();
		for (const row of released) {
			const block = this.blockOf(row);
			const claimed = this.claimed.get(block);
			if (claimed?.delete(row) === true && claimed.size === 0) emptied.add(block);
		}
		await Promise.all(
			[...emptied].map(async (block) => {
				this.claimed.delete(block);
				await this.options.log.release(this.targetOf(block));
			}),
		);
	}

	/** Notes the push itself; false if an earlier attempt began it with other rows. */
	private async beginPush(): Promise<boolean> {
		const { log, executionId, push, memory } = this.options;
		if (memory.areChanged === true) return false;
		if (push.notedBy === executionId) return true;
		const [isBegun, isSame] = await Promise.all([
			log.begin(numberedPush(this.options)),
			log.begin(['rows', ...this.rows]),
		]);
		push.notedBy = executionId;
		if (isBegun && !isSame) memory.areChanged = true;
		return !isBegun || isSame;
	}

	private targetOf(block: number): unknown {
		return ['block', ...this.rows, block];
	}

	private blockOf(row: number): number {
		return this.blocks[row] ?? 0;
	}
}

/** Stands for this push among those to its campaign, whatever its rows are. */
function numberedPush({ campaign, push, memory }: BegunRowsOptions): unknown {
	if (push.nth === undefined) {
		push.nth = memory.pushes?.[campaign] ?? 0;
		memory.pushes = { ...memory.pushes, [campaign]: push.nth + 1 };
	}
	return ['push', campaign, push.nth];
}

/** Whether an earlier attempt of the execution pushed rows to the campaign; this attempt notes nothing. */
export async function beganBefore(options: BegunRowsOptions): Promise<boolean> {
	const { log, memory } = options;
	if (memory.areChanged !== true) {
		const [isBegun] = await log.findBegun([numberedPush(options)]);
		if (isBegun === true) memory.areChanged = true;
	}
	return memory.areChanged === true;
}

/** No row is sent, because each of them may be in the campaign. */
export function rowsChanged(): OutcomeUnknown {
	return new OutcomeUnknown(
		"An earlier attempt of this execution pushed rows, and the rows or the options are not the same now, so the node can't tell which of them it pushed",
		{
			onScreen:
				"No row was sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists), and push the missing ones in a new execution.",
			forModel: 'No row was sent again.',
		},
		undefined,
		undefined,
		'n8n',
	);
}

export function isRowsMemory(stored: unknown): stored is RowsMemory {
	if (!isJsonObject(stored)) return false;
	const { areChanged, pushes = {} } = stored;
	return (
		(areChanged === undefined || areChanged === true) &&
		isJsonObject(pushes) &&
		Object.values(pushes).every((count) => typeof count === 'number')
	);
}
