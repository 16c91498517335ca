import { isJsonObject, type JsonObject, type JsonValue } from './json';

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
			id: idOf(upload.campaign_upload_id),
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
		agentUuid: idOf(record.agent_uuid),
		totalQueued: typeof record.total_queued === 'number' ? record.total_queued : 0,
		isEmpty: record.total_queued === 0,
		completed: record.completed === true,
		record,
	};
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
	return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function idOf(value: JsonValue | undefined): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** One flat record: attempts by status, what is queued, how many lists are completed. */
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
		contacts_queued: queues.reduce((sum, { totalQueued }) => sum + totalQueued, 0),
		lists_total: lists.length,
		lists_queued: lists.filter(isReleased).length,
		lists_completed: lists.filter(isCompleted).length,
	};
}
