import type { INodeProperties } from 'n8n-workflow';

/** The chat session that an item is about. */
export const sessionField: INodeProperties = {
	displayName: 'Session ID',
	name: 'sessionId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
	description: 'The chat session, as session_id of the node that created it',
};

/** The person's confirmation that another client may lose the session. */
export const takeOverField: INodeProperties = {
	displayName: 'Take Over',
	name: 'takeOver',
	type: 'boolean',
	default: false,
	description:
		'Whether to take the live connection of the session away from another client that holds it, such as a support desk or another n8n. The nodes of this n8n share one.',
};

/** A field as it is, shown only where these parameters have these values. */
export function shownFor(
	field: INodeProperties,
	show: NonNullable<NonNullable<INodeProperties['displayOptions']>['show']>,
): INodeProperties {
	return { ...field, displayOptions: { show } };
}
