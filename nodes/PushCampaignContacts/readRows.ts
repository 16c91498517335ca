import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput, NotSent } from '../core/service/errors';
import {
	isJsonObject,
	type JsonObject,
	type JsonValue,
	MAX_VALUES,
	parseJson,
	valuesIn,
} from '../core/values/json';
import type { Fields } from '../host/forms/fields';
import { mayNameRow } from '../host/caller/rows';
import { requireAllItems } from '../host/run/executeOnce';
import type { OperationRun } from '../host/run/operations';
import { forEachWithPauses } from '../core/values/pauses';
import { displayText, isUnset, messageOf, quoted } from '../core/values/values';
import { EXAMPLE_CONTACTS, MAX_ROWS_IN_JSON } from './properties';
import { rowsOfFiles, type Source } from './push/csv';
import { type ContactItem, type ContactsFrom, type PushInput, rowsOfItems } from './push/rows';

export function contactsFrom(form: Fields): ContactsFrom {
	const from = form.choice('contactsFrom', 'items');
	return from === 'json' || from === 'csv' || from === 'pasted' ? from : 'items';
}

/**
 * The rows of a push, by *Contacts From*.
 *
 * @throws InvalidInput if they can't be read
 */
export async function readRows(run: OperationRun): Promise<PushInput> {
	const from = contactsFrom(run.parameters.at(0));
	if (from === 'pasted') return await pastedRows(run);
	if (from === 'json') return await rowsOfItems(await contactsInJson(run));
	requireAllItems(run);
	if (from === 'csv') return await rowsOfFiles(filesOfInput(run));
	return await rowsOfItems(inputItems(run));
}

/** As a tool, only the row that asks. What the model gives is in JSON, so that it never replaces a column. */
function inputItems({ caller }: OperationRun): ContactItem[] {
	const rows = caller.inputRows();
	const isKnown = rows.some(({ json }) => Object.keys(json).length > 0);
	if (isKnown || caller.kind === 'workflow') return rows;
	throw new InvalidInput(
		"The tool pushes a row of the agent's input, and it isn't certain which one, so nothing was sent",
		"In n8n, set 'Contacts From' of the tool to 'JSON', so that the model gives the contacts. 'Input Items' needs AI Agent 3 or later, or an agent with one row at a time.",
	);
}

async function contactsInJson({ context, parameters }: OperationRun): Promise<ContactItem[]> {
	const mayDiffer = mayNameRow(parameters.at(0).expression('contacts'));
	const namesRow = mayDiffer && context.getInputData().length > 1;
	const contactsAt = (index: number) => {
		const found = parameters.at(index).jsonRows('contacts');
		const list = contactsIn(found, namesRow ? `In row ${index + 1}, ` : '');
		return list.map((json) => ({ json, input: index }));
	};
	const contacts: ReturnType<typeof contactsAt> = [];
	const items = mayDiffer ? context.getInputData().keys() : [0];
	await forEachWithPauses(items, (index) => {
		for (const contact of contactsAt(index)) contacts.push(contact);
	});
	if (contacts.length > MAX_ROWS_IN_JSON) {
		const [max, given] = [MAX_ROWS_IN_JSON, contacts.length].map((n) => n.toLocaleString('en-US'));
		throw new InvalidInput(
			`'Contacts' has ${given} contacts, but JSON input is limited to ${max}. Nothing was sent`,
			`Send at most ${max} at a time, or use input items with one row each.`,
		);
	}
	return contacts;
}

/**
 * A list of contacts, or a single one.
 *
 * @param where the beginning of an error message
 */
function contactsIn(value: JsonValue | undefined, where: string): JsonObject[] {
	if (isUnset(value)) {
		throw new InvalidInput(
			`${where}'Contacts' is empty. Nothing was sent`,
			`Enter a JSON array such as ${EXAMPLE_CONTACTS}.`,
		);
	}
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	const list = Array.isArray(parsed) ? parsed : [parsed];
	if (list.every(isJsonObject)) return list;
	throw new InvalidInput(
		`${where}'Contacts' must be a JSON array of objects. Nothing was sent`,
		`Write each contact as an object with its phone number, such as ${EXAMPLE_CONTACTS}.`,
	);
}

