import has from 'lodash/has';
import omit from 'lodash/omit';
import uniq from 'lodash/uniq';
import { InvalidInput } from '../../shared/api/errors';
import { type Explanation, onScreenOnly } from '../../shared/api/resolution';
import { Pauses } from '../../shared/pauses';
import { isBlank } from '../../shared/phone/written';
import { plainText } from '../../shared/values';
import type { ContactRow } from './cells';
import type { RowSet } from './rowSet';

/**
 * Rows aren't copied out of their items, so that a large push is in memory only once. `json` may be missing, because n8n
 * doesn't check the items of other nodes.
 */
export type ContactItem = {
	readonly json?: ContactRow;
	readonly binary?: unknown;
	/** The input item of a contact in JSON. */
	readonly input?: number;
};

/** *Contacts From*: input items, JSON, CSV files, or rows that were pasted into the form. */
export type ContactsFrom = 'items' | 'json' | 'csv' | 'pasted';

/** The rows of a push, from n8n's items or from a file that is read as needed. */
export type RowSource = {
	/** Known for a file after `each` has read it. */
	readonly count: number;
	readonly names: RowNames;
	/** Hints about how a file was read, after `each` has read it. */
	readonly notes: readonly Explanation[];
	/** How many rows the output of the node can contain. `Infinity` if n8n has the rows as items already. */
	readonly maxOutputRows: number;
	/** The row, if it's in n8n's items. */
	at?(index: number): ContactRow;
	/** The columns of the input items, or of each file. */
	columns(): Promise<FoundColumns[]>;
	/** The position of a row's columns among them. */
	tableOf(row: number): number;
	/** Visits every row in order, and yields to the event loop in between. */
	each(visit: Visit): Promise<void>;
	/** Visits these rows, in the given order. */
	pick(rows: Iterable<number>, visit: Visit): Promise<void>;
	/** Rows for the output, in the given order. */
	output(rows: readonly number[]): Promise<ContactRow[]>;
	/** The input item of a row. */
	inputOf(row: number): number;
	/** The input items of several rows, each once. */
	inputsOf(rows: RowSet): number[];
	close(): Promise<void>;
};

/** For pauses. A row of n8n's items takes about a microsecond. */
export const ROWS_PER_LOOK = 50;

/** @param unusable why the row can't be used, whatever its cells contain */
export type Visit = (row: ContactRow, index: number, unusable?: string) => void;

/** Names of rows in messages. */
export type RowNames = {
	/** "row 4" */
	one(row: number): string;
	/** "rows 1 to 10000, 10005" */
	several(rows: RowSet): string;
	/** Explains the numbers. */
	legend: string;
};

/** The columns of the input, or of one of several files. */
export type FoundColumns = {
	/** Not set if it's the only one. */
	file?: string;
	/** In order of first appearance. Rows may have different columns. */
	names: ReadonlySet<string>;
	/** Columns that the header of a file has more than once. */
	repeated: ReadonlySet<string>;
	/** Whether any row has a value at this path, even if it's empty. Files have no nested values. */
	hasPath(path: readonly string[]): boolean;
	/** Whether no row has a value in this column. Of a file, that isn't known before its end. */
	isEmpty(column: string): boolean;
	/** Some of the first rows, to suggest a column. */
	first: readonly FirstRow[];
};

/** `cells`: all of them, also without the name of a column. */
export type FirstRow = { json: ContactRow; cells: readonly unknown[] };

export const MAX_FIRST_ROWS = 20;

/** As a person counts rows. n8n numbers items from 0, and a sheet has a header. */
export const namesOfItems: RowNames = {
	one: (row) => `row ${row + 1}`,
	several: (rows) => describeRows(rows, (row) => row + 1),
	legend: 'Rows are counted in the input. A sheet numbers them differently.',
};

/** Rows in n8n's items. */
export class ItemRows implements RowSource {
	readonly notes = [];
	readonly maxOutputRows = Infinity;

	constructor(private readonly items: readonly ContactItem[]) {}

	get count(): number {
		return this.items.length;
	}

	/** Google Sheets adds `row_number`, which differs from the number of the item. */
	get names(): RowNames {
		if (typeof this.at(0).row_number !== 'number') return namesOfItems;
		const one = (row: number) => `the row with row_number ${plainText(this.at(row).row_number)}`;
		return { ...namesOfItems, one };
	}

	at(index: number): ContactRow {
		return this.items[index]?.json ?? {};
	}

	async columns(): Promise<FoundColumns[]> {
		const { items } = this;
		const names = new Set<string>();
		await this.each((row) => {
			for (const column in row) names.add(column);
		});
		if (names.size === 0 && items.some(({ binary }) => binary !== undefined)) throw unreadFile();
		const hasPath = (path: readonly string[]) => items.some(({ json = {} }) => has(json, path));
		const first = items
			.slice(0, MAX_FIRST_ROWS)
			.map(({ json = {} }) => ({ json, cells: Object.values(omit(json, 'row_number')) }));
		const isEmpty = (column: string) => items.every(({ json = {} }) => isBlank(json[column]));
		return [{ names, repeated: new Set(), hasPath, isEmpty, first }];
	}

	tableOf(): number {
		return 0;
	}

	async each(visit: Visit): Promise<void> {
		await this.pick(this.items.keys(), visit);
	}

	async pick(rows: Iterable<number>, visit: Visit): Promise<void> {
		const pauses = new Pauses(ROWS_PER_LOOK);
		for (const index of rows) {
			if (pauses.isDue()) await pauses.take();
			visit(this.at(index), index);
		}
	}

	async output(rows: readonly number[]): Promise<ContactRow[]> {
		return rows.map((row) => this.at(row));
	}

	inputOf(row: number): number {
		return this.items[row]?.input ?? row;
	}

	inputsOf(rows: RowSet): number[] {
		return uniq(Array.from(rows, (row) => this.inputOf(row)));
	}

	async close(): Promise<void> {}
}

function unreadFile(): InvalidInput {
	return new InvalidInput(
		'The input has files, but no rows, so nothing was sent',
		onScreenOnly(
			"For a CSV file, set 'Contacts From' to 'CSV File'. For other files, add an Extract from File node before this one.",
		),
	);
}

const MAX_RANGES = 100;

/** "rows 2 to 10001, 10005" */
export function describeRows(rows: RowSet, numberOf: (row: number) => number): string {
	const ranges: string[] = [];
	let end: number | undefined;
	for (const [first, last] of rows.ranges()) {
		if (ranges.length === MAX_RANGES) end = last;
		else if (first === last) ranges.push(String(numberOf(first)));
		else ranges.push(`${numberOf(first)} to ${numberOf(last)}`);
	}
	const more = end === undefined ? '' : `, and more up to ${numberOf(end)}`;
	return `row${rows.size === 1 ? '' : 's'} ${ranges.join(', ')}${more}`;
}
