import type { INodeProperties } from 'n8n-workflow';
import { UNREAD_BODY } from '../shared/n8n/triggers/webhookResponse';

/** In the order of the screen. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName:
			'Give the Production URL above to your service provider. The service documents no signature for its deliveries. Without a secret, anyone who knows the URL can start the workflow.',
		name: 'urlNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Secret in the URL',
		name: 'secretIn',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'As a Query Parameter',
				value: 'query',
				description: 'Add ?secret= and the secret to the URL above',
			},
			{
				name: 'At the End of the URL',
				value: 'path',
				description: 'Replace :secret in the URL above with the secret',
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
	{
		displayName: 'Key Field',
		name: 'keyField',
		type: 'string',
		noDataExpression: true,
		default: '',
		placeholder: 'e.g. data.message_id',
		description:
			"The field that identifies a delivery, with dots for nested fields. A delivery with a value that was received before doesn't start the workflow again. If this is empty, or if a delivery doesn't have the field, a delivery that the service sends twice starts the workflow twice.",
	},
	// n8n reads this under the name "options", see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
