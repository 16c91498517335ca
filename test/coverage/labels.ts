import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { choicesOf, parametersIn } from '../package/descriptions';

/** Every label on the screen that leads to a parameter, a choice or an output of a form. */
export function labelsIn(
	properties: INodeProperties[],
	outputs: INodeTypeDescription['outputs'] = [],
) {
	const found = parametersIn(properties, '').flatMap(({ property }) => [
		property.displayName,
		...choicesOf(property).map(({ name }) => name),
		...(property.options ?? []).flatMap((option) =>
			'displayName' in option ? [option.displayName] : [],
		),
	]);
	const named = Array.isArray(outputs)
		? outputs.flatMap((output) => (typeof output === 'object' ? [output.displayName ?? ''] : []))
		: [];
	return new Set([...found, ...named]);
}
