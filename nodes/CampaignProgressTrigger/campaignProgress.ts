import mapValues from 'lodash/mapValues';
import {
	isCompleted,
	type CallCounts,
	type CampaignView,
	type ContactList,
	type Queue,
} from '../shared/campaign';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';

export const PROGRESS_EVENTS = [
	'status_changed',
	'queue_completed',
	'call_counts_changed',
] as const;
export type ProgressEvent = (typeof PROGRESS_EVENTS)[number];

/** The state of the campaign at the last poll. */
export type Baseline = {
	/** The service and campaign. Another one starts a new baseline. */
	subject: string;
	/** The number of polls so far. */
	polls: number;
	status: string | null;
	/** Completed queues, by key. */
	completed: { [queue: string]: CompletedQueue };
	total: number | null;
	byStatus: { [status: string]: number };
};

/**
 * A queue when it was last completed. `since`: it was in progress again after that, either with new calls (`newRun`) or
 * without a sign of them (`reopened`), which may be a fluctuating count.
 */
export type CompletedQueue = {
	/** `null` if no response had it. */
	queued: number | null;
	/** Call attempts of the whole campaign. */
	attempts: number | null;
	since?: 'reopened' | 'newRun';
};

/**
 * The baseline after this response. Fields that the response lacks are copied from the previous baseline, so that they
 * don't count as changes when they return.
 */
export function nextBaseline(subject: string, view: CampaignView, previous?: Baseline): Baseline {
	const queues = queuesOf(view);
	const completed = { ...previous?.completed };
	for (const { key, queue } of queues) {
		const known = completed[key];
		if (queue.completed) {
			const { total_queued: queued } = queue.record;
			completed[key] = {
				queued: typeof queued === 'number' ? queued : (known?.queued ?? null),
				attempts: view.calls?.total ?? previous?.total ?? null,
			};
		} else if (known !== undefined) {
			const since = hasNewWork(known, queue, view) ? 'newRun' : 'reopened';
			completed[key] = { ...known, since };
		}
	}
	return {
		subject,
		polls: (previous?.polls ?? 0) + 1,
		status: view.status ?? previous?.status ?? null,
		completed,
		total: view.calls?.total ?? previous?.total ?? null,
		byStatus: view.calls?.byStatus ?? previous?.byStatus ?? {},
	};
}

/** The events between two polls, of the selected types. */
export function progressBetween(
	previous: Baseline,
	view: CampaignView,
	kinds: readonly ProgressEvent[],
): JsonObject[] {
	return kinds
		.flatMap((kind) => EVENT_FINDERS[kind](previous, view))
		.map((event) => ({ ...event, ...stateOf(view) }));
}

/** The event of the first poll and of a test in the editor. */
export function currentState(view: CampaignView): JsonObject {
	return { event: 'current_state', ...stateOf(view), uploads: view.record.uploads ?? [] };
}

const EVENT_FINDERS: {
	[kind in ProgressEvent]: (previous: Baseline, view: CampaignView) => JsonObject[];
} = {
	status_changed: ({ status: from }, { status: to }) =>
		from === null || to === undefined || from === to ? [] : [{ event: 'status_changed', from, to }],

	queue_completed: (previous, view) => {
		return queuesOf(view)
			.filter(
				({ key, queue }) =>
					queue.completed && isNewCompletion(previous.completed[key], queue, view),
			)
			.map(({ list, queue }) => ({
				event: 'queue_completed',
				campaign_upload_id: list.record.campaign_upload_id ?? null,
				file_name: list.record.file_name ?? null,
				list_completed: isCompleted(list),
				queue: queue.record,
			}));
	},

	call_counts_changed: ({ total, byStatus }, { calls }) => {
		if (calls === undefined || total === null) return [];
		const changes = changesBetween(byStatus, calls);
		const moved = calls.total !== undefined && calls.total !== total;
		if (!moved && changes.length === 0) return [];
		return [
			{
				event: 'call_counts_changed',
				total: { from: total, to: calls.total ?? total },
				by_status: Object.fromEntries(changes),
			},
		];
	},
};

/**
 * A queue may be completed again after redials, callbacks, or new contacts. All of them change a count. New contacts of
 * this queue are certain, also if it was completed at both polls.
 */
function isNewCompletion(
	known: CompletedQueue | undefined,
	queue: Queue,
	view: CampaignView,
): boolean {
	if (known === undefined || hasNewContacts(known, queue)) return true;
	return known.since !== undefined && hasNewWork(known, queue, view);
}

function hasNewWork(known: CompletedQueue, queue: Queue, { calls }: CampaignView): boolean {
	if (known.since === 'newRun' || hasNewContacts(known, queue)) return true;
	return known.attempts !== null && (calls?.total ?? 0) > known.attempts;
}

function hasNewContacts(known: CompletedQueue, queue: Queue): boolean {
	return known.queued !== null && queue.totalQueued > known.queued;
}

function changesBetween(
	previous: Baseline['byStatus'],
	{ byStatus }: CallCounts,
): Array<[string, JsonObject]> {
	if (byStatus === undefined) return [];
	const statuses = new Set([...Object.keys(previous), ...Object.keys(byStatus)]);
	return [...statuses]
		.map((status) => ({ status, from: previous[status] ?? 0, to: byStatus[status] ?? 0 }))
		.filter(({ from, to }) => from !== to)
		.map(({ status, from, to }) => [status, { from, to }]);
}

function stateOf({ campaign, record }: CampaignView): JsonObject {
	return { campaign, calls: record.calls ?? {} };
}

/** Identifies a queue by its list and agent, and several queues of one agent by their order. */
function queuesOf({
	lists,
}: CampaignView): Array<{ key: string; list: ContactList; queue: Queue }> {
	return lists.flatMap((list) => {
		const earlier = new Map<string, number>();
		return list.queues.map((queue) => {
			const count = earlier.get(queue.agentUuid) ?? 0;
			earlier.set(queue.agentUuid, count + 1);
			return { key: [list.id, queue.agentUuid, count].join('/'), list, queue };
		});
	});
}

/** A stored baseline. `undefined` if there is none, or if it belongs to another campaign. */
export function readBaseline(stored: unknown, subject: string): Baseline | undefined {
	if (!isJsonObject(stored) || stored.subject !== subject) return undefined;
	const { polls, status, completed, total, byStatus } = stored;
	return {
		subject,
		polls: typeof polls === 'number' ? polls : 0,
		status: typeof status === 'string' ? status : null,
		completed: isJsonObject(completed) ? mapValues(completed, readCompletedQueue) : {},
		total: typeof total === 'number' ? total : null,
		byStatus: isJsonObject(byStatus) ? numbersIn(byStatus) : {},
	};
}

function readCompletedQueue(stored: JsonValue): CompletedQueue {
	const { queued, attempts, since } = isJsonObject(stored) ? stored : {};
	return {
		queued: typeof queued === 'number' ? queued : null,
		attempts: typeof attempts === 'number' ? attempts : null,
		...((since === 'reopened' || since === 'newRun') && { since }),
	};
}

function numbersIn(values: { [name: string]: JsonValue }): { [name: string]: number } {
	return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
}
