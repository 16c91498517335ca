import sortedIndexOf from 'lodash/sortedIndexOf';
import uniq from 'lodash/uniq';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isJsonObject } from '../../shared/json';
import type { PreparedFeed } from './prepare';

/** Notes something that is about to be sent, and tells whether an earlier attempt of the execution began it. */
export type Begin = (target: unknown) => Promise<boolean>;

/** Whether the rows were found to be others than those that an earlier attempt pushed; kept with the execution. */
export type RowsMemory = { areChanged?: true };

/** How the node notes what it is about to send. */
export type BegunRowsOptions = {
	begin: Begin;
	campaign: number;
	/** What this push remembers over *Retry On Fail*. */
	push: { isNoted?: true };
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
	private readonly isBegun = new Map<number, boolean>();
	private readonly blockSize: number;
	private readonly numbers: string;

	/** @param contactsPerRequest rows that are sent together */
	constructor(
		private readonly options: BegunRowsOptions,
		private readonly prepared: Pick<PreparedFeed, 'rows' | 'keys'>,
		contactsPerRequest: number,
	) {
		const { rows, keys } = prepared;
		this.blockSize = Math.max(contactsPerRequest, Math.ceil(rows.length / MAX_BLOCKS));
		this.numbers = keys.fingerprintOf(rows);
	}

	/**
	 * Notes rows before they leave: `fresh` ones are now to be sent.
	 *
	 * @throws OutcomeUnknown if an earlier attempt began this push with other rows
	 */
	async claim(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const { begin, campaign, push, memory } = this.options;
		if (memory.areChanged === true) throw rowsChanged();
		const blocks = uniq(rows.map((row) => this.blockOf(row))).filter(
			(block) => !this.isBegun.has(block),
		);
		// Together, so that they are written at once.
		const [isPushBegun, ...areBegun] = await Promise.all([
			push.isNoted === true ? false : begin(['push', campaign]),
			...blocks.map(
				async (block) => await begin(['rows', campaign, this.numbers, this.blockSize, block]),
			),
		]);
		push.isNoted = true;
		blocks.forEach((block, index) => this.isBegun.set(block, areBegun[index] === true));
		if (isPushBegun && !areBegun.includes(true)) {
			memory.areChanged = true;
			throw rowsChanged();
		}
		const fresh: number[] = [];
		const known: number[] = [];
		for (const row of rows)
			(this.isBegun.get(this.blockOf(row)) === true ? known : fresh).push(row);
		return { fresh, known };
	}

	private blockOf(row: number): number {
		return Math.floor(sortedIndexOf(this.prepared.rows, row) / this.blockSize);
	}
}

/** No row is sent, because each of them may be in the campaign. */
function rowsChanged(): OutcomeUnknown {
	return new OutcomeUnknown(
		"An earlier attempt of this execution pushed rows, and the rows are not the same now, so the node can't tell which of them it pushed",
		"No row was sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists), and push the missing ones in a new execution.",
		undefined,
		undefined,
		'n8n',
	);
}

export function isRowsMemory(stored: unknown): stored is RowsMemory {
	if (!isJsonObject(stored)) return false;
	return stored.areChanged === undefined || stored.areChanged === true;
}
