import type { INodeProperties } from 'n8n-workflow';

/**
 * A choice that a model can make as well: n8n lets a model fill in a text and no list, so in a tool the
 * parameter is a text, with the same name and values.
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

/**
 * A field as it is, shown only with one value of a parameter that a model may fill in. n8n shows what
 * depends on an expression in any case, unless it is to be hidden.
 */
export function shownOnlyAt(
	field: INodeProperties,
	parameter: string,
	value: string,
): INodeProperties {
	return { ...field, displayOptions: { hide: { [parameter]: [{ _cnd: { not: value } }] } } };
}
