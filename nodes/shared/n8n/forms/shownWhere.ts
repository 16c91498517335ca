import type { INodeProperties } from 'n8n-workflow';

type Show = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

/** Shows a field only if these parameters have these values, beside its own conditions. */
export function shownWhere(field: INodeProperties, show: Show): INodeProperties {
	const { displayOptions } = field;
	return {
		...field,
		displayOptions: { ...displayOptions, show: { ...displayOptions?.show, ...show } },
	};
}
