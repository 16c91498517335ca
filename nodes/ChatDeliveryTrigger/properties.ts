import type { INodeProperties } from 'n8n-workflow';
import { UNREAD_BODY } from '../shared/n8n/triggers/webhookResponse';

/** What to do with the URL, depending on 'Secret in the URL'. n8n shows it above the form, in a line to open. */
function urlNotice(secretIn: string, whatToDo: string): INodeProperties {
	return {
		displayName: `Open <b>Webhook URLs</b> above, choose <b>Production URL</b>, ${whatToDo}`,
		name: `${secretIn}UrlNotice`,
		type: 'notice',
		default: '',
		displayOptions: { show: { secretIn: [secretIn] } },
	};
}

/** The form, from top to bottom. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName: 'Secret in the URL',
		name: 'secretIn',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'As a Query Parameter',
				value: 'query',
				description: 'Add ?secret= and the secret to the Production URL',
			},
			{
				name: 'At the End of the URL',
				value: 'path',
				description: 'Replace :secret in the Production URL with the secret',
			},
			{ name: 'None', value: 'none' },
		],
		default: 'none',
		description: 'Where your own secret is in the URL that you give to the service',
	},
	{
		displayName: 'Secret',
		name: 'secret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		required: true,
		description:
			'A text that is hard to guess. Use only letters and digits, so that the URL needs no encoding.',
		displayOptions: { hide: { secretIn: ['none'] } },
	},
	urlNotice(
		'none',
		'and give it to your service provider. Anyone who knows the URL can start the workflow, because the service documents no signature for its deliveries.',
	),
	urlNotice('query', 'add ?secret= and your secret, and give the result to your service provider'),
	urlNotice(
		'path',
		'replace :secret in it with your secret, and give the result to your service provider',
	),
	{
		displayName: 'Key Field',
		name: 'keyField',
		type: 'string',
		noDataExpression: true,
		default: '',
		placeholder: 'e.g. data.message_id',
		description:
			"The field of the output that identifies a delivery, with dots for nested fields. A delivery with a value that was received before doesn't start the workflow again. If this is empty, or if a delivery doesn't have the field, a delivery that the service sends twice starts the workflow twice.",
	},
	// n8n reads this under the name "options", see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
