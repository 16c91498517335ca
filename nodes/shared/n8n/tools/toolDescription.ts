import uniq from 'lodash/uniq';
import type { INodeProperties } from 'n8n-workflow';
import { formOf, hasForm } from '../../modelForms';

type Shown = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

/**
 * What a model reads of the node as a tool. Left alone, n8n tells it the description of the whole node,
 * whatever the operation; a field of this name takes its place, filled in and free to be changed.
 *
 * @param text what the tool does
 * @param fields of which a model may fill in some
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
		description: 'What the model reads about this tool, to decide when to use it',
		displayOptions: { show: { ...show, '@tool': [true] } },
	};
}

/** How to write the values of these fields: n8n tells a model the names of those that it fills in, and no more. */
function formsOf(fields: readonly INodeProperties[]): string[] {
	const labels = uniq(fillable(fields).map(({ displayName }) => displayName)).filter(hasForm);
	return labels.length === 0
		? []
		: ['Write what you are asked for like this.', ...labels.map(formOf)];
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
