import { NotSent } from '../../shared/api/errors';
import { pushedText } from '../../shared/campaign';
import { type DeduplicationStore, MAX_REMEMBERED } from '../../shared/deduplicationStore';
import type { ByRow } from './phonesByRow';

/** *Skip Numbers Pushed Before*: the numbers that were pushed to a campaign, across all executions. */
export class PushedNumbers {
	/** @param keys by row, a key that is equal for equal numbers in any format */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly campaignId: number,
		private readonly keys: ByRow<string>,
	) {}

	/** Records numbers before they are sent. This execution sends the `fresh` ones. */
	async reserve(rows: readonly number[]): Promise<{ fresh: number[]; known: number[] }> {
		const added = new Set(await this.store.add(rows.map(this.textOf)));
		const fresh: number[] = [];
		const known: number[] = [];
		for (const row of rows) (added.has(this.textOf(row)) ? fresh : known).push(row);
		return { fresh, known };
	}

	/** @returns the rows whose number is known already. The store shows this only by adding the numbers. */
	async findKnown(rows: readonly number[]): Promise<number[]> {
		const { fresh, known } = await this.reserve(rows);
		await this.release(fresh);
		return known;
	}

	/** These rows certainly had no effect, so a later execution may send them. */
	async release(rows: readonly number[]): Promise<void> {
		if (rows.length > 0) await this.store.remove(rows.map(this.textOf));
	}

	private readonly textOf = (row: number): string =>
		pushedText(this.campaignId, this.keys.at(row) ?? '');
}

/** @throws NotSent if n8n would forget some numbers of a push before its end */
export function requireRoom(rows: number): void {
	if (rows <= MAX_REMEMBERED) return;
	const max = MAX_REMEMBERED.toLocaleString('en-US');
	throw new NotSent(
		`'Skip Numbers Pushed Before' can remember ${max} numbers, so a push can have at most ${max} rows. Nothing was sent`,
		{
			onScreen: "Split the file. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
			forModel: `Send at most ${max} contacts.`,
		},
		undefined,
		false,
		'n8n',
	);
}
