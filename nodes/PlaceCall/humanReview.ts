import type { INodeProperties } from 'n8n-workflow';
import { TOOL_DESCRIPTIONS } from '../host/run/operations';
import { shownWhere } from '../host/forms/shownWhere';

/** The resource of all operations. */
export const RESOURCE = { name: 'Call', value: 'call' };

/** n8n's name of the resource in the human review variant. The form doesn't offer it. */
const REVIEW = 'humanReview';

/**
 * Adapts the form for n8n's human review variant of the node, which uses the first resource that shows the operation.
 * The variant doesn't show 'Tool Description', because the model reads that of the reviewed tool.
 */
export function alsoForReview(form: INodeProperties[]): INodeProperties[] {
	const adapted = form.map((field) => {
		if (field.name === 'operation')
			return shownWhere(field, { resource: [REVIEW, RESOURCE.value] });
		if (!TOOL_DESCRIPTIONS.includes(field.name)) return field;
		return shownWhere(field, { resource: [RESOURCE.value] });
	});
	return [messageNotice, ...adapted];
}

/** n8n shows its own 'Message' instead of 'Question', and fills it in. */
const messageNotice: INodeProperties = {
	displayName:
		"Change <b>Message</b> to a question that can be said on the phone. $tool.parameters isn't text, so use single values of it, such as $tool.parameters.amount.",
	name: 'messageNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { resource: [REVIEW] } },
};
