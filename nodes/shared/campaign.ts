import { OBSERVED_OUTCOMES, PICKED } from './calls/callEnd';
import { isJsonObject, type JsonObject, type JsonValue } from './json';
import { plainText } from './values';

/** A campaign status answer read by its documented names; what is not there stays open. */
export type CampaignView = {
	/** The whole answer. */
	record: JsonObject;
	campaign: JsonObject;
	status: string | undefined;
	calls: CallCounts | undefined;
	lists: ContactList[];
};

/** Attempts, not contacts. */
export type CallCounts = { total: number | undefined; byStatus: { [status: string]: number } };

export type ContactList = { id: string; record: JsonObject; queues: Queue[] };

export type Queue = {
	agentUuid: string;
	totalQueued: number;
	/** Only what the answer says is empty: a count that is left out is open. */
	isEmpty: boolean;
	completed: boolean;
	record: JsonObject;
};

export function viewCampaign(data: JsonValue): CampaignView {
	const record = isJsonObject(data) ? data : { data };
	const campaign = isJsonObject(record.campaign) ? record.campaign : {};
	return {
		record,
		campaign,
		status: typeof campaign.status === 'string' ? campaign.status : undefined,
		calls: isJsonObject(record.calls) ? countsIn(record.calls) : undefined,
		lists: objectsIn(record.uploads).map((upload) => ({
			id: plainText(upload.campaign_upload_id),
			record: upload,
			queues: objectsIn(upload.queues).map(queueIn),
		})),
	};
}

/** Whether every queue of the list is worked off; a list that was never queued is not. */
export function isCompleted({ queues }: ContactList): boolean {
	return queues.length > 0 && queues.every(({ completed }) => completed);
}

/** Whether the list is or was in the calling queue; one that was only pushed may show an empty queue. */
export function isReleased({ queues }: ContactList): boolean {
	return queues.some(({ isEmpty, completed }) => !isEmpty || completed);
}

/** Whether nothing of the list is left that could ever be completed. */
export function isIdle({ queues }: ContactList): boolean {
	return queues.every(({ isEmpty, completed }) => isEmpty || completed);
}

function countsIn(calls: JsonObject): CallCounts {
	const byStatus = isJsonObject(calls.by_status) ? calls.by_status : {};
	const counted = Object.entries(byStatus).flatMap(([status, count]) =>
		typeof count === 'number' ? [[status, count] as const] : [],
	);
	return {
		total: typeof calls.total === 'number' ? calls.total : undefined,
		byStatus: Object.fromEntries(counted),
	};
}

function queueIn(record: JsonObject): Queue {
	return {
		agentUuid: plainText(record.agent_uuid),
		totalQueued: typeof record.total_queued === 'number' ? record.total_queued : 0,
		isEmpty: record.total_queued === 0,
		completed: record.completed === true,
		record,
	};
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
	return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The share of the attempts that were picked up, from 0 to 1; `null` where the counts do not tell. */
function connectRate(calls: CallCounts | undefined): number | null {
	if (calls?.total === undefined) return null;
	const { total, byStatus } = calls;
	// No count of those picked up means none of them only where the others are all of the attempts.
	const others = OBSERVED_OUTCOMES.reduce((sum, status) => sum + (byStatus[status] ?? 0), 0);
	const picked = byStatus[PICKED] ?? (others === total ? 0 : undefined);
	return picked === undefined || picked > total ? null : ratio(picked, total);
}

/** `null` where a queue does not tell how many contacts it has, or there are none. */
function attemptsPerContact(calls: CallCounts | undefined, queues: Queue[]): number | null {
	const isCounted = queues.every(({ record }) => typeof record.total_queued === 'number');
	if (calls?.total === undefined || !isCounted) return null;
	return ratio(calls.total, contactsIn(queues));
}

function contactsIn(queues: Queue[]): number {
	return queues.reduce((sum, { totalQueued }) => sum + totalQueued, 0);
}

function ratio(part: number, whole: number): number | null {
	return whole > 0 ? Math.round((part / whole) * ROUNDED_TO) / ROUNDED_TO : null;
}

/** Four decimals: a tenth of a percent and more. */
const ROUNDED_TO = 10_000;

/** One flat record: attempts by status, what is queued, how many lists are completed, and two figures made of these. */
export function simplifyCampaign({ campaign, calls, lists }: CampaignView): JsonObject {
	const queues = lists.flatMap((list) => list.queues);
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
		contacts_queued: contactsIn(queues),
		attempts_per_contact: attemptsPerContact(calls, queues),
		lists_total: lists.length,
		lists_queued: lists.filter(isReleased).length,
		lists_completed: lists.filter(isCompleted).length,
	};
}
