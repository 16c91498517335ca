import type { INodeProperties } from 'n8n-workflow';

/** The form, from top to bottom. */
export const deliveryFields: INodeProperties[] = [
	{
		displayName:
			'Open <b>Webhook URLs</b> above, choose <b>Production URL</b>, and give it to your service provider. If you enter a secret below, add ?secret= and the secret to it.',
		name: 'urlNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Secret',
		name: 'secret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description:
			'If set, the URL needs it as the query parameter secret. Use only letters and digits. Without a secret, anyone who knows the URL can start the workflow, because the service documents no signature for its deliveries.',
	},
	{
		displayName: 'Delivery ID Field',
		name: 'keyField',
		type: 'string',
		noDataExpression: true,
		default: '',
		placeholder: 'e.g. data.message_id',
		description:
			"The field of the output that identifies a delivery, with dots for nested fields. A delivery with a value that was received before doesn't start the workflow again. If this is empty, or if a delivery doesn't have the field, a delivery that the service sends twice starts the workflow twice.",
	},
];
