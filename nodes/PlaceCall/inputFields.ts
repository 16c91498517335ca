import omitBy from 'lodash/omitBy';
import type { INodeExecutionData } from 'n8n-workflow';
import { CALL_RECORD_FIELDS, CAPTURED } from '../core/calls/callRecord';
import { NOT_READ_FIELD } from '../core/service/errors';
import type { OperationRun } from '../host/run/operations';
import { earlierError, emptied } from '../host/run/ownColumns';

/** Fields of this node, which replace those of the row. */
const OWN_FIELDS = new Set([
	...['outcome', 'call_id', 'scheduled_at_epoch', 'scheduled_for', 'phone_key'],
	...['placed', 'not_placed_reason', 'duplicate_of', 'next_opening', 'next_call_possible_at'],
	...['would_call_at', 'timed_out', 'asked', 'asked_at', 'answered_at', NOT_READ_FIELD],
]);

/** The answer to a question. */
const ANSWER = ['answer', 'explanation', 'captured_answer'];

/** In a row that is a call record, also its other fields, except those about the person. Elsewhere, they may be the user's. */
const RECORD_FIELDS = new Set([
	...CALL_RECORD_FIELDS.filter((field) => field !== 'phone_number' && field !== 'caller_name'),
	...['scheduled_at', 'opted_out', 'transcript', 'transcript_text', 'recording', ...ANSWER],
]);

/** By these, people decide what to do with a row, so they're emptied in its sheet unless the call has them. */
const DECISIVE = ['placed', 'not_placed_reason'];

/**
 * What the output has of the input item: its files, and its fields without those of an earlier call. Nothing without *Include
 * Input Fields*, which by default is off only in tools, whose model knows the row.
 *
 * @param asks whether the call asks a question
 */
export function inputItem(
	{ caller, parameters }: OperationRun,
	index: number,
	asks: boolean,
): INodeExecutionData {
	const byDefault = caller.kind === 'workflow';
	const options = parameters.at(index).collection('options');
	if (!options.switch('includeInputFields', byDefault)) return { json: {} };
	const { json: row, binary } = caller.inputRows()[index] ?? { json: {} };
	const isRecord = 'call_id' in row && ('phone_key' in row || 'agent_uuid' in row);
	const isOwn = (field: string) =>
		OWN_FIELDS.has(field) || field.startsWith(CAPTURED) || (isRecord && RECORD_FIELDS.has(field));
	const stale = [...DECISIVE, ...(asks ? ANSWER : []), ...earlierError(row, 'placed', 'call_id')];
	return {
		json: { ...omitBy(row, (_value, field) => isOwn(field)), ...emptied(row, stale) },
		...(binary && { binary }),
	};
}
