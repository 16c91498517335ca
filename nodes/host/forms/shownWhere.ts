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

/**
 * Shows a field only with one value of a parameter that a model may fill in. If that parameter is an expression, n8n
 * ignores `show` conditions, but follows `hide` conditions.
 */
export function shownOnlyAt(
	field: INodeProperties,
	parameter: string,
	value: string,
): INodeProperties {
	return { ...field, displayOptions: { hide: { [parameter]: [{ _cnd: { not: value } }] } } };
}
