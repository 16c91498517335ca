import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { isJsonObject, type JsonObject, parseJson } from '../shared/json';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { inputRows } from '../shared/n8n/toolRun';
import { isUnset } from '../shared/values';
import { isRowIndependent } from './rowIndependent';

/** The rows of a feed, and the input item that each came with. */
export type FeedRows = { items: INodeExecutionData[]; itemOf: (row: number) => number };

/** More than a model or a person writes; a sheet comes as input items. */
export const MOST_IN_JSON = 1_000;

const read = new WeakMap<IExecuteFunctions, FeedRows>();

/** @throws InvalidInput where the contacts are no list of objects */
export function feedRows(context: IExecuteFunctions): FeedRows {
	const rows =
		read.get(context) ?? (comesAsJson(context) ? rowsOfJson(context) : rowsOfInput(context));
	read.set(context, rows);
	return rows;
}

/** The same, and the input items as they are where the contacts cannot be read. */
export function knownRows(context: IExecuteFunctions): FeedRows {
	try {
		return feedRows(context);
	} catch {
		return rowsOfInput(context);
	}
}

export function comesAsJson(context: IExecuteFunctions): boolean {
	return new NodeParameters(context).value('contactsFrom', 0) === 'json';
}

function rowsOfInput(context: IExecuteFunctions): FeedRows {
	return { items: inputRows(context), itemOf: (row) => row };
}

function rowsOfJson(context: IExecuteFunctions): FeedRows {
	const parameters = new NodeParameters(context);
	const { contacts } = context.getNode().parameters;
	const isSame = typeof contacts !== 'string' || isRowIndependent(contacts);
	const input = context.getInputData();
	const rows = (isSame ? input.slice(0, 1) : input).flatMap((_item, index) =>
		contactsIn(parameters.value('contacts', index)).map((json) => ({ json, item: index })),
	);
	if (rows.length > MOST_IN_JSON) throw tooMany(rows.length);
	return { items: rows.map(({ json }) => ({ json })), itemOf: (row) => rows[row]?.item ?? 0 };
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
