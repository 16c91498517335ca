import type { INodeProperties } from 'n8n-workflow';
import { UNREAD_BODY } from '../shared/n8n/triggers/webhookResponse';

/** What the person sees, from top to bottom. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName:
			'Give the Production URL above to whoever runs your service. The service does not sign what it sends: without a secret, anyone who knows the URL can start the workflow.',
		name: 'addressNotice',
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
			'Any text that is hard to guess. Use letters and digits only, so that it needs no encoding in the URL.',
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
			'The field that is different for each delivery, with dots for nested fields. A delivery with a value that was received before does not start the workflow. Leave empty to start it for every delivery.',
	},
	// n8n looks for this under the name "options": see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
