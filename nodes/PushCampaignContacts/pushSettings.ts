import uniqBy from 'lodash/uniqBy';
import type { INodeProperties } from 'n8n-workflow';
import type { Additions } from '../core/service/endpoints';
import { InvalidInput } from '../core/service/errors';
import { parseAgentUuid, parseCampaignId } from '../core/service/parseIds';
import { LIMITS } from '../core/service/limits';
import type { Fields } from '../host/forms/fields';
import type { OperationRun } from '../host/run/operations';
import { readAdditions } from '../host/forms/options';
import { mayNameRow } from '../host/caller/rows';
import type { JsonValue } from '../core/values/json';
import { forEachWithPauses } from '../core/values/pauses';
import { rowNumberIn } from '../core/values/sheetCells';
import { parseList } from '../core/values/values';
import type { CampaignTarget } from './push/sendRows';
import type { ColumnChoice } from './push/columns';
import { pushFields } from './properties';

export type PushSettings = {
	campaign: CampaignTarget;
	contactsPerRequest: number;
	additions: Additions;
	/** Send nothing. */
	checksOnly: boolean;
	/** Whether to push a number to the campaign once over all executions of the workflow. */
	skipPushedBefore: boolean;
};

/** Settings apply to the whole push, so they are read from the first row. */
const FIRST = 0;

/** Whether *Pushed* has the summary. */
export function choosesSummary(form: Fields): boolean {
	return form.collection('options').choice('output', 'rows') === 'summary';
}

export async function readPushSettings(
	run: OperationRun,
): Promise<PushSettings & { columns: ColumnChoice }> {
	await requireSameForAllRows(run);
	const form = run.parameters.at(FIRST);
	const whatToDo = form.choice('whatToDo', 'check');
	const options = form.collection('options');
	return {
		campaign: {
			id: parseCampaignId(form.text('campaignId')),
			agentUuid: parseAgentUuid(form.text('agentUuid')),
			enqueue: whatToDo === 'release',
		},
		columns: {
			phone: phoneColumn(form),
			personName: form.text('personNameColumn'),
			others: readOtherColumns(options),
		},
		contactsPerRequest: options.wholeNumber('contactsPerRequest') ?? LIMITS.contactsPerRequest,
		additions: readAdditions(options),
		checksOnly: whatToDo !== 'release' && whatToDo !== 'wait',
		skipPushedBefore: form.choice('numbersPushedBefore', 'skipNumbers') !== 'pushAgain',
	};
}

function phoneColumn(form: Fields): string {
	const column = form.text('phoneColumn');
	if (column !== '') return column;
	throw new InvalidInput(
		"'Phone Column' is empty, so nothing was sent",
		'Enter the name of the column with the phone numbers.',
	);
}

function readOtherColumns(options: Fields): ColumnChoice['others'] {
	return options.has('columnsToSend') ? parseList(options.textOrList('columnsToSend')) : 'all';
}

/** A field, in a collection or directly in the form. */
type Place = { field: INodeProperties; collection?: string };

const PLACES: readonly Place[] = uniqBy(
	pushFields.flatMap((field): Place[] => {
		// The description of a tool isn't read.
		if (field.type === 'hidden') return [];
		// Contacts in JSON are read from each item.
		if (field.type !== 'collection') return field.name === 'contacts' ? [] : [{ field }];
		const members = (field.options ?? []).filter((option) => 'type' in option);
		return members.map((member) => ({ field: member, collection: field.name }));
	}),
	({ field }) => field.name,
);

/**
 * A row for another campaign, for example, must not end up in the campaign of the first row.
 *
 * @throws InvalidInput if a field differs between rows
 */
async function requireSameForAllRows({ context, parameters }: OperationRun): Promise<void> {
	const items = context.getInputData();
	const rowAt = (index: number) => rowNumberIn(items[index]?.json ?? {}) ?? index + 1;
	for (const { field, collection } of PLACES) {
		const fieldsAt = (index: number) => {
			const form = parameters.at(index);
			return collection === undefined ? form : form.collection(collection);
		};
		if (!mayNameRow(fieldsAt(FIRST).expression(field.name))) continue;
		const valueAt = (index: number) => JSON.stringify(valueOf(fieldsAt(index), field));
		const first = valueAt(FIRST);
		await forEachWithPauses(items.keys(), (index) => {
			if (valueAt(index) !== first) throw differs(field, rowAt(FIRST), rowAt(index));
		});
	}
}

function differs(
	{ displayName, requiresDataPath }: INodeProperties,
	first: number,
	row: number,
): InvalidInput {
	// A column that is dragged inserts its name. A person who types an expression usually means the value of each row.
	const advice =
		requiresDataPath === undefined
			? 'Enter a fixed value. Or split the rows first, for example with a Switch or Loop Over Items node.'
			: 'Enter a name such as phone, not an expression for the value of a row such as {{ $json.phone }}.';
	return new InvalidInput(
		`'${displayName}' differs between rows (row ${first} and row ${row}), so nothing was sent`,
		`A push has one value of '${displayName}' for all rows. ${advice}`,
	);
}

function valueOf(fields: Fields, { name, type }: INodeProperties): JsonValue {
	if (type === 'boolean') return fields.switch(name, null);
	if (type === 'number') return fields.number(name, null);
	if (type === 'options') return fields.choice(name, null);
	if (type === 'json') return fields.jsonObject(name);
	const text = fields.textOrList(name);
	return typeof text === 'string' ? text.trim() : text;
}
