import uniq from 'lodash/uniq';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../shared/json';
import { givenAs } from '../shared/modelForms';
import type { Fields } from '../shared/n8n/forms/fields';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { inputRows } from '../shared/n8n/tools/toolRun';
import type { ContactsFrom } from './push/columns';
import { openCsvFiles } from './csvRows';
import { ItemRows, type RowSource } from './push/rows';
import { isRowIndependent } from './rowIndependent';

/** The rows of a push, and what n8n knows of them. */
export type InputRows = {
	source: RowSource;
	/** What a person should know of how they were read. */
	notes?: readonly string[];
	/** Rows as they came in, given in their order. */
	output(rows: readonly number[]): Promise<IDataObject[]>;
	/** The input item that a row came with. */
	inputOf(row: number): number;
	/** Those that rows came with, each once. */
	inputsOf(rows: readonly number[]): number[];
	/** Lets go of what is open. */
	close(): Promise<void>;
};

/** More than a model or a person writes; a sheet comes as input items. */
export const MAX_ROWS_IN_JSON = 1_000;

const yieldToEventLoop = async () => await sleep(0);

/** By run. */
const opened = new WeakMap<OperationRun, InputRows>();

/** @throws InvalidInput where they cannot be read */
export async function openRows(run: OperationRun): Promise<InputRows> {
	const rows = opened.get(run) ?? (await open(run));
	opened.set(run, rows);
	return rows;
}

async function open(run: OperationRun): Promise<InputRows> {
	const from = contactsFrom(run.parameters.at(0));
	if (from === 'csv') return await rowsOfFiles(run);
	return from === 'json' ? await rowsOfJson(run) : rowsOfInput(run.context);
}

/** The same, with their count, and the input items as they are where the contacts cannot be read. */
export async function knownRows(run: OperationRun): Promise<InputRows> {
	try {
		const rows = await openRows(run);
		if (rows.source.count === 0) await rows.source.each(() => undefined);
		return rows;
	} catch {
		return rowsOfInput(run.context);
	}
}

/** Afterwards, whatever came of it. */
export async function closeRows(run: OperationRun): Promise<void> {
	await opened.get(run)?.close();
}

export function contactsFrom(form: Fields): ContactsFrom {
	const from = form.choice('contactsFrom', 'items');
	return from === 'json' || from === 'csv' ? from : 'items';
}

function rowsOfInput(context: IExecuteFunctions): InputRows {
	const inputs = {
		inputOf: (row: number) => row,
		inputsOf: (rows: readonly number[]) => [...rows],
	};
	return rowsOf(inputRows(context), false, inputs);
}

async function rowsOfFiles(run: OperationRun): Promise<InputRows> {
	const source = await openCsvFiles(run);
	return {
		source,
		notes: source.notes,
		output: async (rows) => await source.output(rows),
		inputOf: (row) => source.fileOf(row),
		inputsOf: (rows) => uniq(rows.map((row) => source.fileOf(row))),
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
	return rowsOf(items, true, { inputOf, inputsOf: (indexes) => uniq(indexes.map(inputOf)) });
}
/** A list of contacts, or one alone; none where nothing is set. */
function contactsIn(value: JsonValue | undefined): JsonObject[] {
	if (value === undefined) return [];
	const given = typeof value === 'string' ? parseJson(value) : value;
	const list = Array.isArray(given) ? given : [given];
	if (list.every(isJsonObject)) return list;
	throw new InvalidInput(
		'Contacts are no JSON list of objects, so nothing was sent',
		givenAs(
			'Contacts',
			'Write each contact as an object with its phone number, such as [{ "phone": "9876543210", "person_name": "Asha Rao" }].',
		),
	);
}

function tooMany(count: number): InvalidInput {
	const [most, given] = [MAX_ROWS_IN_JSON, count].map((number) => number.toLocaleString('en-US'));
	return new InvalidInput(
		`Contacts hold ${given} contacts, and at most ${most} go as JSON, so nothing was sent`,
		forEveryone(`Give at most ${most} at a time; for a longer list, use input items, one per row.`),
	);
}
