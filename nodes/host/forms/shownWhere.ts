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

/**
 * A drop-down list that a model can fill in, too. n8n lets a model fill in text fields only, so in a tool the parameter
 * is a text field with the same name and values.
 */
export function textInTools(
	choice: INodeProperties,
	asText: Pick<INodeProperties, 'placeholder' | 'description'>,
): INodeProperties[] {
	const { displayName, name, default: initial, required = false } = choice;
	const shared = { displayName, name, default: initial, ...(required && { required }) };
	return [
		{ ...choice, displayOptions: { hide: { '@tool': [true] } } },
		{ ...shared, type: 'string', ...asText, displayOptions: { show: { '@tool': [true] } } },
	];
}

/** A field with another default in tools, whose result a model reads. */
export function defaultInTools(
	field: INodeProperties,
	initial: INodeProperties['default'],
): INodeProperties[] {
	const { displayOptions } = field;
	const hide = { ...displayOptions?.hide, '@tool': [true] };
	return [
		{ ...field, displayOptions: { ...displayOptions, hide } },
		shownWhere({ ...field, default: initial }, { '@tool': [true] }),
	];
}

/**
 * A JSON field that a model can fill in, too. With the button in the editor, n8n would accept no text for a JSON field,
 * and tell an MCP client no type. So in a tool the parameter is a text field with the JSON.
 */
export function jsonInTools(json: INodeProperties): INodeProperties[] {
	const { displayOptions } = json;
	const hide = { ...displayOptions?.hide, '@tool': [true] };
	return [
		{ ...json, displayOptions: { ...displayOptions, hide } },
		shownWhere({ ...json, type: 'string', typeOptions: { rows: 4 } }, { '@tool': [true] }),
	];
}
