import type { INodeProperties } from 'n8n-workflow';

/** The chat session that an item is about. */
export const sessionField: INodeProperties = {
	displayName: 'Session ID',
	name: 'sessionId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
	description: 'The ID of the chat session, which Chat Session > Create returns as session_id',
};

/** The user's confirmation that another client may lose the session, which the document calls a take-over. */
export const disconnectOtherField: INodeProperties = {
	displayName: 'Disconnect Other Connection',
	name: 'disconnectOther',
	type: 'boolean',
	default: true,
	description:
		'Whether to end the live connection that another client, such as a support desk, has to the session. Otherwise, the other client keeps it.',
};
