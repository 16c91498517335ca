import type { INodeProperties } from 'n8n-workflow';

/** A campaign by its ID. The document has no request that lists campaigns. */
export const campaignField: INodeProperties = {
	displayName: 'Campaign ID',
	name: 'campaignId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 42',
	description: 'The ID of the campaign',
};
