import uniqBy from 'lodash/uniqBy';
import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../core/service/errors';
import { onScreenOnly } from '../core/service/resolution';
import type { JsonValue } from '../core/values/json';
import type { Fields } from '../host/forms/fields';
import type { OperationRun } from '../host/run/operations';
import { mayNameRow } from '../host/forms/expressions';
import { forEachWithPauses } from '../core/values/pauses';
import { pushFields } from './properties';

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

/** @throws InvalidInput if a field differs between rows */
export async function requireSameForAllRows(run: OperationRun): Promise<void> {
	for (const place of PLACES) await requireSame(run, place);
}

/** A row for another campaign, for example, must not end up in the campaign of the first row. */
async function requireSame(
	{ context, parameters }: OperationRun,
	{ field, collection }: Place,
): Promise<void> {
	const fieldsAt = (index: number) => {
		const form = parameters.at(index);
		return collection === undefined ? form : form.collection(collection);
	};
	const expression = fieldsAt(0).expression(field.name);
	if (!mayNameRow(expression)) return;
	const valueAt = (index: number) => JSON.stringify(valueOf(fieldsAt(index), field));
	const first = valueAt(0);
	const { displayName: label } = field;
	await forEachWithPauses(context.getInputData().keys(), (index) => {
		if (valueAt(index) === first) return;
		throw new InvalidInput(
			`'${label}' differs between rows (row 1 and row ${index + 1}), so nothing was sent`,
			onScreenOnly(
				`A push has one value of '${label}' for all rows, such as the name of a column. Enter a fixed value. Or split the rows first, for example with a Switch or Loop Over Items node.`,
			),
		);
	});
}

function valueOf(fields: Fields, { name, type }: INodeProperties): JsonValue {
	if (type === 'boolean') return fields.switch(name, null);
	if (type === 'number') return fields.number(name, null);
	if (type === 'options') return fields.choice(name, null);
	if (type === 'json') return fields.jsonObject(name);
	const text = fields.textOrList(name);
	return typeof text === 'string' ? text.trim() : text;
}
