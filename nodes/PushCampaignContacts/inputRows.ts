import uniq from 'lodash/uniq';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../shared/json';
import { givenAs } from '../shared/modelForms';
import type { Fields } from '../shared/n8n/forms/fields';
import { isUnset } from '../shared/values';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { inputRows } from '../shared/n8n/tools/toolRun';
import type { ContactsFrom } from './push/columns';
import { openCsvFiles } from './csvRows';
import { ItemRows, type RowSource } from './push/rows';
import type { RowSet } from './push/rowSet';
import { isRowIndependent } from './rowIndependent';

/** The rows of a push, and the input items they belong to. */
export type InputRows = {
	source: RowSource;
	/** Hints about how the files were read. */
	notes?: readonly string[];
	/**
	 * Rows for the output, in the given order.
	 *
	 * @param withoutCells rows of files that are returned as `source_file` and `source_row` only
	 */
	output(rows: readonly number[], withoutCells?: RowSet): Promise<IDataObject[]>;
	/** The input item of a row. */
	inputOf(row: number): number;
	/** The input items of several rows, each once. */
	inputsOf(rows: RowSet): number[];
	close(): Promise<void>;
};

/** With the names of the columns that the node finds by default. */
export const EXAMPLE_CONTACTS = '[{ "phone": "9876543210", "person_name": "Asha Rao" }]';

/** Enough for what a model or a person writes. */
export const MAX_ROWS_IN_JSON = 1_000;

const yieldToEventLoop = async () => await sleep(0);

/** The rows of a node run, opened once. */
export class InputRowsOfRun {
	private opened: InputRows | undefined;

	constructor(private readonly run: OperationRun) {}

	/** @throws InvalidInput if they can't be read */
	async open(): Promise<InputRows> {
		const rows = this.opened ?? (await openSource(this.run));
		this.opened = rows;
		return rows;
	}

	/** The rows, already counted. If they can't be read, the input items. */
	async openOrInputItems(): Promise<InputRows> {
		try {
			const rows = await this.open();
			if (rows.source.count === 0) await rows.source.each(() => undefined);
			return rows;
		} catch {
			return rowsOfInput(this.run.context);
		}
	}

	async close(): Promise<void> {
		await this.opened?.close();
	}
}

async function openSource(run: OperationRun): Promise<InputRows> {
	const from = contactsFrom(run.parameters.at(0));
	if (from === 'csv') return await rowsOfFiles(run);
	return from === 'json' ? await rowsOfJson(run) : rowsOfInput(run.context);
}

export function contactsFrom(form: Fields): ContactsFrom {
	const from = form.choice('contactsFrom', 'items');
	return from === 'json' || from === 'csv' ? from : 'items';
}

function rowsOfInput(context: IExecuteFunctions): InputRows {
	const inputs = {
		inputOf: (row: number) => row,
		inputsOf: (rows: RowSet) => [...rows],
	};
	return rowsOf(inputRows(context), false, inputs);
}

async function rowsOfFiles(run: OperationRun): Promise<InputRows> {
	const source = await openCsvFiles(run);
	return {
		source,
		notes: source.notes,
		output: async (rows, withoutCells) => await source.output(rows, withoutCells),
		inputOf: (row) => source.fileOf(row),
		inputsOf: (rows) => source.filesOf(rows),
		close: async () => await source.close(),
	};
}

function rowsOf(
	items: readonly INodeExecutionData[],
	areFromJson: boolean,
	inputs: Pick<InputRows, 'inputOf' | 'inputsOf'>,
): InputRows {
	return {
		source: new ItemRows(items, yieldToEventLoop, areFromJson),
		output: async (rows) => rows.map((row) => items[row]?.json ?? {}),
		...inputs,
		close: async () => {},
	};
}

async function rowsOfJson({ context, parameters }: OperationRun): Promise<InputRows> {
	const isSame = isRowIndependent(parameters.at(0).expression('contacts'));
	const rowsAt = (index: number) =>
		contactsIn(parameters.at(index).jsonRows('contacts')).map((json) => ({ json, item: index }));
	const rows = isSame ? rowsAt(0) : (await readEachItem(context, rowsAt)).flat();
	if (rows.length > MAX_ROWS_IN_JSON) throw tooMany(rows.length);
	const items = rows.map(({ json }) => ({ json }));
	const inputOf = (row: number) => rows[row]?.item ?? 0;
	const inputsOf = (indexes: RowSet) => uniq(Array.from(indexes, inputOf));
	return rowsOf(items, true, { inputOf, inputsOf });
}

/** A list of contacts, or a single one. */
function contactsIn(value: JsonValue | undefined): JsonObject[] {
	if (isUnset(value)) {
		throw new InvalidInput(
			"'Contacts' is empty. Nothing was sent",
			givenAs('Contacts', `Enter a JSON array such as ${EXAMPLE_CONTACTS}.`),
		);
	}
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	const list = Array.isArray(parsed) ? parsed : [parsed];
	if (list.every(isJsonObject)) return list;
	throw new InvalidInput(
		"'Contacts' must be a JSON array of objects. Nothing was sent",
		givenAs(
			'Contacts',
			`Write each contact as an object with its phone number, such as ${EXAMPLE_CONTACTS}.`,
		),
	);
}

function tooMany(count: number): InvalidInput {
	const [max, given] = [MAX_ROWS_IN_JSON, count].map((number) => number.toLocaleString('en-US'));
	return new InvalidInput(
		`'Contacts' has ${given} contacts, but JSON input is limited to ${max}. Nothing was sent`,
		forEveryone(`Send at most ${max} at a time, or use input items with one row each.`),
	);
}
