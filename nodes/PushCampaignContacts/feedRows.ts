import uniq from 'lodash/uniq';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { isJsonObject, type JsonObject, parseJson } from '../shared/json';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { inputRows } from '../shared/n8n/toolRun';
import { isUnset } from '../shared/values';
import type { ContactsFrom } from './feed/columns';
import { openCsvFiles } from './csvRows';
import { ItemRows, type FeedRows } from './feed/rows';
import { isRowIndependent } from './rowIndependent';

/** The rows of a feed, and what n8n knows of them. */
export type InputRows = {
	feed: FeedRows;
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
export const MOST_IN_JSON = 1_000;

const breathe = async () => await sleep(0);

const opened = new WeakMap<IExecuteFunctions, InputRows>();

/** @throws InvalidInput where they cannot be read */
export async function openRows(context: IExecuteFunctions): Promise<InputRows> {
	const rows = opened.get(context) ?? (await open(context));
	opened.set(context, rows);
	return rows;
}

async function open(context: IExecuteFunctions): Promise<InputRows> {
	const from = contactsFrom(context);
	if (from === 'csv') return await rowsOfFiles(context);
	return from === 'json' ? rowsOfJson(context) : rowsOfInput(context);
}

/** The same, with their count, and the input items as they are where the contacts cannot be read. */
export async function knownRows(context: IExecuteFunctions): Promise<InputRows> {
	try {
		const rows = await openRows(context);
		if (rows.feed.count === 0) await rows.feed.each(() => undefined);
		return rows;
	} catch {
		return rowsOfInput(context);
	}
}

/** Afterwards, whatever came of it. */
export async function closeRows(context: IExecuteFunctions): Promise<void> {
	await opened.get(context)?.close();
}

export function contactsFrom(context: IExecuteFunctions): ContactsFrom {
	const from = new NodeParameters(context).value('contactsFrom', 0);
	return from === 'json' || from === 'csv' ? from : 'items';
}

function rowsOfInput(context: IExecuteFunctions): InputRows {
	const inputs = {
		inputOf: (row: number) => row,
		inputsOf: (rows: readonly number[]) => [...rows],
	};
	return rowsOf(inputRows(context), false, inputs);
}

async function rowsOfFiles(context: IExecuteFunctions): Promise<InputRows> {
	const feed = await openCsvFiles(context);
	return {
		feed,
		output: async (rows) => await feed.output(rows),
		inputOf: (row) => feed.fileOf(row),
		inputsOf: (rows) => uniq(rows.map((row) => feed.fileOf(row))),
		close: async () => await feed.close(),
	};
}

function rowsOf(
	items: readonly INodeExecutionData[],
	areFromJson: boolean,
	inputs: Pick<InputRows, 'inputOf' | 'inputsOf'>,
): InputRows {
	return {
		feed: new ItemRows(items, breathe, areFromJson),
		output: async (rows) => rows.map((row) => items[row]?.json ?? {}),
		...inputs,
		close: async () => {},
	};
}

function rowsOfJson(context: IExecuteFunctions): InputRows {
	const parameters = new NodeParameters(context);
	const { contacts } = context.getNode().parameters;
	const isSame = typeof contacts !== 'string' || isRowIndependent(contacts);
	const input = context.getInputData();
	const rows = (isSame ? input.slice(0, 1) : input).flatMap((_item, index) =>
		contactsIn(parameters.value('contacts', index)).map((json) => ({ json, item: index })),
	);
	if (rows.length > MOST_IN_JSON) throw tooMany(rows.length);
	const items = rows.map(({ json }) => ({ json }));
	const inputOf = (row: number) => rows[row]?.item ?? 0;
	return rowsOf(items, true, { inputOf, inputsOf: (indexes) => uniq(indexes.map(inputOf)) });
}
/** A list of contacts, or one alone; none where nothing is set. */
function contactsIn(value: unknown): JsonObject[] {
	const given: unknown = typeof value === 'string' && !isUnset(value) ? parseJson(value) : value;
	const list: unknown[] = Array.isArray(given) ? given : isUnset(value) ? [] : [given];
	if (list.every(isJsonObject)) return list;
	throw new InvalidInput(
		'Contacts are no JSON list of objects, so nothing was sent',
		'Write each contact as an object with its phone number, such as [{ "phone": "9876543210", "person_name": "Asha Rao" }].',
	);
}

function tooMany(count: number): InvalidInput {
	const [most, given] = [MOST_IN_JSON, count].map((number) => number.toLocaleString('en-US'));
	return new InvalidInput(
		`Contacts hold ${given} contacts, and at most ${most} go as JSON, so nothing was sent`,
		`Give at most ${most} at a time; for a longer list, use input items, one per row.`,
	);
}
