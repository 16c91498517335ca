import groupBy from 'lodash/groupBy';
import has from 'lodash/has';
import { CLAIM_LIMITS } from '../../core/claims/claims';
import { InvalidInput } from '../../core/service/errors';
import { type Explanation, forEveryone, onScreenOnly } from '../../core/service/resolution';
import { Pauses } from '../../core/values/pauses';
import { INDIAN_CODE } from '../../core/phone/india';
import { rowNumberIn } from '../../core/values/sheetCells';
import { quoted } from '../../core/values/values';
import type { ContactRow } from './cells';
import type { PushedRequest, RowStatus } from './outcome';

/** *Contacts From*: input items, JSON, CSV files, or rows that were pasted into the form. */
export type ContactsFrom = 'items' | 'json' | 'csv' | 'pasted';

/** A row of a push, and what becomes of it. Without spreading, which takes several times as long to make a row. */
export abstract class Row {
	abstract readonly json: ContactRow;
	/** The input item. */
	abstract readonly input: number;
	/** The files of its item. */
	declare readonly binary?: ContactItem['binary'];
	/** As it would be sent. Empty if it can't be. */
	phone = '';
	/** Undefined until it's known. Each row ends with one. The rows of a request share it, which takes less memory. */
	settled: Settled | undefined = undefined;

	/**
	 * @param index its place among all rows, from 0
	 * @param number as a person counts: the items from 1, or as a spreadsheet program numbers the rows of a file
	 */
	constructor(
		readonly index: number,
		readonly number: number,
		readonly table: Table,
	) {}

	get status(): Settled['status'] | undefined {
		return this.settled?.status;
	}

	get reason(): string {
		return this.settled?.reason ?? '';
	}
}

/** What became of a row. */
export type Settled = {
	status: 'pushed' | 'ready' | RowStatus;
	/** Why it isn't pushed. */
	reason: string;
	/** The accepted request that it was in, if it was pushed. */
	request?: PushedRequest;
};

class ItemRow extends Row {
	constructor(
		index: number,
		readonly json: ContactRow,
		table: Table,
		readonly input: number,
		override readonly binary?: ContactItem['binary'],
	) {
		super(index, index + 1, table);
	}
}

/** The columns of the input, or of a file. */
export type Table = {
	/** Of a file. */
	readonly fileName?: string | undefined;
	/** The same for messages, if there are several files. */
	readonly file?: string | undefined;
	/** In order of first appearance. Rows may have different columns. */
	readonly names: ReadonlySet<string>;
	/** Columns that the header of a file has more than once. */
	readonly repeated: ReadonlySet<string>;
	/** Whether any row has a value at this path, even if it's empty. */
	hasPath(path: readonly string[]): boolean;
	/** Some of the first rows, to suggest a column. */
	readonly first: readonly Row[];
};

/** All rows of a push. */
export type PushInput = {
	readonly rows: readonly Row[];
	/** The input items, or each file. */
	readonly tables: readonly Table[];
	/** Hints about how files were read. */
	readonly hints: readonly Explanation[];
	/** How many rows the output can contain. `Infinity` if n8n has the rows as items already. */
	readonly maxOutputRows: number;
	/** Explains the numbers of the rows. */
	readonly legend: string;
};

export const MAX_FIRST_ROWS = 20;

/** What a push can have. */
export const PUSH_LIMITS = {
	/** They are in memory until the push has ended. */
	rows: 1_000_000,
	/**
	 * Of files. They are in memory until the push has ended, with two bytes each if the row has a letter that isn't in Latin-1.
	 * With 1,000,000 rows, that's 600 MB, which fits beside n8n in a heap of 1 GB.
	 */
	characters: 200_000_000,
	/** Of files: their rows times their columns. */
	cells: 100_000_000,
	/** An n8n with a heap of 1 GB can store an output with this many rows of a few columns of a file. */
	outputRows: 500_000,
	/** Of all rows of an output: their characters, and in addition for each cell. Those of a few columns have about 130. */
	outputSize: 75_000_000,
	/** Above that, n8n doesn't remember each number of an execution. */
	claimed: CLAIM_LIMITS.others,
	/** Rows of a request that the service rejects. If there are more, the cause is probably a setting, not the rows. */
	rejected: 200,
};

/** @throws InvalidInput if there are too many rows */
export function requireMaxRows(rows: number): void {
	if (rows <= PUSH_LIMITS.rows) return;
	const max = PUSH_LIMITS.rows.toLocaleString('en-US');
	throw new InvalidInput(
		`The input has more than ${max} rows, the most that a push can have, so nothing was sent`,
		forEveryone(`Split it, and push at most ${max} rows at a time.`),
	);
}

