import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput, NotSent } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../shared/json';
import { givenAs } from '../shared/modelFormats';
import type { Fields } from '../shared/n8n/forms/fields';
import type { OperationRun } from '../shared/n8n/run/operations';
import { toolRow } from '../shared/n8n/tools/askingRow';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { forEachWithPauses } from '../shared/pauses';
import { counted, isUnset, messageOf, quoted } from '../shared/values';
import { FileRows } from './file/fileRows';
import { EXAMPLE_CONTACTS, MAX_ROWS_IN_JSON } from './properties';
import type { ContactsFrom } from './push/columns';
import { ItemRows, type RowSource } from './push/rows';
import { mayNameRow } from './sameForAllRows';

export function contactsFrom(form: Fields): ContactsFrom {
	const from = form.choice('contactsFrom', 'items');
	return from === 'json' || from === 'csv' ? from : 'items';
}

/**
 * The rows of a push, by *Contacts From*.
 *
 * @throws InvalidInput if they can't be read
 */
export async function openRows(run: OperationRun): Promise<RowSource> {
	const from = contactsFrom(run.parameters.at(0));
	if (from === 'csv') return await openFile(run);
	return from === 'json' ? await contactsInJson(run) : rowsOfInput(run.context);
}

/** As a tool, only the row that asks. What the model gives is in JSON, so that it never replaces a column. */
function rowsOfInput(context: IExecuteFunctions): RowSource {
	if (!runsAsTool(context)) return new ItemRows(context.getInputData());
	const json = toolRow(context) ?? {};
	if (Object.keys(json).length > 0) return new ItemRows([{ json }]);
	throw new InvalidInput(
		"The tool pushes a row of the agent's input, and it isn't certain which one, so nothing was sent",
		onScreenOnly(
			"Set 'Contacts From' of the tool to 'JSON', so that the model gives the contacts. 'Input Items' needs AI Agent 3 or later, or an agent with one row at a time.",
		),
	);
}

async function contactsInJson({ context, parameters }: OperationRun): Promise<RowSource> {
	const mayDiffer = mayNameRow(parameters.at(0).expression('contacts'));
	const namesItem = mayDiffer && context.getInputData().length > 1;
	const contactsAt = (index: number) => {
		const found = parameters.at(index).jsonRows('contacts');
		const list = contactsIn(found, namesItem ? `In item ${index}, ` : '');
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
			forEveryone(`Send at most ${max} at a time, or use input items with one row each.`),
		);
	}
	return new ItemRows(contacts);
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
			givenAs('Contacts', `Enter a JSON array such as ${EXAMPLE_CONTACTS}.`),
		);
	}
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	const list = Array.isArray(parsed) ? parsed : [parsed];
	if (list.every(isJsonObject)) return list;
	throw new InvalidInput(
		`${where}'Contacts' must be a JSON array of objects. Nothing was sent`,
		givenAs(
			'Contacts',
			`Write each contact as an object with its phone number, such as ${EXAMPLE_CONTACTS}.`,
		),
	);
}

/** The rows of the CSV file in the only item. */
async function openFile({ context, parameters }: OperationRun): Promise<RowSource> {
	if (runsAsTool(context)) {
		throw new InvalidInput(
			"A tool can't read CSV files, so nothing was sent",
			onScreenOnly("Set 'Contacts From' of the tool to JSON."),
		);
	}
	const { length: items } = context.getInputData();
	if (items > 1) {
		throw new InvalidInput(
			`The input has ${counted(items, 'item')}, but a push reads one CSV file. Nothing was sent`,
			onScreenOnly(
				"To push several files, add a Loop Over Items node before this one, and connect both outputs back to it. If the items are rows, set 'Contacts From' to 'Input Items'.",
			),
		);
	}
	const field = parameters.at(0).text('binaryPropertyName');
	const { id, data, fileName: name = field } = context.helpers.assertBinaryData(0, field);
	return await FileRows.open({
		name,
		open: () =>
			id === undefined
				? [Buffer.from(data, 'base64')]
				: readable(name, context.helpers.getBinaryStream(id)),
	});
}

async function* readable(
	name: string,
	stream: Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
	try {
		yield* await stream;
	} catch (error) {
		throw notReadable(name, error);
	}
}

function notReadable(name: string, error: unknown): NotSent {
	return new NotSent(
		`n8n couldn't read the file ${quoted(name)} to its end, so the remaining rows weren't sent`,
		onScreenOnly('Push only the remaining rows. If n8n has deleted the file, load it again first.'),
		{ originalMessage: messageOf(error), isTransient: false, origin: 'n8n' },
	);
}
