import type { INodeProperties, IPollFunctions } from 'n8n-workflow';
import type { StatusKeys } from '../core/calls/callEnd';
import { InvalidInput } from '../core/service/errors';
import { parseCampaignId } from '../core/service/parseIds';
import { parseTime } from '../core/values/dates';
import { quoted } from '../core/values/values';
import { campaignField } from '../host/forms/locatorFields';
import {
	callsAgainNotice,
	completionFilters,
	type CompletionSettings,
	finishedStatuses,
	readCompletionSettings,
} from '../host/forms/callTriggerFields';
import { callOutputFields, includeField } from '../host/forms/outputFields';
import type { Fields } from '../host/forms/fields';
import { formOf } from '../host/forms/nodeParameters';
import type { AccountClient } from '../host/http/accountClient';

/** The form, from top to bottom. */
export const campaignCallsFields: INodeProperties[] = [
	{
		displayName: 'Calls to Check',
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
				name: 'Calls of a Campaign',
				value: 'campaign',
				description: 'The contact lists of a campaign, also those that are added later',
			},
		],
		default: 'campaign',
		description:
			"Which calls can start the workflow. Needs the part calls in 'Service Profile' of the credential.",
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
			{ name: 'When Published', value: 'publication', description: 'Calls that end later' },
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
	...callOutputFields,
	callsAgainNotice,
];

export type PollSettings = CompletionSettings & {
	/** Undefined for all calls. */
	campaignId: number | undefined;
	/** Only calls that were created at this time or later, in epoch milliseconds. Undefined for those that end from now on. */
	start: number | 'last7Days' | undefined;
	/** Statuses of completed calls. */
	finished: StatusKeys;
	/** Of the data point for `opted_out`. */
	optOutKey: string;
};

/** @throws InvalidInput naming the field that can't be used */
export function readPollSettings(context: IPollFunctions, account: AccountClient): PollSettings {
	const form = formOf(context, campaignCallsFields);
	const isOfAll = form.choice('callsOf', 'campaign') === 'all';
	const campaignId = isOfAll ? undefined : parseCampaignId(form.text('campaignId'));
	const start = readStart(form, context.getTimezone());
	const settings = readCompletionSettings(form);
	const { campaign_id: wanted } = settings.filters;
	if (campaignId !== undefined && wanted.length > 0 && !wanted.includes(String(campaignId))) {
		throw new InvalidInput(
			`'Campaign IDs' in 'Filters' excludes each call of campaign ${campaignId}`,
			"Remove this filter, or set 'Calls to Check' to 'All Calls'.",
		);
	}
	const finished = finishedStatuses(account, settings);
	return { ...settings, campaignId, start, finished, optOutKey: account.optOutKey };
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
		'Select a date, or enter one such as 2027-01-31T18:30:00+05:30.',
	);
}
