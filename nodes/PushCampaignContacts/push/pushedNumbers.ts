import { NotSent } from '../../shared/api/errors';
import { removeAll, type DeduplicationStore } from '../../shared/deduplicationStore';
import { pushedKeys, TEXTS_PER_PUSHED_NUMBER } from '../../shared/numberLists/pushedKeys';
import type { ByRow } from './phonesByRow';

/** A list in a store of several ones, and how many texts the store contained when it was opened. */
export type NumberList = { store: DeduplicationStore; name: string; texts: number };

const MAX_ADDED_TOGETHER = 100_000;

/** n8n reads and writes all of them with each request. */
const MAX_PUSHED_NUMBERS = 500_000;
const MAX_TEXTS = MAX_PUSHED_NUMBERS * TEXTS_PER_PUSHED_NUMBER;

/**
 * The numbers that were pushed to a campaign, across all runs. A number has two keys: one is reserved before it is sent,
 * the other confirms that a run has reported the result. If only the first exists, the run was interrupted.
 */
export class PushedNumbers {
	/** Added together with the next keys. */
	private toConfirm: string[] = [];

	private reservedCount = 0;

	/** @param keys by row, a key that is equal for equal numbers in any format */
	constructor(
		private readonly list: NumberList,
		private readonly keys: ByRow<string>,
	) {}

	/**
	 * Reserves numbers before they are sent. This run sends the `fresh` ones.
	 *
	 * @throws NotSent if n8n can't remember more numbers
	 */
	async reserve(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const texts = this.list.texts + this.reservedCount * TEXTS_PER_PUSHED_NUMBER;
		if (texts >= MAX_TEXTS) throw listFull();
		const added = await this.add(rows, this.reservedKey);
		const fresh: number[] = [];
		const known: number[] = [];
		for (const row of rows) (added.has(this.reservedKey(row)) ? fresh : known).push(row);
		this.reservedCount += fresh.length;
		return { fresh, known };
	}

	/** @returns the rows whose number is in the list already. The store shows this only by reserving the numbers. */
	async findKnown(rows: readonly number[]): Promise<number[]> {
		const { fresh, known } = await this.reserve(rows);
		await this.release(fresh);
		return known;
	}

	/** The results of these rows are known. */
	confirm(rows: readonly number[]): void {
		for (const row of rows) this.toConfirm.push(this.confirmedKey(row));
	}

	/** These rows certainly had no effect, so a later run may send them. */
	async release(rows: readonly number[]): Promise<void> {
		await removeAll(this.list.store, rows.map(this.reservedKey));
		this.reservedCount -= rows.length;
	}

	/** Ends the run and confirms the known rows. @returns the known rows without a reported result */
	async end(known: readonly number[]): Promise<number[]> {
		const unconfirmed: number[] = [];
		for (let start = 0; start < known.length; start += MAX_ADDED_TOGETHER) {
			const part = known.slice(start, start + MAX_ADDED_TOGETHER);
			const added = await this.add(part, this.confirmedKey);
			for (const row of part) if (added.has(this.confirmedKey(row))) unconfirmed.push(row);
		}
		if (this.toConfirm.length > 0) await this.add([], this.confirmedKey);
		return unconfirmed;
	}

	private async add(
		rows: readonly number[],
		keyOf: (row: number) => string,
	): Promise<ReadonlySet<string>> {
		const added = await this.list.store.add([...this.toConfirm, ...rows.map(keyOf)]);
		this.toConfirm = [];
		return new Set(added);
	}

	private readonly reservedKey = (row: number): string => this.keysOf(row).reserved;
	private readonly confirmedKey = (row: number): string => this.keysOf(row).confirmed;

	private keysOf(row: number) {
		return pushedKeys(this.list.name, this.keys.at(row) ?? '');
	}
}

/** May exceed the maximum by the numbers of one request. */
function listFull(): NotSent {
	const max = MAX_PUSHED_NUMBERS.toLocaleString('en-US');
	return new NotSent(
		`'Skip Numbers Pushed Before' can't remember more than ${max} numbers per workflow, so the remaining rows weren't sent`,
		{
			onScreen:
				"Forget the numbers of ended campaigns with DND List > Remembered Number > Forget. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
			forModel: 'No more contacts can be sent until a person forgets earlier numbers.',
		},
		undefined,
		false,
		'n8n',
	);
}
