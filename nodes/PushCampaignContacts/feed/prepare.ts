import {
	isAccepted,
	readCampaignPhone,
	readPhoneAsWritten,
	type PhoneReading,
} from '../../shared/phone/campaignPhone';
import type { Columns } from './columns';
import { personNameOf } from './contact';
import { ROWS_PER_BREATH, type Breathe, type FeedItem, type LeftOutRow, type Row } from './feed';

export type PrepareOptions = { normalizePhones: boolean; removeDuplicates: boolean };

/**
 * `rows` are to be sent, in the order of the feed. By row: `phones` as they are sent, `keys` the same
 * for one person in every form; empty for a row that is left out.
 */
export type PreparedFeed = {
	rows: number[];
	phones: string[];
	keys: string[];
	unsentRows: LeftOutRow[];
};

type Duplicate = { index: number; key: string };

/** Looks at every row before any is sent, and leaves out unusable ones and duplicates. */
export async function prepareFeed(
	items: readonly FeedItem[],
	columns: Columns,
	options: PrepareOptions,
	yieldToEventLoop: Breathe,
): Promise<PreparedFeed> {
	const phones = new Array<string>(items.length).fill('');
	const keys = new Array<string>(items.length).fill('');
	const unsentRows: LeftOutRow[] = [];
	const duplicates: Duplicate[] = [];
	const keptRows = new Map<string, number>();

	for (const [index, { json: row }] of items.entries()) {
		if (index % ROWS_PER_BREATH === 0 && index > 0) await yieldToEventLoop();
		const reading = readRow(row, columns, options);
		if (!isAccepted(reading)) {
			unsentRows.push({ index, status: 'rejected', reason: reading.reason });
			continue;
		}
		const { phone, key } = reading;
		const earlier = options.removeDuplicates ? keptRows.get(key) : undefined;
		if (earlier !== undefined && !hasLongerName(row, items[earlier]?.json, columns)) {
			duplicates.push({ index, key });
			continue;
		}
		if (earlier !== undefined) {
			duplicates.push({ index: earlier, key });
			phones[earlier] = '';
			keys[earlier] = '';
		}
		phones[index] = phone;
		keys[index] = key;
		if (options.removeDuplicates) keptRows.set(key, index);
	}

	for (const { index, key } of duplicates) {
		unsentRows.push({ index, status: 'duplicate', reason: sameNumber(keptRows.get(key)) });
	}
	return { rows: indexesOfUsed(phones), phones, keys, unsentRows };
}

/** A cell of the phone column, in the way that *Normalize Phone Numbers* asks for. */
export function readPhoneCell(cell: unknown, normalizePhones: boolean): PhoneReading {
	return normalizePhones ? readCampaignPhone(cell) : readPhoneAsWritten(cell);
}

function readRow(row: Row, columns: Columns, { normalizePhones }: PrepareOptions): PhoneReading {
	const reading = readPhoneCell(row[columns.phone], normalizePhones);
	if (!isAccepted(reading) || personNameOf(row, columns) !== undefined) return reading;
	return {
		reason: `The column "${columns.personName ?? ''}" holds no text in this row, so there is no name to send. Put the name in it as plain text.`,
	};
}

/** Of two equally long names the earlier row stays. */
function hasLongerName(row: Row, other: Row | undefined, columns: Columns): boolean {
	return nameLength(row, columns) > nameLength(other ?? {}, columns);
}

function nameLength(row: Row, columns: Columns): number {
	return personNameOf(row, columns)?.length ?? 0;
}

function sameNumber(keptRow: number | undefined): string {
	return `Item ${keptRow} has the same phone number and a person name that is at least as long, so only that one is sent.`;
}

function indexesOfUsed(phones: readonly string[]): number[] {
	const rows: number[] = [];
	for (const [index, phone] of phones.entries()) if (phone !== '') rows.push(index);
	return rows;
}
