import type { INodeProperties } from 'n8n-workflow';
import { campaignField } from '../host/forms/locatorFields';
import {
	callsAgainNotice,
	completionFilters,
	finishedStatusesField,
	includeField,
} from '../host/forms/callTriggerFields';
import { optOutKeyField } from '../host/forms/optOutFields';
import { optionsCollection } from '../host/forms/options';

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
		description:
			"Which calls to check. Requires the part calls in 'Service Profile' of the credential.",
	},
	{
		...campaignField,
		description: 'The campaign whose calls to check',
		displayOptions: { show: { callsOf: ['campaign'] } },
	},
	{
		displayName: 'Start From',
		name: 'startFrom',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Date', value: 'date', description: 'Calls created at a time or later' },
			{ name: 'Last 7 Days', value: 'last7Days', description: 'Calls created since then' },
			{ name: 'Publication', value: 'publication', description: 'Calls that end later' },
		],
		default: 'publication',
		description: 'Which calls start the workflow, each once. The 7 days end with the first check.',
	},
	{
		displayName:
			"Calls that end before you first publish the workflow with this choice don't start it",
		name: 'publicationNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { startFrom: ['publication'] } },
	},
	{
		displayName: 'Start Date',
		name: 'startDate',
		type: 'dateTime',
		// A date that moves would begin again with each check.
		noDataExpression: true,
		required: true,
		default: '',
		displayOptions: { show: { startFrom: ['date'] } },
		description: 'Calls that were created at this time or later start the workflow',
		hint: 'In the time zone of this workflow',
	},
	includeField,
	completionFilters,
	callsAgainNotice,
	optionsCollection(finishedStatusesField, optOutKeyField),
];
