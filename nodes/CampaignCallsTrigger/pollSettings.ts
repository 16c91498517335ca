import type { IPollFunctions } from 'n8n-workflow';
import { InvalidInput } from '../core/service/errors';
import { parseCampaignId } from '../core/service/parseIds';
import { onScreenOnly } from '../core/service/resolution';
import type { CompletionFilters } from '../core/calls/callEnd';
import { type CompletionSettings, readCompletionSettings } from '../host/forms/callTriggerFields';
import type { Fields } from '../host/forms/fields';
import { formOf } from '../host/forms/nodeParameters';
import { quoted } from '../core/values/values';
import { campaignCallsFields } from './properties';
import { parseTime } from '../core/values/dates';

export type PollSettings = CompletionSettings & {
	/** Undefined for all calls. */
	campaignId: number | undefined;
	/** Only calls that were created at this time or later, in epoch milliseconds. Undefined for those that end from now on. */
	start: number | 'last7Days' | undefined;
};

/** @throws InvalidInput naming the field that can't be used */
export function readPollSettings(context: IPollFunctions): PollSettings {
	const form = formOf(context, campaignCallsFields);
	const campaignId = readCampaignId(form);
	const start = readStart(form, context.getTimezone());
	const settings = readCompletionSettings(form);
	requireMatching(settings.filters, campaignId);
	return { ...settings, campaignId, start };
}

function requireMatching({ campaign_id: wanted }: CompletionFilters, campaignId?: number): void {
	if (campaignId === undefined || wanted.length === 0 || wanted.includes(String(campaignId)))
		return;
	throw new InvalidInput(
		`'Campaign IDs' in 'Filters' excludes each call of campaign ${campaignId}`,
		onScreenOnly("Remove this filter, or set 'Calls Of' to 'All Calls'."),
	);
}

function readCampaignId(form: Fields): number | undefined {
	if (form.choice('callsOf', 'campaign') === 'all') return undefined;
	return parseCampaignId(form.text('campaignId'));
}

function readStart(form: Fields, zone: string): PollSettings['start'] {
	const choice = form.choice('startFrom', undefined);
	if (choice === 'last7Days') return choice;
	if (choice !== 'date') return undefined;
	const value = form.time('startDate') ?? '';
	const at = parseTime(value, zone);
	if (at.isValid) return at.toMillis();
	throw new InvalidInput(
		`'Start Date' must be a date (got ${quoted(value)})`,
		onScreenOnly('Select a date, or enter one such as 2027-01-31T18:30:00+05:30.'),
	);
}
