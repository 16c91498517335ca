import type { IExecuteFunctions, ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { parseAgentUuid, parseCampaignId, parseCount, wholeNumberIn } from '../shared/api/parseIds';
import { onScreenOnly } from '../shared/api/resolution';
import { OBSERVED_OUTCOMES, parseList, type CompletionFilters } from '../shared/calls/callEnd';
import { parseTime } from '../shared/calls/callFilters';
import type { Included } from '../shared/calls/readBack';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf, NodeParameters } from '../shared/n8n/forms/nodeParameters';
import { isUnset, quoted } from '../shared/values';
import { completionFields } from './properties';
import type { CallSource } from './reading/listsToRead';

/** The settings of the trigger. */
export type CompletionSettings = {
	verify: boolean;
	included: Included;
	filters: CompletionFilters;
	/** Statuses of completed calls. */
	finished: string[];
	respondsImmediately: boolean;
	allowDuplicates: boolean;
	hasWebhook: boolean;
	/** Undefined if calls only come by webhook. */
	reading: ReadingSettings | undefined;
};

export type ReadingSettings = {
	source: CallSource;
	everyMs: number;
	/** Only calls that were created at this time or later. Epoch milliseconds. */
	from: number | undefined;
};

const MAX_MINUTES = 1_440;

/** @throws InvalidInput naming the field that can't be used */
export function readCompletionSettings(
	context: ITriggerFunctions | IWebhookFunctions | IExecuteFunctions,
): CompletionSettings {
	const form =
		'getInputData' in context
			? new NodeParameters(context, completionFields).at(0)
			: formOf(context, completionFields);
	const filters = form.collection('filters');
	const options = form.collection('settings');
	const included = form.choices('include');
	const listIn = (name: string) => parseList(filters.textOrList(name));
	const getCalls = form.choice('getCalls', 'webhook');
	const isRead = getCalls !== 'webhook';
	return {
		// A forged report must not use up the outcome of a call that is read.
		verify: isRead || form.switch('verify', true),
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
		allowDuplicates: !isRead && options.switch('allowDuplicates', false),
		hasWebhook: getCalls !== 'reading',
		reading: isRead ? readReadingSettings(form, context.getTimezone()) : undefined,
	};
}

function readReadingSettings(form: Fields, zone: string): ReadingSettings {
	return {
		source: readSource(form),
		everyMs: readMinutes(form) * 60_000,
		from: readStart(form, zone),
	};
}

function readSource(form: Fields): CallSource {
	const kind = form.choice('callsOf', 'campaign');
	if (kind === 'all') return { kind };
	if (kind === 'campaign') {
		return { kind, campaignId: parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK)) };
	}
	const ids = parseList(form.textOrList('contactListIds', MAY_BE_BLANK));
	if (ids.length === 0) {
		throw new InvalidInput(
			"'Contact List IDs' is empty",
			onScreenOnly('Enter the campaign_upload_id that Push Campaign Contacts returns.'),
		);
	}
	const numbers = ids.map((id) => {
		const number = wholeNumberIn(id);
		if (number !== undefined) return number;
		throw new InvalidInput(
			`'Contact List IDs' must list whole numbers (got ${quoted(id)})`,
			onScreenOnly(
				'Enter only the campaign_upload_id of each list, such as 314. Push Campaign Contacts returns it.',
			),
		);
	});
	return { kind: 'lists', listIds: [...new Set(numbers.map(String))] };
}

function readMinutes(form: Fields): number {
	const resolution = onScreenOnly(`Enter a number of minutes from 1 to ${MAX_MINUTES}.`);
	const minutes = parseCount(form.number('checkEvery', 5), 'Check Every (Minutes)', resolution);
	if (minutes <= MAX_MINUTES) return minutes;
	throw new InvalidInput(`'Check Every (Minutes)' must be at most ${MAX_MINUTES}`, resolution);
}

function readStart(form: Fields, zone: string): number | undefined {
	const value = form.time('startFrom');
	if (isUnset(value)) return undefined;
	const at = parseTime(value, zone);
	if (at.isValid) return at.toMillis();
	throw new InvalidInput(
		`'Start From' must be a date (got ${quoted(value)})`,
		onScreenOnly('Select a date, or enter one such as 2027-01-31T18:30:00+05:30.'),
	);
}
