import get from 'lodash/get';
import has from 'lodash/has';
import type { INodeProperties } from 'n8n-workflow';
import { callColumns } from '../../core/calls/callRecord';
import { InvalidInput } from '../../core/service/errors';
import type { Explanation } from '../../core/service/explanation';
import { enter } from '../../core/service/modelFormats';
import { parseCount } from '../../core/service/parseIds';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { forEachWithPauses } from '../../core/values/pauses';
import { counted, parseList } from '../../core/values/values';
import type { Fields } from './fields';
import { shownOnlyAt } from './shownWhere';

/** How much of a response to return. */
export type Output = 'simplified' | 'raw' | { fields: string[] };

/** A record in two sizes. */
type Sizes = { raw: JsonObject; simplified: JsonObject };

/**
 * 'Output': how much of a response to return. A short output saves tokens of a model.
 *
 * @param simplified description of *Simplified*
 * @param example field names for the placeholder
 */
export function outputFields(
	initial: 'simplified' | 'raw',
	simplified: string,
	example: string,
): INodeProperties[] {
	return [
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{ name: 'Raw', value: 'raw', description: 'The whole response of the service' },
				{
					name: 'Selected Fields',
					value: 'selected',
					description: 'Only the fields that you enter, such as those that a model needs',
				},
				{ name: 'Simplified', value: 'simplified', description: simplified },
			],
			default: initial,
			description: 'How much of the response to return',
		},
		shownOnlyAt(
			{
				displayName: 'Fields',
				name: 'selectedFields',
				type: 'string',
				default: '',
				required: true,
				placeholder: `e.g. ${example}`,
				description:
					'The names of the fields to return, separated by commas. Use dots for nested fields. A missing field is returned as null.',
			},
			'output',
			'selected',
		),
	];
}

export function readOutput(form: Fields): Output {
	const value = form.choice('output', 'raw');
	if (value !== 'selected') return value === 'simplified' ? value : 'raw';
	const fields = parseList(form.textOrList('selectedFields'));
	if (fields.length > 0) return { fields };
	throw new InvalidInput("'Fields' is empty, so nothing was read", enter('Fields'));
}

/** Selected fields may be in either size. As in a table, the simplified one comes first. */
export function selectOutput(output: Output, { raw, simplified }: Sizes): JsonObject {
	if (output === 'raw') return raw;
	if (output === 'simplified') return simplified;
	const valueOf = (field: string) => fieldOf(has(simplified, field) ? simplified : raw, field);
	return Object.fromEntries(output.fields.map((field) => [field, valueOf(field)]));
}

/** The same for a list. Simplifies only if needed, because the list may be long. */
export async function selectOutputs(
	output: Output,
	records: JsonObject[],
	simplify: (raw: JsonObject) => JsonObject,
): Promise<JsonObject[]> {
	if (output === 'raw') return records;
	const all: JsonObject[] = [];
	await forEachWithPauses(records, (raw) => {
		all.push(selectOutput(output, { raw, simplified: simplify(raw) }));
	});
	return all;
}

/** Accepts n8n's paths, such as `transcript[0].content`. Ignores properties of every object, such as "constructor". */
function fieldOf(record: JsonObject, field: string): JsonValue {
	if (!has(record, field)) return null;
	const value: JsonValue | undefined = get(record, field);
	return value ?? null;
}

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

export const limitFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
];

/** For a model, if entries may be missing. */
export const NOT_COMPLETE = 'Do not treat this list as complete.';

/**
 * For a model, which may not know the limit.
 *
 * @param filters the labels of fields by which it can narrow the list
 */
export function limitHint(limit: number, entry: string, filters: string): Explanation {
	return {
		message: `The list ends at the limit of ${counted(limit, entry)}, and there may be more`,
		resolution: `${NOT_COMPLETE} For the others, use a higher 'Limit', or narrow the list by ${filters}.`,
	};
}

/** Infinity for all results. */
export function readLimit(form: Fields): number {
	if (form.switch('returnAll', false)) return Infinity;
	const resolution = "Enter a whole number of at least 1, or turn on 'Return All'.";
	return parseCount(form.number('limit', undefined), 'Limit', resolution);
}
