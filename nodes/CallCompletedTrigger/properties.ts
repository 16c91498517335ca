import type { INodeProperties } from 'n8n-workflow';
import {
	callsAgainNotice,
	completionFilters,
	finishedStatusesField,
	includeField,
} from '../host/forms/callTriggerFields';
import { optOutKeyField } from '../host/forms/optOutFields';
import { optionsCollection } from '../host/forms/options';

/** The form, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName:
			'Open <b>Webhook URLs</b> above, choose <b>Production URL</b>, and copy it to the option <b>Webhook URL</b> of Place Call. The agent needs post-call analysis. Contacts of campaigns have no webhook URL: for their calls, use <b>Campaign Calls Trigger</b>.',
		name: 'webhookUrlNotice',
		type: 'notice',
		default: '',
	},
	includeField,
	completionFilters,
	callsAgainNotice,
	optionsCollection(finishedStatusesField, optOutKeyField),
];
