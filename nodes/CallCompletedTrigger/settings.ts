import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { parseAgentUuid } from '../shared/api/parseIds';
import { OBSERVED_OUTCOMES, parseList, type CompletionFilters } from '../shared/calls/callEnd';
import type { Included } from '../shared/calls/readBack';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { completionFields } from './properties';

/** The settings of the trigger. */
export type CompletionSettings = {
	verify: boolean;
	included: Included;
	filters: CompletionFilters;
	/** Statuses of completed calls. */
	finished: string[];
	respondsImmediately: boolean;
	allowDuplicates: boolean;
};

/** @throws InvalidInput naming the field that can't be used */
export function readCompletionSettings(
	context: ITriggerFunctions | IWebhookFunctions,
): CompletionSettings {
	const form = formOf(context, completionFields);
	const filters = form.collection('filters');
	const options = form.collection('settings');
	const included = form.choices('include');
	const listIn = (name: string) => parseList(filters.textOrList(name));
	return {
		verify: form.switch('verify', true),
		included: {
			transcript: included.includes('transcript'),
			recording: included.includes('recording'),
		},
		filters: {
			agent_uuid: listIn('agentUuid').map(parseAgentUuid),
			campaign_id: listIn('campaignIds'),
			status: listIn('statuses'),
		},
		finished: options.has('finishedStatuses')
			? parseList(options.textOrList('finishedStatuses'))
			: [...OBSERVED_OUTCOMES],
		respondsImmediately: options.choice('respond', 'verified') === 'immediately',
		allowDuplicates: options.switch('allowDuplicates', false),
	};
}
