import groupBy from 'lodash/groupBy';
import isNumber from 'lodash/isNumber';
import mapValues from 'lodash/mapValues';
import orderBy from 'lodash/orderBy';
import pickBy from 'lodash/pickBy';
import zip from 'lodash/zip';
import {
	type CampaignUpload,
	type CampaignView,
	isCompleted,
	type Queue,
} from '../shared/campaign';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';

/** What the trigger remembers of its last reading. Null for what no reading had. */
export type Reading = {
	/** The service and campaign. The first reading of another one is compared with nothing. */
	subject: string;
	status: string | null;
	total: number | null;
	byStatus: { [status: string]: number };
	/** The contacts of each completed queue, by the contact list and the agent of the queue. */
	completed: { [owner: string]: Size[] };
};

type Size = number | null;

/** What the response lacks stays the same, so that it isn't a change when it returns. */
export function readingOf(subject: string, view: CampaignView, previous?: Reading): Reading {
	const completed = { ...previous?.completed };
	for (const [owner, queues] of Object.entries(queuesOf(view))) {
		const known = completed[owner] ?? [];
		const sizes = queues.filter(({ queue }) => queue.completed).map(sizeOf);
		const lacksSome = queues.length < known.length || sizes.includes(null);
		completed[owner] = lacksSome ? largestOf(known, sizes) : sizes;
	}
	return {
		subject,
		status: view.status ?? previous?.status ?? null,
		total: view.calls?.total ?? previous?.total ?? null,
		byStatus: view.calls?.byStatus ?? previous?.byStatus ?? {},
		completed,
	};
}

/** Both lists in one: the larger of each two sizes, from the largest on. Those without a size may be any. */
function largestOf(known: readonly Size[], sizes: readonly Size[]): Size[] {
	const sorted = (list: readonly Size[]) => list.filter(isNumber).sort((a, b) => b - a);
	const pairs = zip(sorted(known), sorted(sizes));
	const largest = pairs.map(([one = 0, other = 0]) => Math.max(one, other));
	const unknown = Math.max(known.length, sizes.length) - largest.length;
	return [...largest, ...Array<null>(unknown).fill(null)];
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
		...completedQueues(before, view),
		...countChange(before, after),
	];
	const chosen = events.filter(({ event }) => types.includes(event));
	return chosen.map((event) => ({ ...event, ...stateOf(view) }));
}

type ProgressEvent = JsonObject & { event: string };

/** The event of the first poll and of a test in the editor. */
export function currentState(view: CampaignView): JsonObject {
	return { event: 'current_state', ...stateOf(view), uploads: view.record.uploads ?? [] };
}

function statusChange({ status: from }: Reading, { status: to }: Reading): ProgressEvent[] {
	return from === null || to === from ? [] : [{ event: 'status_changed', from, to }];
}

/** A queue may be completed again with more contacts. Those of one agent are compared from the largest on. */
function completedQueues({ completed }: Reading, view: CampaignView): ProgressEvent[] {
	return Object.entries(queuesOf(view)).flatMap(([owner, queues]) => {
		const known = (completed[owner] ?? []).map((size) => size ?? Infinity).sort((a, b) => b - a);
		const isNew = ({ queue }: ListedQueue) => {
			const isKnown = (known[0] ?? -1) >= queue.totalQueued;
			if (isKnown) known.shift();
			return !isKnown;
		};
		const ended = queues.filter(({ queue }) => queue.completed);
		return orderBy(ended, 'queue.totalQueued', 'desc').filter(isNew).map(completion);
	});
}

function completion({ upload, queue }: ListedQueue): ProgressEvent {
	return {
		event: 'queue_completed',
		campaign_upload_id: upload.record.campaign_upload_id ?? null,
		file_name: upload.record.file_name ?? null,
		list_completed: isCompleted(upload),
		queue: queue.record,
	};
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

type ListedQueue = { upload: CampaignUpload; queue: Queue };

/** By contact list and agent, because a queue has no ID. */
function queuesOf({ uploads }: CampaignView): { [owner: string]: ListedQueue[] } {
	const queues = uploads.flatMap((upload) => upload.queues.map((queue) => ({ upload, queue })));
	return groupBy(queues, ({ upload, queue }) => [upload.id, queue.agentUuid].join('/'));
}

function sizeOf({ queue }: ListedQueue): Size {
	return numberOrNull(queue.record.total_queued ?? null);
}

/** A stored reading. `undefined` if there is none, or if it's of another campaign. */
export function storedReading(stored: unknown, subject: string): Reading | undefined {
	if (!isJsonObject(stored) || stored.subject !== subject) return undefined;
	const { status, total, byStatus, completed } = stored;
	return {
		subject,
		status: typeof status === 'string' ? status : null,
		total: typeof total === 'number' ? total : null,
		byStatus: isJsonObject(byStatus) ? pickBy(byStatus, isNumber) : {},
		completed: isJsonObject(completed) ? mapValues(completed, sizesIn) : {},
	};
}

function sizesIn(value: JsonValue): Size[] {
	return Array.isArray(value) ? value.map(numberOrNull) : [];
}

function numberOrNull(value: JsonValue): Size {
	return typeof value === 'number' ? value : null;
}
