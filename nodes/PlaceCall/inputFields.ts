import omitBy from 'lodash/omitBy';
import type { INodeExecutionData } from 'n8n-workflow';
import { CAPTURED } from '../core/calls/callRecord';
import { NOT_READ_FIELD } from '../core/service/errors';
import type { OperationRun } from '../host/run/operations';
import { earlierError, emptied } from '../host/run/ownColumns';

/** Fields of this node, which replace those of the row. */
const OWN_FIELDS = new Set([
	...['outcome', 'call_id', 'scheduled_for', 'phone_key', 'opted_out'],
	...['placed', 'not_placed_reason', 'duplicate_of', 'next_opening', 'next_call_possible_at'],
	...['would_call_at', 'timed_out', 'asked', NOT_READ_FIELD],
]);

/** By these, people decide what to do with a row, so they're emptied in its sheet unless the call has them. */
const DECISIVE = ['placed', 'not_placed_reason'];
const ANSWER = ['answer', 'explanation', 'captured_answer'];

/**
 * What the output has of the input item: its files, and its fields without those of an earlier call. A model knows the row,
 * so in tools nothing.
 *
 * @param asks whether the call asks a question
 */
export function inputItem(
	{ caller }: OperationRun,
	index: number,
	asks: boolean,
): INodeExecutionData {
	if (caller.kind === 'model') return { json: {} };
	const { json: row, binary } = caller.inputRows()[index] ?? { json: {} };
	const isOwn = (field: string) => OWN_FIELDS.has(field) || field.startsWith(CAPTURED);
	const stale = [...DECISIVE, ...(asks ? ANSWER : []), ...earlierError(row, 'placed', 'call_id')];
	return {
		json: { ...omitBy(row, (_value, field) => isOwn(field)), ...emptied(row, stale) },
		...(binary && { binary }),
	};
}
