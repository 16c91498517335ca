import { InvalidInput } from '../../shared/api/errors';
import { forEveryone, onScreenOnly } from '../../shared/api/modelAdvice';
import { quoted } from '../../shared/values';
import { holds, type Column } from './cells';
import {
	ROWS_PER_YIELD,
	ROWS_PER_YIELD_IN_FLIGHT,
	type YieldToEventLoop,
	type ContactItem,
	type ContactRow,
} from './pushTypes';
import { pairsOf, rangesOf } from './checkpoint';

/** The rows of a push, wherever they lie: in n8n’s items, or in files that are read as rows are needed. */
export type RowSource = {
	/** Of files, once they were gone through. */
	readonly count: number;
	readonly names: RowNames;
	/** How files were read, where there are any: read in another way, they may have other rows. */
	readonly reading?: string | undefined;
	/** What columns there are. */
	columns(): Promise<FoundColumns>;
	/** Every row, in order; other work of the process goes on in between. */
	each(visit: Visit): Promise<void>;
	/** These rows, given in their order. */
	pick(rows: readonly number[], visit: Visit): Promise<void>;
};

/**
 * @param unusable why the row cannot be used, whatever its cells hold
 * @param file which of several files the row is in, from 0
 */
export type Visit = (row: ContactRow, index: number, unusable?: string, file?: number) => void;

/** What a person calls rows. */
export type RowNames = {
	/** "item 3" */
	one(row: number): string;
	/** "items 0 to 9999, 10004" */
	several(rows: readonly number[]): string;
	/** What the numbers count, where it must be said. */
	legend?: string;
};

/** The columns of a push, and what else shows where they are looked for. */
export type FoundColumns = {
	/** In the order of their first appearance; rows need not be alike. */
	names: ReadonlySet<string>;
	/** Those that stand more than once in the header of a file. */
	twice?: ReadonlySet<string>;
	/** Whether any row has something inside a column. */
	hasWithin(column: Column): boolean;
	/** What most often hides behind a missing phone column. */
	slip(): InvalidInput | undefined;
	/** Of one of several files, its name. */
	file?: string;
	/** Of several files, what each has. */
	files?: readonly FoundColumns[];
};

/** Rows that n8n holds. */
export class ItemRows implements RowSource {
	readonly names = namesOfItems;

	constructor(
		private readonly items: readonly ContactItem[],
		private readonly breathe: YieldToEventLoop,
		private readonly areFromJson = false,
	) {}

	get count(): number {
		return this.items.length;
	}

	async columns(): Promise<FoundColumns> {
		const { items } = this;
		const names = new Set<string>();
		await this.each((row) => {
			for (const column in row) names.add(column);
		});
		return {
			names,
			hasWithin: (column) => items.some(({ json }) => holds(json, column)),
			slip: () =>
				items.some(({ binary }) => binary !== undefined)
					? unreadFile()
					: wrappedRows(items, this.areFromJson),
		};
	}

	async each(visit: Visit): Promise<void> {
		let index = 0;
		for (const { json } of this.items) {
			if (index % ROWS_PER_YIELD === 0 && index > 0) await this.breathe();
			visit(json, index);
			index++;
		}
	}

	async pick(rows: readonly number[], visit: Visit): Promise<void> {
		for (const [place, index] of rows.entries()) {
			if (place % ROWS_PER_YIELD_IN_FLIGHT === 0) await this.breathe();
			visit(this.items[index]?.json ?? {}, index);
		}
	}
}

/** All rows in a list inside one item. */
function wrappedRows(
	items: readonly ContactItem[],
	areFromJson: boolean,
): InvalidInput | undefined {
	const [first, ...others] = items;
	if (first === undefined || others.length > 0) return undefined;
	for (const [name, cell] of Object.entries(first.json)) {
		if (!isListOfRows(cell)) continue;
		if (areFromJson) {
			return new InvalidInput(
				`The contacts are inside ${quoted(name)}, so nothing was sent`,
				forEveryone(`Give the list itself, without ${quoted(name)} around it.`),
			);
		}
		return new InvalidInput(
			`The rows are inside a list: ${quoted(name)} of the one input item holds ${cell.length} of them, and this node takes each row as an item of its own. Nothing was sent`,
			onScreenOnly(
				`Put a Split Out node before this one, with ${quoted(name)} in Fields To Split Out.`,
			),
		);
	}
	return undefined;
}

function unreadFile(): InvalidInput {
	return new InvalidInput(
		'The input is a file whose rows have not been read yet, so nothing was sent',
		onScreenOnly(
			'For a CSV file, set Contacts From to CSV File. For any other file, put an Extract from File node before this one, to turn it into rows.',
		),
	);
}

function isListOfRows(cell: unknown): cell is unknown[] {
	if (!Array.isArray(cell) || cell.length === 0) return false;
	return cell.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row));
}

/** n8n numbers items from 0. */
export const namesOfItems: RowNames = {
	one: (row) => `item ${row}`,
	several: (rows) => describeRows(rows, 'item', (row) => row),
};

const SHOWN_RANGES = 100;

/** "rows 2 to 10001, 10005" */
export function describeRows(
	rows: readonly number[],
	noun: string,
	numberOf: (row: number) => number,
): string {
	const pairs = pairsOf(rangesOf([...rows].sort((one, other) => one - other)));
	const shown = pairs
		.slice(0, SHOWN_RANGES)
		.map(([first, last]) =>
			first === last ? String(numberOf(first)) : `${numberOf(first)} to ${numberOf(last)}`,
		);
	const end = pairs.slice(SHOWN_RANGES).at(-1)?.[1];
	const more = end === undefined ? '' : `, and further ones up to ${numberOf(end)}`;
	return `${noun}${rows.length === 1 ? '' : 's'} ${shown.join(', ')}${more}`;
}
