import type { IWebhookFunctions } from 'n8n-workflow';
import { OBSERVED_OUTCOMES, parseList, type CallFilters } from '../shared/calls/completion';
import type { Included } from '../shared/calls/readBack';

export type TriggerSettings = {
	verify: boolean;
	include: Included;
	filters: CallFilters;
	/** Statuses that the user counts as finished. */
	finished: string[];
	answer: 'verified' | 'atOnce';
	repeats: boolean;
};

export function readSettings(context: IWebhookFunctions): TriggerSettings {
	const text = (name: string, fallback = '') => {
		const value: unknown = context.getNodeParameter(name, fallback, {
			extractValue: name.endsWith('.agentUuid'),
		});
		return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	};
	const include: unknown = context.getNodeParameter('include', []);
	const included = (part: string) => Array.isArray(include) && include.includes(part);
	return {
		verify: context.getNodeParameter('verify', true) !== false,
		include: { transcript: included('transcript'), recording: included('recording') },
		filters: {
			agent_uuid: parseList(text('filters.agentUuid')),
			campaign_id: parseList(text('filters.campaignIds')),
			status: parseList(text('filters.statuses')),
		},
		finished: parseList(text('settings.finishedStatuses', OBSERVED_OUTCOMES.join(','))),
		answer: text('settings.answer') === 'atOnce' ? 'atOnce' : 'verified',
		repeats: context.getNodeParameter('settings.repeats', false) === true,
	};
}
