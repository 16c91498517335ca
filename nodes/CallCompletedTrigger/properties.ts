import type { INodeProperties } from 'n8n-workflow';
import {
	callsAgainNotice,
	completionFilters,
	finishedStatusesField,
	includeField,
} from '../shared/n8n/forms/callTriggerFields';
import { optionsCollection } from '../shared/n8n/forms/options';
import { shownWhere } from '../shared/n8n/forms/shownWhere';

/** The form, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName:
			'Open <b>Webhook URLs</b> above, choose <b>Production URL</b>, and copy it to the option <b>Webhook URL</b> of Place Call. The agent needs post-call analysis. Contacts of campaigns have no webhook URL: for their calls, use <b>Campaign Calls Trigger</b>.',
		name: 'webhookUrlNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Verify Call',
		name: 'verify',
		type: 'boolean',
		default: true,
		description:
			'Whether to read each call from the service and pass on that record. If off, anyone who knows the URL can start the workflow with forged results, because the documentation of the service shows no signature.',
	},
	shownWhere(includeField, { verify: [true] }),
	completionFilters,
	callsAgainNotice,
	optionsCollection(
		{
			displayName: 'Allow Duplicates',
			name: 'allowDuplicates',
			type: 'boolean',
			default: true,
			description:
				'Whether a call that was received before starts the workflow again. If off, each outcome of a call starts it once. The trigger remembers the latest 5,000.',
		},
		finishedStatusesField,
	),
];
