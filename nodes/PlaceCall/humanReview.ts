import type { INodeProperties } from 'n8n-workflow';

/** The resource of all operations. */
export const RESOURCE = { name: 'Call', value: 'call' };

/** n8n's name of the resource in the human review variant. The form doesn't offer it. */
const REVIEW = 'humanReview';

/**
 * Adapts the form for n8n's human review variant of the node, which uses the first resource that shows the operation.
 * The variant doesn't show 'Tool Description', because the model reads that of the reviewed tool.
 */
export function alsoForReview(form: INodeProperties[]): INodeProperties[] {
	return form.map((field) => {
		if (field.name === 'operation') return shownFor(field, REVIEW, RESOURCE.value);
		return field.name === 'toolDescription' ? shownFor(field, RESOURCE.value) : field;
	});
}

function shownFor(field: INodeProperties, ...resource: string[]): INodeProperties {
	const show = { ...field.displayOptions?.show, resource };
	return { ...field, displayOptions: { ...field.displayOptions, show } };
}
