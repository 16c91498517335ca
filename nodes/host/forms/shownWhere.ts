import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';

/** The values of other parameters with which a field is shown. */
export type Show = NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>;

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

/** A field, and the one in its place in tools. */
export function otherInTools(field: INodeProperties, inTools: INodeProperties): INodeProperties[] {
	const { displayOptions } = field;
	const hide = { ...displayOptions?.hide, '@tool': [true] };
	return [
		{ ...field, displayOptions: { ...displayOptions, hide } },
		shownWhere(inTools, { '@tool': [true] }),
	];
}

/**
 * A drop-down list that a model can fill in, too. n8n lets a model fill in text fields only, so in a tool the parameter
 * is a text field with the same name and values.
 */
export function textInTools(
	choice: INodeProperties,
	asText: Pick<INodeProperties, 'placeholder' | 'description'>,
): INodeProperties[] {
	const shared = omit(choice, 'options', 'noDataExpression');
	return otherInTools(choice, { ...shared, type: 'string', ...asText });
}

/**
 * A JSON field that a model can fill in, too. With the button in the editor, n8n would accept no text for a JSON field,
 * and tell an MCP client no type. So in a tool the parameter is a text field with the JSON.
 */
export function jsonInTools(json: INodeProperties): INodeProperties[] {
	return otherInTools(json, { ...json, type: 'string', typeOptions: { rows: 4 } });
}
