import omitBy from 'lodash/omitBy';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { Fields } from '../../shared/n8n/forms/fields';
import { isValueByKey } from '../../shared/calls/callRecord';
import { inputRows } from '../../shared/n8n/tools/toolRun';
import { NOT_READ_FIELD } from '../../shared/notRead';
import { WAITS_UNTIL } from './waitedItems';

/** Output fields of this node. In an input item, they belong to an earlier call. */
const CALL_FIELDS = new Set([
	'outcome',
	'answered',
	'call_id',
	'scheduled_at_epoch',
	'phone_key',
	'placed',
	'not_placed_reason',
	'next_opening',
	'next_call_possible_at',
	'timed_out',
	'asked',
	NOT_READ_FIELD,
	WAITS_UNTIL,
]);

export function includesInput(form: Fields): boolean {
	return form.collection('options').switch('includeInputFields', false);
}

/** The input fields to include in the output. */
export function inputFields(context: IExecuteFunctions, index: number): IDataObject {
	return omitBy(
		inputRows(context)[index]?.json,
		(_value, field) => CALL_FIELDS.has(field) || isValueByKey(field),
	);
}
