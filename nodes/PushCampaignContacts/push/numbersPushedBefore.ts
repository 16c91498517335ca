import partition from 'lodash/partition';
import { NotSent } from '../../shared/api/errors';
import { readerOf, type Resolution } from '../../shared/api/resolution';
import { pushedText } from '../../shared/campaign';
import { type DeduplicationStore, MAX_REMEMBERED } from '../../shared/deduplicationStore';
import type { KeyOf } from './phones';
import type { RowsNotPushed } from './outcome';
import { RowSet } from './rowSet';

const TO_SEND_ANYWAY =
	"To send it anyway, add DND List to this workflow, set 'Resource' to 'Remembered Number', and forget the number.";
const PUSHED_BEFORE: Resolution = {
	onScreen: `An earlier execution of this workflow pushed this number to the campaign or began to push it, so it wasn't sent again. If that execution was interrupted or reported the number as unknown, check whether it's in the campaign. If it was pushed with 'Add and Let Wait', it's still waiting there. ${TO_SEND_ANYWAY}`,
	forModel:
		"This number was pushed to the campaign before, or an earlier push of it began, so it wasn't sent again.",
};

/** *Skip Numbers Pushed Before*: the numbers that were pushed to a campaign, across all executions. */
export class NumbersPushedBefore {
	constructor(
		private readonly store: DeduplicationStore,
		private readonly campaignId: number,
		private readonly keyOf: KeyOf,
		private readonly isTool: boolean,
	) {}

	/** Remembers numbers before they are sent, and rejects the known ones. @returns the rows to send */
	async reserve(rows: readonly number[], notPushed: RowsNotPushed): Promise<number[]> {
		const added = new Set(await this.store.add(rows.map(this.textOf)));
		const [fresh, known] = partition(rows, (row) => added.has(this.textOf(row)));
		const reason = PUSHED_BEFORE[readerOf(this.isTool)];
		notPushed.addAll(RowSet.of(known), 'pushed_before', reason);
		return fresh;
	}

	/**
	 * Forgets rows that certainly had no effect, so that a later execution may send them. Never throws: if n8n can't forget
	 * them, that execution reports them as pushed before.
	 */
	async release(rows: readonly number[]): Promise<void> {
		if (rows.length > 0) await this.store.remove(rows.map(this.textOf)).catch(() => undefined);
	}

	private readonly textOf = (row: number): string => pushedText(this.campaignId, this.keyOf(row));
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
		{ isTransient: false, origin: 'n8n' },
	);
}
