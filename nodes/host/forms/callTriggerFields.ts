import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { parseAgentUuid, parseWholeNumber } from '../../core/service/parseIds';
import type { CompletionFilters, StatusKeys } from '../../core/calls/callEnd';
import type { AccountClient } from '../http/accountClient';
import { includeField, type Output, readOutput } from './outputFields';
import { agentField } from './locatorFields';
import { statusField, statusKeysMeant, optedOutFilter } from './statusField';
import type { Fields } from './fields';
import { parseList } from '../../core/values/values';

/** 'Filters' of the triggers for completed calls. */
export const completionFilters: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Which calls start the workflow. Without a filter, every call does.',
	options: [
		{ ...omit(agentField, 'required'), description: 'Only calls of this agent' },
		{
			displayName: 'Campaign IDs',
			name: 'campaignIds',
			type: 'string',
			default: '',
			placeholder: 'e.g. 42, 43',
			description: 'Only calls of these campaigns, separated by commas',
		},
		optedOutFilter,
		statusField(
			{
				displayName: 'Statuses',
				name: 'statuses',
				description:
					'Only calls with this status. Except for picked, it then counts as completed. Type others of your service, separated by commas.',
			},
			'searchStatuses',
		),
	],
};

export const callsAgainNotice: INodeProperties = {
	displayName:
		'If this workflow calls again, set <b>Limit Calls per Person</b> in Place Call, or unanswered calls repeat without end.',
	name: 'callsAgainNotice',
	type: 'notice',
	default: '',
};

/** Which completed calls start the workflow, and what is read for them. */
export type CompletionSettings = {
	/** What else to read for a call. */
	included: string[];
	output: Output;
	filters: CompletionFilters;
};

export function readCompletionSettings(form: Fields): CompletionSettings {
	const filters = form.collection('filters');
	const listIn = (name: string) => parseList(filters.textOrList(name));
	return {
		included: form.choices(includeField.name),
		output: readOutput(form),
		filters: {
			agent_uuid: listIn('agentUuid').map(parseAgentUuid),
			campaign_id: listIn('campaignIds').map(parseCampaign),
			status: new Set(listIn('statuses').flatMap(statusKeysMeant)),
			optedOut: filters.choice(optedOutFilter.name, ''),
		},
	};
}

/**
 * Statuses of completed calls: those of the credential, and the chosen ones. Otherwise, calls with a chosen status that isn't
 * in the credential would never start the workflow.
 */
export function finishedStatuses(
	{ finished }: AccountClient,
	{ filters }: CompletionSettings,
): StatusKeys {
	return new Set([...finished, ...filters.status]);
}

function parseCampaign(id: string): string {
	const resolution = 'Enter only the numbers of the campaigns, such as 42, 43.';
	return String(parseWholeNumber(id, 'Campaign IDs', resolution));
}