/** Spreadsheet programs copy cells as text with tabs. The text of a CSV file can be pasted, too. */
async function pastedRows({ context, parameters }: OperationRun): Promise<PushInput> {
	const trimmed = parameters.at(0).text('pastedRows');
	// The first cell, and the last one, can be empty.
	const written: unknown = context.getNodeParameter('pastedRows', 0);
	const text = (typeof written === 'string' ? written : trimmed).replace(/^\uFEFF/, '');
	// The byte order mark says that it's UTF-8, also if a character was damaged before.
	const open = () => Buffer.from(`\uFEFF${text}\n`);
	if (trimmed !== '') return await rowsOfFiles([{ name: 'Rows', isPasted: true, open, item: 0 }]);
	throw new InvalidInput(
		"'Rows' is empty, so nothing was sent",
		'Copy the rows in your spreadsheet program, with the names of the columns, and paste them.',
	);
}

/** All CSV files in the input, whatever their fields are called. */
function filesOfInput(run: OperationRun): Source[] {
	const { context, caller } = run;
	if (caller.kind === 'model') {
		throw new InvalidInput(
			"A tool can't read CSV files, so nothing was sent",
			"In n8n, set 'Contacts From' of the tool to 'JSON'.",
		);
	}
	const files: Source[] = [];
	const names = new Map<string, number>();
	for (const [item, data] of context.getInputData().entries()) {
		const found = filesOf(context, data);
		if (found.length === 0) throw noFile(context, item);
		for (const [field, { id, data, fileName = field }] of found) {
			const count = (names.get(fileName) ?? 0) + 1;
			names.set(fileName, count);
			const name = count === 1 ? fileName : `${fileName} (${count})`;
			const open = async () =>
				id === undefined ? Buffer.from(data, 'base64') : await storedFile(context, name, id);
			files.push({ name, open, item });
		}
	}
	return files;
}

type NamedFile = [field: string, file: IBinaryData];

/** A form stores its files at the same time, so their fields, such as List_0 and List_1, come in any order. */
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

/**
 * With *Execution Logic* v2 of a workflow, n8n has files in the fields of an item. Otherwise, such a field is data from
 * outside, and could name any file that n8n stores.
 */
function filesOf(
	context: IExecuteFunctions,
	{ json, binary = {} }: INodeExecutionData,
): NamedFile[] {
	const files = Object.entries(binary).sort(([one], [other]) => BY_NUMBER.compare(one, other));
	if (files.length > 0 || !isJsonObject(json) || !hasFilesInFields(context)) return files;
	return [...valuesIn(json, MAX_VALUES)].flatMap((value): NamedFile[] =>
		isFile(value) ? [['file', value]] : [],
	);
}

/** n8n 1 has neither the setting nor the method. */
function hasFilesInFields(context: IExecuteFunctions): boolean {
	return (
		'getWorkflowSettings' in context && context.getWorkflowSettings().binaryMode === 'combined'
	);
}

function isFile(value: unknown): value is IBinaryData {
	if (!isJsonObject(value)) return false;
	const { mimeType, data, id = '', fileName = '' } = value;
	return [mimeType, data, id, fileName].every((one) => typeof one === 'string');
}

function noFile(context: IExecuteFunctions, item: number): InvalidInput {
	const isOnly = context.getInputData().length === 1;
	const { previousNode = '' } = context.getExecuteData().source?.main?.[0] ?? {};
	const isTrigger = context.getParentNodes(previousNode).length === 0;
	const advice = isTrigger
		? 'Add a node that returns the CSV file, such as HTTP Request, Google Drive, or a form.'
		: `'${displayText(previousNode)}' before this node may have dropped it: keep the file there, or add a node after it that returns the CSV file.`;
	return new InvalidInput(
		`${isOnly ? 'The input' : `Row ${item + 1} of the input`} has no file, so nothing was sent`,
		`${advice} If the items are rows, set 'Contacts From' to 'Input Items'.`,
	);
}

async function storedFile(
	{ helpers }: IExecuteFunctions,
	name: string,
	id: string,
): Promise<Buffer> {
	try {
		return await helpers.binaryToBuffer(await helpers.getBinaryStream(id));
	} catch (error) {
		throw notReadable(name, error);
	}
}

function notReadable(name: string, error: unknown): NotSent {
	return new NotSent(
		`n8n couldn't read the file ${quoted(name)} to its end, so nothing was sent`,
		'Try again. If n8n has deleted the file, load it again first.',
		{ originalMessage: messageOf(error), isTransient: false, origin: 'n8n' },
	);
}
