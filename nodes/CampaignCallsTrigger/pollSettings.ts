import type { IPollFunctions } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { parseCampaignId, parseWholeNumber } from '../shared/api/parseIds';
import { onScreenOnly } from '../shared/api/resolution';
import {
	type CompletionSettings,
	readCompletionSettings,
} from '../shared/n8n/forms/callTriggerFields';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { isUnset, quoted, parseList } from '../shared/values';
import { campaignCallsFields } from './properties';
import { parseTime } from '../shared/dates';

/** The calls to check. */
export type CallSource =
	| { kind: 'campaign'; campaignId: number }
	| { kind: 'lists'; listIds: string[] }
	| { kind: 'all' };

export type PollSettings = CompletionSettings & {
	source: CallSource;
	/** Only calls that were created at this time or later. Epoch milliseconds. */
	from: number | undefined;
};

/** @throws InvalidInput naming the field that can't be used */
export function readPollSettings(context: IPollFunctions): PollSettings {
	const form = formOf(context, campaignCallsFields);
	const source = readSource(form);
	const from = readStart(form, context.getTimezone());
	return { ...readCompletionSettings(form), source, from };
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
	const resolution = onScreenOnly(
		'Enter only the campaign_upload_id of each list, such as 314. Push Campaign Contacts returns it.',
	);
	const numbers = ids.map((id) => parseWholeNumber(id, 'Contact List IDs', resolution));
	return { kind: 'lists', listIds: [...new Set(numbers.map(String))] };
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
