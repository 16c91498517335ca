import type { INodeProperties } from 'n8n-workflow';
import { disconnectOtherField } from '../host/forms/chatFields';
import { shownWhere } from '../host/forms/shownWhere';
import { optionsCollection } from '../host/forms/options';

/** The documented events of a chat session. */
const eventTypesField: INodeProperties = {
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
	description: 'Which events start the workflow. Leave empty for all of them.',
};

const otherEventTypesField: INodeProperties = {
	displayName: 'Other Event Types',
	name: 'otherEventTypes',
	type: 'string',
	default: '',
	description:
		"Types that your service sends beyond those in the list, separated by commas. Not needed if 'Events' is empty.",
};

export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Sessions',
		name: 'sessions',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Listed',
				value: 'listed',
				description: 'The sessions whose IDs you enter below',
			},
			{
				name: 'Watched',
				value: 'watched',
				description:
					'The sessions that Chat Session > Watch adds while the workflow is published, such as new ones',
			},
		],
		default: 'listed',
		description: 'Which chat sessions to listen to',
	},
	shownWhere(
		{
			displayName: 'Session IDs',
			name: 'sessionIds',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
			description: 'The IDs of the sessions, separated by commas. An expression can return a list.',
		},
		{ sessions: ['listed'] },
	),
	shownWhere(
		{
			displayName:
				"Publish the workflow, open <b>Webhook URLs</b>, and copy the <b>Production URL</b> to 'Trigger URL' of Chat Session > Watch.",
			name: 'watchNotice',
			type: 'notice',
			default: '',
		},
		{ sessions: ['watched'] },
	),
	shownWhere(
		{
			displayName: 'Secret',
			name: 'watchSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				"Letters and digits of your choice. Enter the same text in 'Trigger Secret' of Chat Session > Watch. Other requests are rejected.",
		},
		{ sessions: ['watched'] },
	),
	eventTypesField,
	{
		displayName:
			'Messages of Chat Send are <b>New Message</b> events, too. A workflow that sends one for each event starts itself endlessly.',
		name: 'ownMessagesNotice',
		type: 'notice',
		default: '',
		// An empty list means all events, and n8n doesn't hide the notice then.
		displayOptions: { hide: { eventTypes: [{ _cnd: { not: 'message_received' } }] } },
	},
	optionsCollection(disconnectOtherField, otherEventTypesField),
];
