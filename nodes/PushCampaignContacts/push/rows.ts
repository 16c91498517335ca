import groupBy from 'lodash/groupBy';
import { CLAIM_LIMITS } from '../../core/claims/claims';
import { InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { INDIAN_CODE } from '../../core/phone/india';
import { rowNumberIn } from '../../core/values/sheetCells';
import { named, quoted } from '../../core/values/values';

/** An input row: its cells by column, as n8n's items have them. */
export type ContactRow = Readonly<
	Record<string, string | number | boolean | object | null | undefined>
>;

/**
 * Why a row isn't reported as pushed:
 * - `rejected`: the node or the service can't use it.
 * - `do_not_disturb`: the service skipped its number, which is on the agent's list (`dnd_skipped`).
 * - `duplicate`: another row has the same number, or the service skipped its number as a duplicate
 *   (`engine_skipped_duplicates`).
 * - `sent_before`: an earlier run or attempt of the execution, or unless *Numbers Pushed Before* is *Push Again*, another
 *   execution, sent its number, or may have.
 * - `unknown`: it was sent, and the result isn't known.
 * - `not_sent`: the push stopped before the service accepted it. Nothing is known against it, so a retry sends it.
 */
export const ROW_STATUSES = [
	'rejected',
	'do_not_disturb',
	'duplicate',
	'sent_before',
	'unknown',
	'not_sent',
] as const;

export type Status = 'pushed' | 'ready' | (typeof ROW_STATUSES)[number];

/** An accepted request. */
export type PushedRequest = {
	/** Those that can be called. */
	rows: readonly Row[];
	response: JsonObject;
	/** Entries of the service's skipped lists that match no row of the request. */
	unmatched: readonly JsonValue[];
};

/** What became of a row. */
type Settled = {
	status: Status;
	/** Why it isn't pushed. */
	reason: string;
	/** The accepted request that it was in, if it was pushed. */
	request?: PushedRequest;
};

/** A row of a push, and what becomes of it. */
export class Row {
	/** As it would be sent. Empty if it can't be. */
	phone = '';
	/** Undefined until it's known. Each row ends with one. The rows of a request share it, which takes less memory. */
	settled: Settled | undefined = undefined;

	/**
	 * @param number as a person counts: that of the sheet or file, or if it isn't known, the items from 1
	 * @param input the input item
	 * @param content of a file, its text, because an object for each of a million rows takes several times the memory
	 * @param binary the files of its item
	 */
	constructor(
		readonly table: Table,
		readonly number: number,
		readonly input: number,
		private readonly content: ContactRow | string,
		readonly binary?: ContactItem['binary'],
	) {}

	get json(): ContactRow {
		return typeof this.content === 'string' ? this.table.rowOf(this.content) : this.content;
	}

	get status(): Status | undefined {
		return this.settled?.status;
	}

	get reason(): string {
		return this.settled?.reason ?? '';
	}
}

/** The columns of the input, or of a file. */
export type Table = {
	/** Of a file, if there are several. */
	readonly file?: string | undefined;
	/** In order of first appearance. Rows may have different columns. */
	readonly names: ReadonlySet<string>;
	/** Columns that the header of a file has more than once. */
	readonly repeated: ReadonlySet<string>;
	/** Some of the first rows of a file. All rows of items, which may have different nested values. */
	readonly sample: readonly Row[];
	/** Reads the cells of a row of a file. */
	rowOf(text: string): ContactRow;
};

/** All rows of a push. */
export type PushInput = {
	readonly rows: readonly Row[];
	/** The input items, or each file. */
	readonly tables: readonly Table[];
	/** Hints about how files were read. */
	readonly hints: readonly Explanation[];
	/** Whether it's of files, and n8n couldn't store an item for each row. */
	readonly isLarge: boolean;
	/** Explains the numbers of the rows. */
	readonly legend: string;
};

export const MAX_FIRST_ROWS = 20;

/** What a push can have. */
export const PUSH_LIMITS = {
	/** They are in memory until the push has ended. */
	rows: 1_000_000,
	/** Of files. Their text is in memory until the push has ended. */
	bytes: 200_000_000,
	/** Of files: their rows times their columns. */
	cells: 100_000_000,
	/** With more rows of files, *Pushed* has only the summary. */
	outputRows: 50_000,
	/** The same for their bytes, and in addition for each cell. */
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
		`Split it, and push at most ${max} rows at a time.`,
	);
}

/** A row of n8n's items takes about a microsecond. */
export const ROWS_PER_LOOK = 50;

/** Settles what became of rows. */
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
	const table: Table = { names, repeated: new Set(), sample: rows, rowOf: () => ({}) };
	await forEachWithPauses(
		items,
		({ json = {}, binary }) => {
			for (const column in json) names.add(column);
			const number = rowNumberIn(json) ?? rows.length + 1;
			rows.push(new Row(table, number, rows.length, json, binary));
		},
		ROWS_PER_LOOK,
	);
	if (names.size === 0 && items.some(({ binary }) => binary !== undefined)) throw unreadFile();
	// n8n passes on an item without columns if a node before found nothing.
	if (names.size === 0) rows.length = 0;
	// Google Sheets adds the numbers of its rows.
	const legend = names.has('row_number') ? '' : LEGEND;
	return { rows, tables: [table], hints: [], isLarge: false, legend };
}

const LEGEND = 'Rows are counted in the input. A sheet numbers them differently.';

function unreadFile(): InvalidInput {
	return new InvalidInput(
		'The input has files, but no rows, so nothing was sent',
		"In n8n, for a CSV file, set 'Contacts From' to 'CSV File'. For other files, add an Extract from File node before this one.",
	);
}

/** "row 4", or "row 4 of "leads.csv"" */
export function nameOf({ number, table }: Row): string {
	return `row ${number}${ofFile(table)}`;
}

const MAX_RANGES = 100;

/** "rows 2 to 10001, 10005", for each of several files */
export function namesOf(rows: readonly Row[]): string {
	const byFile = Object.entries(groupBy(rows, ({ table }) => ofFile(table)));
	const texts = byFile.map(([file, own]) => {
		const ranges: Array<[from: number, to: number]> = [];
		for (const { number } of own) {
			const range = ranges.at(-1);
			if (range?.[1] === number - 1) range[1] = number;
			else ranges.push([number, number]);
		}
		const textOf = ([from, to]: [number, number]) => (from === to ? `${from}` : `${from} to ${to}`);
		return `row${own.length === 1 ? '' : 's'} ${named(ranges, textOf, MAX_RANGES)}${file}`;
	});
	return texts.join(', ');
}

/** Empty if the rows aren't of several files. */
export function ofFile({ file }: Pick<Table, 'file'>): string {
	return file === undefined ? '' : ` of ${quoted(file)}`;
}
