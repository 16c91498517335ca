import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput, NotSent } from '../core/service/errors';
import { isJsonObject, MAX_VALUES, parseJson, valuesIn } from '../core/values/json';
import { requireAllItems } from '../host/run/executeOnce';
import type { OperationRun } from '../host/run/operations';
import { messageOf, plainText, quoted } from '../core/values/values';
import { EXAMPLE_CONTACTS, MAX_ROWS_IN_JSON } from './properties';
import { rowsOfFiles, type Source } from './push/csv';
import { type ContactItem, type PushInput, rowsOfItems } from './push/rows';

/**
 * The rows of a push, by *Contacts From*.
 *
 * @throws InvalidInput if they can't be read
 */
export async function readRows(run: OperationRun): Promise<PushInput> {
	const { caller, parameters } = run;
	const from = parameters.at(0).choice('contactsFrom', 'items');
	const isTool = caller.kind === 'model';
	if (isTool && from === 'json') return await rowsOfItems(contactsInJson(run));
	if (!isTool && from === 'pasted') return await rowsOfFiles([pastedRows(run)]);
	requireAllItems(run);
	if (!isTool && from === 'csv') return await rowsOfFiles(filesOfInput(run));
	if (from === 'items') return await rowsOfItems(inputItems(run));
	const choices = isTool
		? "'Input Items' or 'JSON'"
		: "'CSV File', 'Input Items', or 'Pasted Rows'";
	throw new InvalidInput(
		`'Contacts From' must be ${choices} (got "${from}"), so nothing was sent`,
		`In n8n, choose ${choices}.`,
	);
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

/** A list of contacts, or a single one, that a model gives. */
function contactsInJson({ parameters }: OperationRun): ContactItem[] {
	const value = parameters.at(0).jsonRows('contacts');
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	const list = Array.isArray(parsed) ? parsed : [parsed];
	if (list.length > MAX_ROWS_IN_JSON) {
		const [max, given] = [MAX_ROWS_IN_JSON, list.length].map((n) => n.toLocaleString('en-US'));
		throw new InvalidInput(
			`'Contacts' has ${given} contacts, but JSON input is limited to ${max}. Nothing was sent`,
			`Send at most ${max} at a time.`,
		);
	}
	return list.map((json) => {
		if (isJsonObject(json)) return { json };
		throw new InvalidInput(
			"'Contacts' must be a JSON array of objects. Nothing was sent",
			`Write each contact as an object with its phone number, such as ${EXAMPLE_CONTACTS}.`,
		);
	});
}

/** Spreadsheet programs copy cells as text with tabs. The text of a CSV file can be pasted, too. */
function pastedRows({ context, parameters }: OperationRun): Source {
	if (parameters.at(0).text('pastedRows') === '') {
		throw new InvalidInput(
			"'Rows' is empty, so nothing was sent",
			'Copy the rows in your spreadsheet program, with the names of the columns, and paste them.',
		);
	}
	// Not trimmed, because the first cell, and the last one, can be empty.
	const text = plainText(context.getNodeParameter('pastedRows', 0));
	// The byte order mark says that it's UTF-8, also if a character was damaged before.
	const open = () => Buffer.from(`\uFEFF${text.replace(/^\uFEFF/, '')}\n`);
	return { label: "'Rows'", open, item: 0 };
}

/** All CSV files in the input, whatever their fields are called. */
function filesOfInput({ context }: OperationRun): Source[] {
	const files = context.getInputData().flatMap((data, item) => {
		const found = filesOf(context, data);
		if (found.length > 0) return found.map((file) => ({ file, item }));
		throw new InvalidInput(
			`Row ${item + 1} of the input has no file, so nothing was sent`,
			"Connect a node that returns the CSV file, such as HTTP Request, Google Drive, or a form, because other nodes may drop it. If the items are rows, set 'Contacts From' to 'Input Items'.",
		);
	});
	const names = new Map<string, number>();
	return files.map(({ file: { id, data, fileName: given = 'data' }, item }): Source => {
		// Otherwise, nobody could tell their rows apart in a message.
		const nth = (names.get(given) ?? 0) + 1;
		names.set(given, nth);
		const fileName = nth === 1 ? given : `${given} (${nth})`;
		const label = `the file ${quoted(fileName)}`;
		const open = async () =>
			id === undefined ? Buffer.from(data, 'base64') : await storedFile(context, label, id);
		return { label, open, item, ...(files.length > 1 && { file: fileName }) };
	});
}

/**
 * With *Execution Logic* v2 of a workflow, n8n has files in the fields of an item. Otherwise, such a field is data from
 * outside, and could name any file that n8n stores.
 */
function filesOf(
	context: IExecuteFunctions,
	{ json, binary = {} }: INodeExecutionData,
): IBinaryData[] {
	const files = Object.values(binary);
	if (files.length > 0 || !isJsonObject(json) || !hasFilesInFields(context)) return files;
	return Array.from<unknown>(valuesIn(json, MAX_VALUES)).filter(isFile);
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

async function storedFile(
	{ helpers }: IExecuteFunctions,
	label: string,
	id: string,
): Promise<Buffer> {
	try {
		return await helpers.binaryToBuffer(await helpers.getBinaryStream(id));
	} catch (error) {
		throw notReadable(label, error);
	}
}

function notReadable(label: string, error: unknown): NotSent {
	return new NotSent(
		`n8n couldn't read ${label} to its end, so nothing was sent`,
		'Try again. If n8n has deleted the file, load it again first.',
		{ originalMessage: messageOf(error), isTransient: false, origin: 'n8n' },
	);
}
