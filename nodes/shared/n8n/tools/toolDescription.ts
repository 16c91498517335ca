import uniq from 'lodash/uniq';
import type { INodeProperties } from 'n8n-workflow';
import { formatOf, hasFormat } from '../../modelFormats';

/** n8n's other ways to refer to an item return that of the first row. */
const SEVERAL_ROWS =
	'If the agent gets several rows, use {{ $json.column }} for a column of the row. Before AI Agent 3, also add a Loop Over Items node with batch size 1 before the agent.';

type Shown = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

/**
 * The description of the tool for a model. By default, n8n uses the description of the whole node for every operation.
 * n8n uses a field with this name instead, which the user can edit.
 *
 * @param text the effects of the tool
 * @param fields the form, of which a model may fill in some fields
 */
export function toolDescriptionField(
	text: string,
	fields: readonly INodeProperties[],
	show: Shown = {},
): INodeProperties {
	return {
		displayName: 'Tool Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 4 },
		default: [text, ...formsOf(fields)].join(' '),
		required: true,
		description: 'Tells the model what this tool does and when to use it',
		hint: SEVERAL_ROWS,
		displayOptions: { show: { ...show, '@tool': [true] } },
	};
}

/** How to write the values of these fields. n8n tells a model only the names of the fields that it fills in. */
function formsOf(fields: readonly INodeProperties[]): string[] {
	const labels = uniq(fillable(fields).map(({ displayName }) => displayName)).filter(hasFormat);
	return labels.length === 0 ? [] : ['Write values in these formats.', ...labels.map(formatOf)];
}

/** The fields that n8n's editor lets a model fill in, also in collections. */
function fillable(fields: readonly INodeProperties[]): INodeProperties[] {
	return fields.flatMap((field) => {
		const { type, noDataExpression = false, displayOptions, options = [] } = field;
		if (displayOptions?.hide?.['@tool']?.includes(true) === true) return [];
		if (type === 'collection') {
			return fillable(options.filter((option) => 'type' in option));
		}
		return type === 'options' || noDataExpression ? [] : [field];
	});
}
