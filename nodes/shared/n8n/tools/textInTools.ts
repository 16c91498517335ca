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
 * JSON that a model can give as well: from the editor's button, n8n would accept no text for it, and show an MCP client
 * no type at all. So in a tool the parameter is the text of the JSON.
 */
export function jsonInTools(json: INodeProperties): INodeProperties[] {
	const { displayOptions } = json;
	return [
		{
			...json,
			displayOptions: { ...displayOptions, hide: { ...displayOptions?.hide, '@tool': [true] } },
		},
		{
			...json,
			type: 'string',
			typeOptions: { rows: 4 },
			displayOptions: { ...displayOptions, show: { ...displayOptions?.show, '@tool': [true] } },
		},
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
