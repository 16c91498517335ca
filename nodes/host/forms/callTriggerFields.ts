import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';
import { parseAgentUuid, parseWholeNumber } from '../../core/service/parseIds';
import { onScreenOnly } from '../../core/service/resolution';
import {
	type CompletionFilters,
	OBSERVED_OUTCOMES,
	type StatusKeys,
} from '../../core/calls/callEnd';
import { agentField } from './locatorFields';
import { statusField, statusKeysMeant } from './statusField';
import { optedOutFilter, readOptOutFilter } from './optOutFields';
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
					"Only calls that ended with this status. Except for picked, a call that has it counts as completed. Type one that isn't in the list, or several, separated by commas.",
			},
			'searchStatuses',
		),
	],
};

export const callsAgainNotice: INodeProperties = {
	displayName:
		"If this workflow calls again, set <b>Limit Calls per Person</b> in its Place Call node. Otherwise, a person who doesn't answer is called without end.",
	name: 'callsAgainNotice',
	type: 'notice',
	default: '',
};

export const includeField: INodeProperties = {
	displayName: 'Include',
	name: 'include',
	type: 'multiOptions',
	options: [
		{ name: 'Recording', value: 'recording' },
		{ name: 'Transcript', value: 'transcript' },
	],
	default: [],
	description:
		"What else to read for the call. The link to a recording is valid for 15 minutes. It's null if the call has no recording.",
};

export const finishedStatusesField: INodeProperties = {
	displayName: 'Finished Statuses',
	name: 'finishedStatuses',
	type: 'string',
	default: OBSERVED_OUTCOMES.join(', '),
	description:
		'Statuses of completed calls, separated by commas. A call with the status picked is completed when its record also has an end reason, a summary, or an analysis. Known statuses are picked, not_picked, and failed. Add any others that your account uses, and remove those that it shows during a call.',
};

/** Which calls are completed, which of them start the workflow, and what is read for them. */
export type CompletionSettings = {
	/** Values of *Include*. */
	included: string[];
	filters: CompletionFilters;
	/** Statuses of completed calls. */
	finished: StatusKeys;
};

export function readCompletionSettings(form: Fields): CompletionSettings {
	const filters = form.collection('filters');
	const options = form.collection('options');
	const listIn = (name: string) => parseList(filters.textOrList(name));
	const status = new Set(listIn('statuses').flatMap(statusKeysMeant));
	return {
		included: form.choices('include'),
		filters: {
			agent_uuid: listIn('agentUuid').map(parseAgentUuid),
			campaign_id: listIn('campaignIds').map(parseCampaign),
			status,
			optOut: readOptOutFilter(filters, options),
		},
		// Otherwise, calls with a chosen status that isn't listed there would never start the workflow.
		finished: new Set([...readFinishedStatuses(options), ...status]),
	};
}

function parseCampaign(id: string): string {
	const resolution = onScreenOnly('Enter only the numbers of the campaigns, such as 42, 43.');
	return String(parseWholeNumber(id, 'Campaign IDs', resolution));
}

/** *Finished Statuses*. */
export function readFinishedStatuses(options: Fields): StatusKeys {
	const { name } = finishedStatusesField;
	const given = options.has(name) ? parseList(options.textOrList(name)) : OBSERVED_OUTCOMES;
	return new Set(given.flatMap(statusKeysMeant));
}
