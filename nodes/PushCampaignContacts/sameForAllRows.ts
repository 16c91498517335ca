import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import type { JsonValue } from '../shared/json';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { readEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { isRowIndependent, mayNameRow } from './rowIndependent';

/** A field that a push reads from the first row. */
type PushField = {
	label: string;
	name: string;
	read: (fields: Fields, name: string) => JsonValue;
};

const asText: PushField['read'] = (fields, name) => fields.text(name, MAY_BE_BLANK);
const asWritten: PushField['read'] = (fields, name) => fields.textAsWritten(name, MAY_BE_BLANK);
const asList: PushField['read'] = (fields, name) => fields.textOrList(name, MAY_BE_BLANK);
const asSwitch: PushField['read'] = (fields, name) => fields.switch(name, null);
const asNumber: PushField['read'] = (fields, name) => fields.number(name, null);
const asChoice: PushField['read'] = (fields, name) => fields.choice(name, null);
const asObject: PushField['read'] = (fields, name) => fields.jsonObject(name);

const FIELDS: readonly PushField[] = [
	{ label: 'Campaign', name: 'campaignId', read: asText },
	{ label: 'Agent', name: 'agentUuid', read: asText },
	{ label: 'Release to Calling Queue', name: 'enqueue', read: asSwitch },
];

/** In 'Options'. */
const OPTIONS: readonly PushField[] = [
	{ label: 'Delimiter', name: 'delimiter', read: asWritten },
	{ label: 'Dry Run', name: 'dryRun', read: asSwitch },
	{ label: 'Encoding', name: 'encoding', read: asChoice },
	{ label: 'Output', name: 'output', read: asChoice },
	{ label: 'Skip Numbers Pushed Before', name: 'skipPushedBefore', read: asSwitch },
];

/** In 'Developer Settings'. */
const SETTINGS: readonly PushField[] = [
	{ label: 'Additional Body Fields', name: 'additionalBodyFields', read: asObject },
	{ label: 'Additional Query Fields', name: 'additionalQueryParameters', read: asObject },
	{ label: 'Contacts per Request', name: 'contactsPerRequest', read: asNumber },
];

const COLUMNS: readonly PushField[] = [
	{ label: 'Phone Column', name: 'phoneColumn', read: asText },
	{ label: 'Person Name Column', name: 'personNameColumn', read: asText },
	{ label: 'Columns to Send', name: 'columnsToSend', read: asList },
];
const COLUMN_OPTIONS: readonly PushField[] = [
	{ label: 'Last Name Column', name: 'lastNameColumn', read: asText },
];

const inOptions = (form: Fields) => form.collection('options');
const inSettings = (form: Fields) => form.collection('developerSettings');

/** @throws InvalidInput if a field, except those for columns, differs between rows */
export async function requireSameSettings(run: OperationRun): Promise<void> {
	for (const field of FIELDS) await requireSame(run, field);
	for (const field of OPTIONS) await requireSame(run, field, inOptions);
	for (const field of SETTINGS) await requireSame(run, field, inSettings);
}

/**
 * Called when the columns are found, because an expression that returns a value instead of a name also differs.
 *
 * @throws InvalidInput if a field for columns differs between rows
 */
export async function requireSameColumns(run: OperationRun): Promise<void> {
	for (const field of COLUMNS) await requireSame(run, field);
	for (const field of COLUMN_OPTIONS) await requireSame(run, field, inOptions);
}

/** A row for another campaign, for example, must not end up in the campaign of the first row. */
async function requireSame(
	{ context, parameters }: OperationRun,
	{ label, name, read }: PushField,
	fieldsOf = (form: Fields) => form,
): Promise<void> {
	const fieldsAt = (index: number) => fieldsOf(parameters.at(index));
	const expression = fieldsAt(0).expression(name);
	if (isRowIndependent(expression) || !mayNameRow(expression)) return;
	const readAt = (index: number) => JSON.stringify(read(fieldsAt(index), name));
	const first = readAt(0);
	await readEachItem(context, (index) => {
		if (readAt(index) === first) return;
		throw new InvalidInput(
			`'${label}' differs between rows (row 1 and row ${index + 1}), so nothing was sent`,
			onScreenOnly(
				`A push has one value of '${label}' for all rows. Split the rows first, for example with a Switch or Loop Over Items node, or enter a fixed value in '${label}'.`,
			),
		);
	});
}
