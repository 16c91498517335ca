import type { INodeProperties } from 'n8n-workflow';

/** What the operations are about. */
export const RESOURCE = { name: 'Call', value: 'call' };

/** No choice of the form: the node has this one as human review. */
const REVIEW = 'humanReview';

/**
 * The form, which n8n also gives to its variant of the node for human review. That variant has the first resource under
 * which the operation stands: so the review does without the description for a model, which reads that of the tool.
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
