import type { INodeProperties } from 'n8n-workflow';
import {
	eventTypesField,
	otherEventTypesField,
	shownWhere,
	takeOverField,
} from '../shared/n8n/chatFields';
import { optionsCollection } from '../shared/n8n/options';

export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Session IDs',
		name: 'sessionIds',
		type: 'string',
		default: '',
		placeholder: 'e.g. 0f8fad5b-d9cb-469f-a165-70867728950e',
		description:
			'The chat sessions to listen to, separated by commas. An expression may give a list. Sessions that come and go belong to Watched Sessions.',
	},
	{
		displayName: 'Watched Sessions',
		name: 'watchSessions',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether this trigger has an address where Chat Session → Watch adds sessions and Unwatch takes them away while the workflow is active',
	},
	shownWhere(
		{
			displayName:
				'Activate the workflow, then copy the production URL above to Trigger Address of Chat Session → Watch. Watched sessions are kept over restarts and leave by themselves when they are closed. To try the trigger out in the editor, turn this off and enter a session above. Where n8n runs webhook processes of its own, have this address served by the main process.',
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
				'If set, only requests with this secret are accepted; enter the same in Chat Session → Watch. Other systems send it in the header x-watch-secret.',
		},
		{ watchSessions: [true] },
	),
	{
		...eventTypesField,
		description: 'Which events start the workflow. Leave empty for all of them.',
	},
	takeOverField,
	optionsCollection(otherEventTypesField),
];
