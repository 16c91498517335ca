import get from 'lodash/get';
import has from 'lodash/has';
import type { INodeProperties } from 'n8n-workflow';
import { InvalidInput } from '../../core/service/errors';
import type { JsonObject, JsonValue } from '../../core/values/json';
import { enter } from '../../core/service/modelFormats';
import { forEachWithPauses } from '../../core/values/pauses';
import { parseList } from '../../core/values/values';
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
