import omitBy from 'lodash/omitBy';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { CALL_RECORD_FIELDS, isValueByKey } from '../core/calls/callRecord';
import type { OperationRun } from '../host/run/operations';
import { earlierError, emptied } from '../host/run/ownColumns';
import { NOT_READ_FIELD } from '../core/service/errors';

/** Output fields of this node. In an input item, they belong to an earlier call. */
const CALL_FIELDS = new Set([
	'outcome',
	'answered',
	'call_id',
	'scheduled_at_epoch',
	'scheduled_for',
	'phone_key',
	'placed',
	'not_placed_reason',
	'duplicate_of',
	'next_opening',
	'next_call_possible_at',
	'would_call_at',
	'timed_out',
	...['asked', 'asked_at', 'answered_at'],
	NOT_READ_FIELD,
]);

/** The fields of a call record that aren't about the person, and what can be read for it. */
const RECORD_FIELDS = [
	...CALL_RECORD_FIELDS.filter((field) => field !== 'phone_number' && field !== 'caller_name'),
	...['tag_id', 'tag_name', 'tag_color_code', 'scheduled_at', 'opted_out'],
	...['transcript', 'transcript_text', 'recording'],
];

const ANSWER = ['answer', 'explanation', 'captured_answer'];

/** Groups of fields that belong to an earlier call if an item has the first two of them. Alone, they may be the user's. */
const GROUPS = [
	['call_id', 'phone_key', ...RECORD_FIELDS],
	['call_id', 'agent_uuid', ...RECORD_FIELDS],
	ANSWER,
];

function isEarlier(row: IDataObject, [first = '', second = '']: string[]): boolean {
	return first in row && second in row;
}

/** Reads *Include Input Fields* of an item. By default, it's off only in tools, whose model knows the row. */
export function includesInput({ caller, parameters }: OperationRun, index: number): boolean {
	const byDefault = caller.reader === 'onScreen';
	return parameters.at(index).collection('options').switch('includeInputFields', byDefault);
}

/**
 * The input item to include in the output: its files, and its fields without those of an earlier call. By its reason and its
 * error, people decide what to do with a row, so these are emptied.
 */
export function inputItem({ caller }: OperationRun, index: number): INodeExecutionData {
	const { json: row, binary } = caller.inputRows()[index] ?? { json: {} };
	const groups = GROUPS.filter((group) => isEarlier(row, group));
	const error = earlierError(row, 'placed', 'call_id');
	const stale = new Set([...groups.flat(), ...error]);
	const own = omitBy(
		row,
		(_value, field) => CALL_FIELDS.has(field) || isValueByKey(field) || stale.has(field),
	);
	return {
		json: { ...own, ...emptied(row, ['not_placed_reason', ...error]) },
		...(binary && { binary }),
	};
}

/** Fields of an earlier call that would contradict the failed one of the row. */
export function fieldsOfFailed(
	{ caller }: OperationRun,
	index: number,
	asks: boolean,
): IDataObject {
	const row = caller.inputRows()[index]?.json ?? {};
	return emptied(row, ['placed', ...(asks && isEarlier(row, ANSWER) ? ANSWER : [])]);
}
