import { OTHER_TEXTS, removeAll, type DeduplicationStore } from '../../shared/deduplicationStore';
import type { ByRow } from './byRow';

const MOST_ADDED_AT_ONCE = 100_000;

/**
 * The numbers that went into a campaign, over all runs. Two texts a number: `fed` is noted before it
 * leaves, `told` when a run has come to know, and tells, what became of it. A number with the first
 * alone was under way when a run was cut off.
 */
export class FedMemory {
	/** To be noted with whatever is noted next. */
	private toTell: string[] = [OTHER_TEXTS];

	/** @param keys by row, what makes a number the same person's in every form */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly campaign: number,
		private readonly keys: ByRow<string>,
	) {}

	/** Notes numbers before they leave: `fresh` ones are now this run's to send. */
	async claim(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const added = await this.add(rows, this.fed);
		const fresh: number[] = [];
		const known: number[] = [];
		for (const row of rows) (added.has(this.fed(row)) ? fresh : known).push(row);
		return { fresh, known };
	}

	/** What became of these is known, and no later run need wonder. */
	tell(rows: readonly number[]): void {
		for (const row of rows) this.toTell.push(this.told(row));
	}

	/** Surely nothing came of these: a later run may send them. */
	async release(rows: readonly number[]): Promise<void> {
		await removeAll(this.store, rows.map(this.fed));
	}

	/** Ends the run: of the known numbers those of which no run has told. From now on they are told. */
	async end(known: readonly number[]): Promise<number[]> {
		const untold: number[] = [];
		for (let start = 0; start < known.length; start += MOST_ADDED_AT_ONCE) {
			const part = known.slice(start, start + MOST_ADDED_AT_ONCE);
			const added = await this.add(part, this.told);
			for (const row of part) if (added.has(this.told(row))) untold.push(row);
		}
		if (this.toTell.length > 0) await this.add([], this.told);
		return untold;
	}

	/** As if these had never been fed; gives back how many were. */
	async forget(rows: readonly number[]): Promise<number> {
		// In this order: cut off in between, a number counts as under way, and is not sent.
		await removeAll(this.store, rows.map(this.told));
		const before = await this.store.count();
		await removeAll(this.store, rows.map(this.fed));
		return before - (await this.store.count());
	}

	private async add(
		rows: readonly number[],
		keyOf: (row: number) => string,
	): Promise<ReadonlySet<string>> {
		const added = await this.store.add([...this.toTell, ...rows.map(keyOf)]);
		this.toTell = [];
		return new Set(added);
	}

	private readonly fed = (row: number): string => `${this.campaign} ${this.keys.at(row) ?? ''}`;
	private readonly told = (row: number): string => `${this.fed(row)} told`;
}
