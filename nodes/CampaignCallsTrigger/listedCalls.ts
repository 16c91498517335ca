import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import {
	END_FIELDS,
	hasEnded,
	OUTCOME_FIELDS,
	outcomeKey,
	type StatusKeys,
} from '../core/calls/callEnd';
import { callList, whereIsTheList } from '../core/calls/callList';
import { listsToCompare, readCampaign } from '../core/campaigns/campaign';
import type { ApiClient } from '../core/service/client';
import { unusable } from '../core/service/errors';
import { readOnce, readPages } from '../core/service/paging';
import { CALL_ID } from '../core/service/parseIds';
import { hasOffset } from '../core/values/dates';
import { hashOf } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
import type { Limiter } from '../core/values/keyedMutex';
import { forEachWithPauses } from '../core/values/pauses';
import { plainText } from '../core/values/values';
import type { AccountClient } from '../host/http/accountClient';

/** All calls are one list with this ID. */
export const ALL_CALLS = '';

const WITHOUT_LISTS =
	"Ask your service provider, or set 'Calls to Check' to 'All Calls', and enter the campaign in 'Campaign IDs' in 'Filters'.";

/**
 * The `campaign_upload_id` of each contact list of the campaign.
 *
 * @throws OutcomeUnknown if the lists are missing, because their calls would count as new later, or if one has no ID, because
 * the call list would return the calls of all campaigns
 */
export async function contactLists(
	client: ApiClient,
	campaignId: number | undefined,
): Promise<string[]> {
	if (campaignId === undefined) return [ALL_CALLS];
	const uploads = listsToCompare(await readCampaign(client, campaignId));
	if (uploads === undefined)
		throw unusable('The status of the campaign has no contact lists', WITHOUT_LISTS);
	const ids = uploads.map(({ id }) => id);
	if (ids.includes(ALL_CALLS))
		throw unusable('A contact list of the campaign has no campaign_upload_id', WITHOUT_LISTS);
	return ids;
}

/** A call as the call list shows it, which may be less than its record. */
export type ListedCall = {
	callId: string;
	/** What the entry shows of the outcome. Differs from that of the record if the list lags behind. */
	shown: JsonObject;
	/** Of `shown`. */
	outcome: string;
	/** Epoch milliseconds. NaN if the entry doesn't show it. */
	createdAt: number;
	/** Undefined if the entry lacks fields in which an end would show. */
	hasEnded: boolean | undefined;
};

/** Identifies an outcome of a call. Short, because the trigger remembers many. */
export function outcomeOf(callId: string, record: JsonObject): string {
	return hashOf(outcomeKey(callId, record));
}

const IF_CHANGING =
	"In n8n, publish again while fewer calls are placed, or choose 'Date' in 'Start From'.";

type ReadingOptions = {
	limit: number;
	/** For a first reading, whose calls never start the workflow. */
	mustBeWhole?: boolean;
	limiter?: Limiter;
};

/**
 * Reads the first calls of a list.
 *
 * @throws OutcomeUnknown if no entry has a `call_id`. Single ones without it are left out.
 */
export async function readList(
	account: Pick<AccountClient, 'client' | 'profile'>,
	listId: string,
	finished: StatusKeys,
	{ limit, mustBeWhole = false, limiter }: ReadingOptions,
): Promise<ListedCall[]> {
	/** What is used of an entry. The rest of a long list would fill the memory. */
	const compact = (entry: JsonObject): JsonObject => ({
		...pick(entry, 'call_id', 'created_at', OUTCOME_FIELDS),
		has_ended: endShownIn(entry, finished) ?? null,
	});
	const filters = listId === ALL_CALLS ? {} : { campaignUploadId: listId };
	const request = { filters, limit, limiter, compact, ifChanging: IF_CHANGING };
	const list = callList(account, request);
	// One that a reading misses is found by the next check, except by the first one.
	const entries = mustBeWhole
		? await readPages(list, limit)
		: (await readOnce(list, limit)).entries;
	const listed: ListedCall[] = [];
	await forEachWithPauses(entries, (entry) => {
		const callId = plainText(entry.call_id);
		if (!CALL_ID.test(callId)) return;
		const shown = pick(entry, OUTCOME_FIELDS);
		const { has_ended: isEnded } = entry;
		listed.push({
			callId,
			shown,
			outcome: outcomeOf(callId, shown),
			createdAt: createdAtOf(entry),
			hasEnded: typeof isEnded === 'boolean' ? isEnded : undefined,
		});
	});
	if (entries.length === 0 || listed.length > 0) return listed;
	throw unusable('No entry of the call list has a call_id', whereIsTheList(account, 'entry'));
}

/** Undefined if the entry lacks fields in which an end would show. */
function endShownIn(entry: JsonObject, finished: StatusKeys): boolean | undefined {
	const showsEnds = ['status', ...END_FIELDS].every((name) => Object.hasOwn(entry, name));
	return hasEnded(entry, finished) || (showsEnds ? false : undefined);
}

/** The zone in which a local time is at its latest moment. */
const LATEST_ZONE = 'UTC-12';

/**
 * `created_at` in epoch milliseconds. NaN if it can't be read. Without a UTC offset, the latest moment that it can be, so
 * that no call is lost.
 */
export function createdAtOf({ created_at: at }: JsonObject): number {
	if (typeof at !== 'string') return NaN;
	return DateTime.fromISO(at, { zone: hasOffset(at) ? 'utc' : LATEST_ZONE }).toMillis();
}
