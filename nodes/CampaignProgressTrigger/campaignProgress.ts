import {
	type CampaignUpload,
	type CampaignView,
	isCompleted,
	type Queue,
} from '../core/campaigns/campaign';
import { isJsonObject, type JsonObject } from '../core/values/json';

/** What the trigger remembers of its last reading. Null for what no reading had. */
export type Reading = {
	/** The service and campaign. The first reading of another one is compared with nothing. */
	subject: string;
	status: string | null;
	total: number | null;
	byStatus: { [status: string]: number };
	/** The completed queues of each contact list. */
	completed: { [listId: string]: string[] };
};

/** What the response lacks stays the same, so that it isn't a change when it returns. */
export function readingOf(subject: string, view: CampaignView, previous?: Reading): Reading {
	const uploads = view.uploads.filter(({ queues }) => queues.length > 0);
	const listed = uploads.map((upload): [string, string[]] => [
		upload.id,
		[...completedQueues(upload).keys()],
	]);
	return {
		subject,
		status: view.status ?? previous?.status ?? null,
		total: view.calls?.total ?? previous?.total ?? null,
		byStatus: view.calls?.byStatus ?? previous?.byStatus ?? {},
		completed: { ...previous?.completed, ...Object.fromEntries(listed) },
	};
}

/**
 * The completed queues of a list, by agent and contacts, because a queue has no ID, and may be completed again with other
 * contacts. Equal ones are numbered.
 */
function completedQueues({ queues }: CampaignUpload): Map<string, Queue> {
	const byName = new Map<string, Queue>();
	for (const queue of queues.filter(({ completed }) => completed)) {
		const name = `${queue.agentUuid}/${queue.totalQueued}`;
		let nth = 1;
		while (byName.has(`${name}/${nth}`)) nth++;
		byName.set(`${name}/${nth}`, queue);
	}
	return byName;
}

/** The events between two readings, of the selected types. */
export function progressBetween(
	before: Reading,
	after: Reading,
	view: CampaignView,
	types: readonly string[],
): JsonObject[] {
	const events = [
		...statusChange(before, after),
		...completions(before, view),
		...countChange(before, after),
	];
	const chosen = events.filter(({ event }) => types.includes(event));
	return chosen.map((event) => ({ ...event, ...stateOf(view) }));
}

type ProgressEvent = JsonObject & { event: string };

/** The event of a test in the editor. */
export function currentState(view: CampaignView): JsonObject {
	return { event: 'current_state', ...stateOf(view), uploads: view.record.uploads ?? [] };
}

function statusChange({ status: from }: Reading, { status: to }: Reading): ProgressEvent[] {
	return from === null || to === from ? [] : [{ event: 'status_changed', from, to }];
}

function completions({ completed }: Reading, { uploads }: CampaignView): ProgressEvent[] {
	return uploads.flatMap((upload) => {
		const known = completed[upload.id] ?? [];
		const ended = [...completedQueues(upload)].filter(([name]) => !known.includes(name));
		return ended.map(([, queue]) => ({
			event: 'queue_completed',
			campaign_upload_id: upload.record.campaign_upload_id ?? null,
			file_name: upload.record.file_name ?? null,
			list_completed: isCompleted(upload),
			queue: queue.record,
		}));
	});
}

function countChange(before: Reading, after: Reading): ProgressEvent[] {
	if (before.total === null) return [];
	const statuses = new Set([...Object.keys(before.byStatus), ...Object.keys(after.byStatus)]);
	const changes = [...statuses]
		.map((name) => ({ name, from: before.byStatus[name] ?? 0, to: after.byStatus[name] ?? 0 }))
		.filter(({ from, to }) => from !== to)
		.map(({ name, from, to }): [string, JsonObject] => [name, { from, to }]);
	if (after.total === before.total && changes.length === 0) return [];
	const total = { from: before.total, to: after.total };
	return [{ event: 'call_counts_changed', total, by_status: Object.fromEntries(changes) }];
}

function stateOf({ campaign, record }: CampaignView): JsonObject {
	return { campaign, calls: record.calls ?? {} };
}

/** Whether n8n has stored a reading of this campaign. */
export function isReadingOf(subject: string, stored: unknown): stored is Reading {
	return (
		isJsonObject(stored) &&
		stored.subject === subject &&
		isJsonObject(stored.byStatus) &&
		isJsonObject(stored.completed)
	);
}
