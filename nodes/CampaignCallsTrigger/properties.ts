import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../shared/n8n/forms/locatorFields';
import {
	callsAgainNotice,
	completionFilters,
	finishedStatusesField,
	includeField,
} from '../shared/n8n/forms/callTriggerFields';
import { optionsCollection } from '../shared/n8n/forms/options';

/** The form, from top to bottom. */
export const campaignCallsFields: INodeProperties[] = [
	{
		displayName: 'Calls Of',
		name: 'callsOf',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'All Calls',
				value: 'all',
				description: 'All calls of the account. Each check reads the whole call list.',
			},
			{
				name: 'Campaign',
				value: 'campaign',
				description: 'The contact lists of a campaign, also those that are added later',
			},
		],
		default: 'campaign',
		description: "Which calls to check. Requires 'Set Up the Call List' in the credential.",
	},
	{
		...campaignField,
		description: 'The campaign whose calls to check',
		displayOptions: { show: { callsOf: ['campaign'] } },
	},
	{
		displayName: 'Start From',
		name: 'startFrom',
		type: 'dateTime',
		default: '',
		description:
			"Calls that were created at this time or later start the workflow. Leave empty to start it only for calls that end after it's published.",
		hint: 'In the time zone of this workflow',
	},
	includeField,
	completionFilters,
	callsAgainNotice,
	optionsCollection(finishedStatusesField),
];
