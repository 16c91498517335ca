import pick from 'lodash/pick';
import { DateTime } from 'luxon';
import type { ApiClient } from '../core/service/client';
import { unusable } from '../core/service/errors';
import { CALL_ID } from '../core/service/parseIds';
import { readOnce, readPages } from '../core/service/paging';
import type { AccountClient } from '../host/http/accountClient';
import {
	END_FIELDS,
	hasEnded,
	hasValue,
	OUTCOME_FIELDS,
	outcomeKey,
	type StatusKeys,
} from '../core/calls/callEnd';
import { callList, whereIsTheList } from '../core/calls/callList';
import { isCompleted, listsToCompare, readCampaign } from '../core/campaigns/campaign';
import { hasOffset } from '../core/values/dates';
import { fingerprint64 } from '../core/values/hash';
import { plainText } from '../core/values/values';
import { forEachWithPauses } from '../core/values/pauses';
import type { JsonObject } from '../core/values/json';
import type { Limiter } from '../core/values/keyedMutex';

export type ListToRead = {
	/** `campaign_upload_id`, or {@link ALL_CALLS}. */
	id: string;
	/** The calling queues, as the campaign status shows them, if all are completed. */
	completedQueues?: string;
};

/** All calls are one list with this ID. */
export const ALL_CALLS = '';

/**
 * @returns `attempts`: of the campaign, as its status counts them. 0 if it doesn't.
 * @throws OutcomeUnknown if the lists are missing, because their calls would count as new later, or if one has no ID, because
 * the call list would return the calls of all campaigns
 */
export async function listsToRead(
	client: ApiClient,
	campaignId: number | undefined,
): Promise<{ lists: ListToRead[]; attempts: number }> {
	if (campaignId === undefined) return { lists: [{ id: ALL_CALLS }], attempts: 0 };
	const view = await readCampaign(client, campaignId);
	const uploads = listsToCompare(view);
	if (uploads === undefined)
		throw unusable('The status of the campaign has no contact lists', WITHOUT_LISTS);
	const lists = uploads.map((upload) => {
		if (upload.id === ALL_CALLS)
			throw unusable('A contact list of the campaign has no campaign_upload_id', WITHOUT_LISTS);
		const queues = JSON.stringify(upload.queues);
		return { id: upload.id, ...(isCompleted(upload) && { completedQueues: queues }) };
	});
	return { lists, attempts: view.calls?.total ?? 0 };
}

const WITHOUT_LISTS =
	"Ask your service provider, or set 'Calls Of' to 'All Calls', and enter the campaign in 'Campaign IDs' in 'Filters'.";

/** A call as the call list shows it, which may be less than its record. */
export type ListedCall = {
	callId: string;
	/** Of the outcome, as far as the entry shows it. Differs from that of the record if the list lags behind. */
	fingerprint: bigint;
	/** What the entry shows of the outcome. */
	outcome: JsonObject;
	/** Epoch milliseconds. NaN if the entry doesn't show it. */
	createdAt: number;
	/** Undefined if the entry lacks fields in which an end would show. */
	hasEnded: boolean | undefined;
};

const FIELDS = ['call_id', 'created_at', ...OUTCOME_FIELDS];

/** Fields in which the end of a call shows. */
const SHOW_ENDS = ['status', ...END_FIELDS];

/** What is used of an entry. The rest of a long list would fill the memory. */
function compactEntry(entry: JsonObject): JsonObject {
	const compact: JsonObject = pick(entry, FIELDS);
	for (const name of END_FIELDS) {
		if (Object.hasOwn(entry, name)) compact[name] = hasValue(entry[name]) || null;
	}
	return compact;
}

const IF_CHANGING = "Publish again while fewer calls are placed, or choose 'Date' in 'Start From'.";

type ReadingOptions = {
	limit: number;
	/** Reads all, for a first reading, whose calls never start the workflow. */
	mustBeWhole: boolean;
	limiter?: Limiter | undefined;
};

/**
 * Reads the first calls of a list.
 *
 * @returns `isComplete`: false if calls may be missing
 * @throws OutcomeUnknown if no entry has a `call_id`. Single ones without it are left out.
 */
export async function readList(
	account: Pick<AccountClient, 'client' | 'profile'>,
	listId: string,
	finished: StatusKeys,
	{ limit, mustBeWhole, limiter }: ReadingOptions,
): Promise<{ listed: ListedCall[]; isComplete: boolean }> {
	const filters = listId === ALL_CALLS ? {} : { campaignUploadId: listId };
	const request = { filters, limit, limiter, compact: compactEntry, ifChanging: IF_CHANGING };
	const list = callList(account, request);
	const { entries, isStable: isComplete } = mustBeWhole
		? { entries: await readPages(list, Infinity), isStable: true }
		: await readOnce(list, limit);
	const listed: ListedCall[] = [];
	await forEachWithPauses(entries, (entry) => {
		const callId = plainText(entry.call_id);
		if (!CALL_ID.test(callId)) return;
		const showsEnds = SHOW_ENDS.every((name) => Object.hasOwn(entry, name));
		const isEnded = hasEnded(entry, finished);
		listed.push({
			callId,
			fingerprint: fingerprint64(outcomeKey(callId, entry)),
			outcome: pick(entry, OUTCOME_FIELDS),
			createdAt: createdAtOf(entry),
			hasEnded: isEnded || showsEnds ? isEnded : undefined,
		});
	});
	if (entries.length === 0 || listed.length > 0) return { listed, isComplete };
	throw unusable('No entry of the call list has a call_id', whereIsTheList(account, 'entry'));
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
