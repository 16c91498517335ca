import isNumber from 'lodash/isNumber';
import mapValues from 'lodash/mapValues';
import pickBy from 'lodash/pickBy';
import round from 'lodash/round';
import sum from 'lodash/sum';
import uniq from 'lodash/uniq';
import type { ApiClient } from '../service/client';
import { getCampaignStatus, type Additions } from '../service/endpoints';
import { recordOf } from '../service/envelope';
import { readEach } from '../service/limits';
import { readOnce } from '../service/paging';
import type { Account } from '../profile/serviceProfile';
import { OBSERVED_OUTCOMES, PICKED } from '../calls/callEnd';
import { callList } from '../calls/callList';
import type { Clock } from '../values/clock';
import { isJsonObject, type JsonObject, type JsonValue, numberIn } from '../values/json';
import { plainText } from '../values/values';

/** The response of a campaign status, by its documented fields. Missing fields are undefined. */
export type CampaignView = {
	/** The whole response. */
	record: JsonObject;
	campaign: JsonObject;
	status: string | undefined;
	calls: CallCounts | undefined;
	uploads: CampaignUpload[] | undefined;
};

/** Attempts, not contacts. */
export type CallCounts = {
	total: number | undefined;
	byStatus: { [status: string]: number } | undefined;
};

/** What the document calls a campaign upload or contact list: its queues, but not its contacts. */
export type CampaignUpload = { id: string; record: JsonObject; queues: JsonObject[] };

/** Reads `GET /v1/campaigns/{id}/status`. */
export async function readCampaign(
	client: ApiClient,
	campaignId: number,
	additions?: Additions,
): Promise<CampaignView> {
	return viewCampaign(recordOf(await getCampaignStatus(client, campaignId, additions)));
}

export function viewCampaign(data: JsonValue): CampaignView {
	const record = isJsonObject(data) ? data : { data };
	const campaign = isJsonObject(record.campaign) ? record.campaign : {};
	return {
		record,
		campaign,
		status: typeof campaign.status === 'string' ? campaign.status : undefined,
		calls: isJsonObject(record.calls) ? countsIn(record.calls) : undefined,
		uploads: Array.isArray(record.uploads)
			? objectsIn(record.uploads).map((upload) => ({
					id: plainText(upload.campaign_upload_id),
					record: upload,
					queues: objectsIn(upload.queues),
				}))
			: undefined,
	};
}

/**
 * The contact lists, for a trigger that compares them with those of its next check. Without attempts, missing ones count as
 * none, because some services write an empty list as null. Undefined if it isn't known which ones there are.
 */
export function listsToCompare({ uploads, calls }: CampaignView): CampaignUpload[] | undefined {
	return uploads ?? (calls?.total === 0 ? [] : undefined);
}

/** Whether all queues of the contact list are completed. False for a list that was never queued. */
function isCompleted({ queues }: CampaignUpload): boolean {
	return queues.length > 0 && queues.every(({ completed }) => completed === true);
}

/** Whether the list is or was in the calling queue. A list that was only pushed may have an empty queue. A missing count isn't 0. */
function isReleased({ queues }: CampaignUpload): boolean {
	return queues.some(({ total_queued: count, completed }) => count !== 0 || completed === true);
}

function countsIn(calls: JsonObject): CallCounts {
	const { total, by_status: byStatus } = calls;
	return {
		total: numberIn(total),
		byStatus: isJsonObject(byStatus) ? pickBy(mapValues(byStatus, numberIn), isNumber) : undefined,
	};
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
	return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The share of attempts that were picked up, from 0 to 1. `null` if the counts don't show it. */
function connectRate(calls: CallCounts | undefined): number | null {
	if (calls?.total === undefined) return null;
	const { total, byStatus = {} } = calls;
	// A missing count of picked-up attempts is 0 only if the other counts add up to the total.
	const others = OBSERVED_OUTCOMES.reduce((sum, status) => sum + (byStatus[status] ?? 0), 0);
	const picked = byStatus[PICKED] ?? (others === total ? 0 : undefined);
	return picked === undefined || picked > total ? null : ratio(picked, total);
}

/** `null` if the counts don't show it, or there are no contacts. */
function attemptsPerContact(calls: CallCounts | undefined, contacts: number | null): number | null {
	return calls?.total === undefined || contacts === null ? null : ratio(calls.total, contacts);
}

/** The contacts in all queues. `null` if the response lacks the lists, their queues, or a count. */
function contactsIn({ uploads }: CampaignView): number | null {
	if (uploads?.every(({ record: upload }) => Array.isArray(upload.queues)) !== true) return null;
	const counts = uploads.flatMap(({ queues }) => queues.map((queue) => queue.total_queued));
	return counts.every(isNumber) ? sum(counts) : null;
}

function ratio(part: number, whole: number): number | null {
	return whole > 0 ? round(part / whole, 4) : null;
}

/** One flat record with attempts by status, contacts, lists, connect rate, and attempts per contact. */
export function simplifyCampaign(view: CampaignView): JsonObject {
	const { campaign, calls, uploads } = view;
	const contacts = contactsIn(view);
	const attempts = Object.entries(calls?.byStatus ?? {}).map(
		([status, count]) => [`attempts_${status}`, count] as const,
	);
	return {
		campaign_id: campaign.id ?? null,
		name: campaign.name ?? null,
		status: campaign.status ?? null,
		attempts_total: calls?.total ?? null,
		...Object.fromEntries(attempts),
		connect_rate: connectRate(calls),
		contacts_queued: contacts,
		attempts_per_contact: attemptsPerContact(calls, contacts),
		lists_total: uploads?.length ?? null,
		lists_queued: uploads?.filter(isReleased).length ?? null,
		lists_completed: uploads?.filter(isCompleted).length ?? null,
	};
}

/**
 * The claim of a push of a number.
 *
 * @param number equal for equal numbers in any format
 */
export function pushText(campaignId: number, number: string): string {
	return `campaign ${campaignId} ${number}`;
}

/** Calls to look at. More would keep the user waiting. */
const MAX_CALLS = 200;
const MAX_CAMPAIGNS = 30;
const RECENT_MS = 90 * 24 * 3_600_000;

/**
 * The campaigns of recent calls, by `campaign_id` of the call list ("List Calls") and the names of "Campaign Status". The
 * document has no request that lists campaigns. If the profile has no start date, the campaigns of the
 * first calls that the service lists. `name` is empty if the campaign's status can't be read.
 *
 * @throws InvalidInput if the call list needs more of the profile
 * @throws OutcomeUnknown if the response has no list of calls
 */
export async function recentCampaigns(account: Account, clock: Clock) {
	const { client, profile } = account;
	const from = new Date(clock.now() - RECENT_MS).toISOString();
	const filters = profile.needOf('calls', 'from') === undefined ? {} : { from };
	const list = callList(account, { filters, limit: MAX_CALLS });
	const { entries: calls } = await readOnce(list, MAX_CALLS);
	const ids = uniq(calls.map(({ campaign_id: id }) => plainText(id)).filter((id) => id !== ''));
	return await readEach(ids.slice(0, MAX_CAMPAIGNS), async (id) => {
		// A campaign without a readable status can still be selected.
		const view = await readCampaign(client, Number(id)).catch(() => undefined);
		return { id, name: plainText(view?.campaign.name) };
	});
}
