import type { INodeProperties } from 'n8n-workflow';
import { UNREAD_BODY } from '../shared/n8n/webhookAnswer';

/** What the person sees, from top to bottom. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName:
			'Let the service deliver to the Production URL above. The service signs nothing, so without a secret whoever knows the address can start the workflow.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Secret in the Address',
		name: 'secretIn',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'None', value: 'none' },
			{
				name: 'At the End of the Address',
				value: 'path',
				description: 'Replace :secret in the address above by the secret',
			},
			{
				name: 'As a Query Parameter',
				value: 'query',
				description: 'Add ?secret= and the secret to the address above',
			},
		],
		default: 'none',
		description: 'Where a secret of your own stands in the address that you give to the service',
	},
	{
		displayName: 'Secret',
		name: 'secret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		required: true,
		description:
			'Any text that is hard to guess. Letters and digits alone need no encoding in an address.',
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
			'The field that is different for each delivery, with dots for nested fields. A key that came before starts nothing. Leave it empty to start the workflow for every delivery.',
	},
	// n8n looks for this under the name "options": see UNREAD_BODY.
	{ displayName: 'Options', name: 'options', type: 'hidden', default: UNREAD_BODY },
];
