import type { INodeProperties } from 'n8n-workflow';
import { formatOf, hasFormat } from '../../core/service/modelFormats';
import { inExpression } from '../caller/agentRun';

type Shown = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

/** n8n's other ways to refer to an item return that of the first row. */
const SEVERAL_ROWS =
	'If the agent gets several rows, use {{ $json.column }}. Before AI Agent 3, add Loop Over Items with batch size 1.';

/** The names of the fields with the description, which only a tool has. */
export const TOOL_DESCRIPTIONS = ['description', 'toolDescription'];

/**
 * The description of the tool for a model, which the user can edit. By default, n8n uses the description of the whole node
 * for every operation. It reads the second field instead, which the form doesn't show. That adds how to write the values
 * that are left to the model: with the button in the editor, a model gets only the labels of these fields.
 *
 * @param text the effects of the tool
 * @param fields the form, of which a model may fill in some fields
 */
export function toolDescriptionFields(
	text: string,
	fields: readonly INodeProperties[],
	show: Shown = {},
): INodeProperties[] {
	const displayOptions = { show: { ...show, '@tool': [true] } };
	return [
		{
			displayName: 'Tool Description',
			name: 'description',
			type: 'string',
			typeOptions: { rows: 4 },
			default: text,
			required: true,
			description: 'Tells the model what this tool does and when to use it',
			hint: SEVERAL_ROWS,
			displayOptions,
		},
		{
			displayName: 'Tool Description With Formats',
			name: 'toolDescription',
			type: 'hidden',
			default: `={{ [$parameter.description, ...${formatsLeftToModel(fields)}].join(" ") }}`,
			displayOptions,
		},
	];
}

/** The code of a list: the formats of the fields that the model fills in, each once. */
function formatsLeftToModel(fields: readonly INodeProperties[]): string {
	const formats = fillable(fields).flatMap(({ path, displayName }) =>
		hasFormat(displayName) ? `[$rawParameter.${path}, ${inExpression(formatOf(displayName))}]` : [],
	);
	const isOfModel = '([value]) => (JSON.stringify(value) ?? "").toLowerCase().includes("$fromai")';
	return `new Set([${formats.join(', ')}].filter(${isOfModel}).map(([, format]) => format))`;
}

/** The fields that n8n's editor lets a model fill in, also in collections. */
function fillable(
	fields: readonly INodeProperties[],
	prefix = '',
): Array<{ path: string; displayName: string }> {
	return fields.flatMap((field) => {
		const { type, name, displayName, noDataExpression = false, options = [] } = field;
		if (field.displayOptions?.hide?.['@tool']?.includes(true) === true) return [];
		const path = `${prefix}${name}`;
		if (type === 'collection') {
			return fillable(
				options.filter((option) => 'type' in option),
				`${path}?.`,
			);
		}
		return type === 'options' || noDataExpression ? [] : [{ path, displayName }];
	});
}
