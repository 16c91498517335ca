import type { INodeProperties } from 'n8n-workflow';
import {
	eventTypesField,
	otherEventTypesField,
	shownWhere,
	takeOverField,
} from '../shared/n8n/forms/chatFields';
import { optionsCollection } from '../shared/n8n/forms/options';

export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Session IDs',
		name: 'sessionIds',
		type: 'string',
		default: '',
		placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
		description:
			"The chat sessions to listen to, separated by commas. An expression can return a list. For sessions that change, turn on 'Watched Sessions'.",
	},
	{
		displayName: 'Watched Sessions',
		name: 'watchSessions',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether this trigger has a URL for Chat Session > Watch and Unwatch, which add and remove sessions while the workflow is published',
	},
	shownWhere(
		{
			displayName:
				"Publish the workflow. Then open <b>Webhook URLs</b> above, choose <b>Production URL</b>, and copy it to 'Trigger URL' of Chat Session > Watch. Watched sessions stay when n8n restarts, and are removed when they're closed. To test the trigger in the editor, turn this off and enter a session above.",
			name: 'watchNotice',
			type: 'notice',
			default: '',
		},
		{ watchSessions: [true] },
	),
	shownWhere(
		{
			displayName: 'Secret',
			name: 'watchSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				"If set, only requests with this secret are accepted. Enter the same text in 'Trigger Secret' of Chat Session > Watch. Other systems send it in the header x-watch-secret. Without a secret, anyone who knows the URL can add and remove sessions.",
		},
		{ watchSessions: [true] },
	),
	{
		...eventTypesField,
		description: 'Which events start the workflow. Leave empty for all of them.',
	},
	takeOverField,
	{ ...optionsCollection(otherEventTypesField), name: 'settings' },
];
