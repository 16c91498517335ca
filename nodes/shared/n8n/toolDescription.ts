import type { INodeProperties } from 'n8n-workflow';

type Shown = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

/**
 * What a model reads of the node as a tool. Left alone, n8n tells it the description of the whole node,
 * whatever the operation; a field of this name takes its place, filled in and free to be changed.
 */
export function toolDescriptionField(text: string, show: Shown = {}): INodeProperties {
	return {
		displayName: 'Tool Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 4 },
		default: text,
		required: true,
		description: 'What the model reads about this tool, to decide when to use it',
		displayOptions: { show: { ...show, '@tool': [true] } },
	};
}
