import { OTHER_TEXTS, removeAll, type DeduplicationStore } from '../../shared/deduplicationStore';
import type { ByRow } from './phoneArrays';

const MAX_ADDED_TOGETHER = 100_000;

/**
 * The numbers that went into a campaign, over all runs. Two texts a number: `pushed` is noted before it
 * leaves, `told` when a run has come to know, and tells, what became of it. A number with the first
 * alone was under way when a run was cut off.
 */
export class PushedNumbers {
	/** To be noted with whatever is noted next. */
	private toConfirm: string[] = [OTHER_TEXTS];

	/** @param keys by row, what makes a number the same person's in every form */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly campaign: number,
		private readonly keys: ByRow<string>,
	) {}

	/** Notes numbers before they leave: `fresh` ones are now this run's to send. */
	async reserve(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const added = await this.add(rows, this.reservedKey);
		const fresh: number[] = [];
		const known: number[] = [];
		for (const row of rows) (added.has(this.reservedKey(row)) ? fresh : known).push(row);
		return { fresh, known };
	}

	/** What became of these is known, and no later run need wonder. */
	confirm(rows: readonly number[]): void {
		for (const row of rows) this.toConfirm.push(this.confirmedKey(row));
	}

	/** Surely nothing came of these: a later run may send them. */
	async release(rows: readonly number[]): Promise<void> {
		await removeAll(this.store, rows.map(this.reservedKey));
	}

	/** Ends the run: of the known numbers those of which no run has told. From now on they are told. */
	async end(known: readonly number[]): Promise<number[]> {
		const untold: number[] = [];
		for (let start = 0; start < known.length; start += MAX_ADDED_TOGETHER) {
			const part = known.slice(start, start + MAX_ADDED_TOGETHER);
			const added = await this.add(part, this.confirmedKey);
			for (const row of part) if (added.has(this.confirmedKey(row))) untold.push(row);
		}
		if (this.toConfirm.length > 0) await this.add([], this.confirmedKey);
		return untold;
	}

	/** As if these had never been pushed; gives back how many were. */
	async forget(rows: readonly number[]): Promise<number> {
		// In this order: cut off in between, a number counts as under way, and is not sent.
		await removeAll(this.store, rows.map(this.confirmedKey));
		const before = await this.store.count();
		await removeAll(this.store, rows.map(this.reservedKey));
		return before - (await this.store.count());
	}

	private async add(
		rows: readonly number[],
		keyOf: (row: number) => string,
	): Promise<ReadonlySet<string>> {
		const added = await this.store.add([...this.toConfirm, ...rows.map(keyOf)]);
		this.toConfirm = [];
		return new Set(added);
	}

	private readonly reservedKey = (row: number): string =>
		`${this.campaign} ${this.keys.at(row) ?? ''}`;
	private readonly confirmedKey = (row: number): string => `${this.reservedKey(row)} told`;
}
