import type { INodeProperties } from 'n8n-workflow';
import { callColumns } from '../../core/calls/callRecord';
import type { JsonObject } from '../../core/values/json';
import { type Output, outputFields, selectOutput } from './outputFields';

/** What else to read for a call. */
export const includeField: INodeProperties = {
	displayName: 'Recording and Transcript',
	name: 'include',
	type: 'multiOptions',
	options: [
		{
			name: 'Recording',
			value: 'recording',
			description: 'A link that is valid for 15 minutes, or null if the call has none',
		},
		{
			name: 'Transcript',
			value: 'transcript',
			description: 'The transcript, or an empty list if there is none',
		},
	],
	default: [],
	description: 'What to get besides the call. Each sends another request.',
};

export const callOutputFields = outputFields(
	'simplified',
	'One row with the same columns from every node, and the captured values',
	'person_name, phone_number, outcome, captured_visit_day',
);

/** @param included recording and transcript, in every size */
export function callOutput(
	output: Output,
	record: JsonObject,
	included: JsonObject,
	optOutKey: string,
): JsonObject {
	return selectOutput(output, {
		raw: { ...record, ...included },
		simplified: { ...callColumns(record, optOutKey), ...included },
	});
}