/** A row of n8n's items takes about a microsecond. */
export const ROWS_PER_LOOK = 50;

/** Settles what became of a row. */
export function settle(row: Row, status: Settled['status'], reason = ''): void {
	row.settled = { status, reason };
}

/** The same for all these rows. */
export function settleAll(rows: readonly Row[], settled: Settled): void {
	for (const row of rows) row.settled = settled;
}

/** Equal for equal phones in any format. Empty if the row has no phone. */
export function phoneKeyOf(row: Row): string {
	return row.phone === '' ? '' : INDIAN_CODE + subscriberOf(row);
}

/** The number without its country code. */
export function subscriberOf({ phone }: Row): string {
	return phone.slice(-INDIAN_DIGITS);
}

const INDIAN_DIGITS = 10;

/**
 * `json` may be missing, because n8n doesn't check the items of other nodes. Rows aren't copied out of their items, so that a
 * large push is in memory only once.
 */
export type ContactItem = {
	readonly json?: ContactRow;
	readonly binary?: { [field: string]: { data: string; mimeType: string } };
	/** The input item of a contact in JSON. */
	readonly input?: number;
};

/**
 * The rows in n8n's items.
 *
 * @throws InvalidInput if they are too many, or have files instead of columns
 */
export async function rowsOfItems(items: readonly ContactItem[]): Promise<PushInput> {
	requireMaxRows(items.length);
	const names = new Set<string>();
	const rows: Row[] = [];
	const first: Row[] = [];
	const hasPath = (path: readonly string[]) => rows.some(({ json }) => has(json, path));
	const table: Table = { names, repeated: new Set(), first, hasPath };
	const pauses = new Pauses(ROWS_PER_LOOK);
	for (const { json = {}, input, binary } of items) {
		if (pauses.isDue()) await pauses.take();
		for (const column in json) names.add(column);
		rows.push(new ItemRow(rows.length, json, table, input ?? rows.length, binary));
	}
	first.push(...rows.slice(0, MAX_FIRST_ROWS));
	if (names.size === 0 && items.some(({ binary }) => binary !== undefined)) throw unreadFile();
	const legend = 'Rows are counted in the input. A sheet numbers them differently.';
	return { rows, tables: [table], hints: [], maxOutputRows: Infinity, legend };
}

function unreadFile(): InvalidInput {
	return new InvalidInput(
		'The input has files, but no rows, so nothing was sent',
		onScreenOnly(
			"For a CSV file, set 'Contacts From' to 'CSV File'. For other files, add an Extract from File node before this one.",
		),
	);
}

/** "row 4", or "row 4 of "leads.csv"". Google Sheets adds `row_number`, which differs from the number of the item. */
export function nameOf({ json, number, table }: Row): string {
	const ofSheet = rowNumberIn(json);
	if (ofSheet !== undefined) return `the row with row_number ${ofSheet}`;
	return `row ${number}${ofFile(table)}`;
}

const MAX_RANGES = 100;

/** "rows 2 to 10001, 10005", for each of several files */
export function namesOf(rows: readonly Row[]): string {
	const byFile = Object.values(groupBy(rows, ({ table }) => table.file));
	return byFile
		.map((own) => {
			const ranges = inRanges(own);
			const texts = ranges
				.slice(0, MAX_RANGES)
				.map(([{ number: from }, { number: to }]) => (from === to ? from : `${from} to ${to}`));
			const last = ranges.at(-1)?.[1].number;
			const more = ranges.length > MAX_RANGES ? `, and more up to ${last}` : '';
			const plural = own.length === 1 ? '' : 's';
			return `row${plural} ${texts.join(', ')}${more}${ofFile(own[0]?.table)}`;
		})
		.join(', ');
}

function ofFile(table: Table | undefined): string {
	return table?.file === undefined ? '' : ` of ${quoted(table.file)}`;
}

/** The first and the last row of each range of consecutive ones, with the same reason if that's asked for. */
export function inRanges(
	rows: readonly Row[],
	isSame: (one: Row, other: Row) => boolean = () => true,
): Array<[first: Row, last: Row]> {
	const ranges: Array<[Row, Row]> = [];
	for (const row of rows) {
		const range = ranges.at(-1);
		const continues =
			range?.[1].index === row.index - 1 && range[1].table === row.table && isSame(range[1], row);
		if (range !== undefined && continues) range[1] = row;
		else ranges.push([row, row]);
	}
	return ranges;
}
