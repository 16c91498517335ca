import type { INodeProperties } from 'n8n-workflow';
import { parseList } from '../../core/values/values';
import type { Fields } from './fields';

/** The chat session that an item is about. */
export const sessionField: INodeProperties = {
	displayName: 'Session ID',
	name: 'sessionId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
	description: 'The ID of the chat session, which is in session_id of the node that created it',
};

/** The user's confirmation that another client may lose the session, which the document calls a take-over. */
export const disconnectOtherField: INodeProperties = {
	displayName: 'Disconnect Other Connection',
	name: 'disconnectOther',
	type: 'boolean',
	default: false,
	description:
		'Whether to end the live connection that another client has to the session, such as a support desk or another n8n. While this is off, the other client keeps the session. The nodes of this n8n share one connection.',
};

/** The documented events of a chat session. */
export const eventTypesField: INodeProperties = {
	displayName: 'Events',
	name: 'eventTypes',
	type: 'multiOptions',
	options: [
		{
			name: 'AI Agent Is Back After a Follow-Up',
			value: 'auto_resume_fired',
		},
		{
			name: 'Chat Closed',
			value: 'session_closed',
		},
		{
			name: 'Chat Continues',
			value: 'session_reactivated',
			description: 'After the customer was quiet',
		},
		{
			name: 'Customer Went Quiet',
			value: 'session_dormant',
		},
		{
			name: 'Follow-Up Sent by the AI Agent',
			value: 'nudge_sent',
			description: 'After the customer went quiet',
		},
		{
			name: 'Message Processed Later',
			value: 'turn_result',
			description: 'A message without an immediate reply has its result',
		},
		{
			name: 'New Message',
			value: 'message_received',
			description: 'From the customer or the AI agent',
		},
		{
			name: 'Switched Between AI Agent and Person',
			value: 'mode_changed',
		},
	],
	default: [],
};

export const otherEventTypesField: INodeProperties = {
	displayName: 'Other Event Types',
	name: 'otherEventTypes',
	type: 'string',
	default: '',
	description:
		"Types that your service sends beyond those in the list, separated by commas. Not needed if 'Events' is empty.",
};

/** The selected types. Null for all events, which is what an empty 'Events' means, whatever other types are entered. */
export function chosenTypes(form: Fields): ReadonlySet<string> | null {
	const events = form.choices('eventTypes');
	const others = form.collection('developerSettings').textOrList('otherEventTypes');
	if (events.length === 0) return null;
	return new Set([...events, ...parseList(others)]);
}
