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

/** What was seen last, kept between two polls. */
export type Baseline = {
	/** Which campaign of which service: another one starts a new baseline. */
	subject: string;
	/** How many looks have led to it. */
	looks: number;
	status: string | null;
	/** Queues seen completed, by their key. */
	completed: { [queue: string]: CompletedQueue };
	total: number | null;
	byStatus: { [status: string]: number };
};

/**
 * A queue as it was when it was last seen completed. Since then it may have been seen in progress again: `reopened` without
 * a sign of new calls, which may be a count that comes and goes, or with one, as a `newRun`.
 */
export type CompletedQueue = {
	queued: number;
	/** Call attempts of the whole campaign. */
	attempts: number | null;
	since?: 'reopened' | 'newRun';
};

/**
 * The baseline after this answer. What the answer leaves out is taken over from the former one, so
 * that it is not news again when it comes back.
 */
export function nextBaseline(subject: string, view: CampaignView, former?: Baseline): Baseline {
	const queues = queuesOf(view);
	const completed = { ...former?.completed };
	for (const { key, queue } of queues) {
		const known = completed[key];
		if (queue.completed) {
			completed[key] = { queued: queue.totalQueued, attempts: view.calls?.total ?? null };
		} else if (known !== undefined) {
			const since = hasNewWork(known, queue, view) ? 'newRun' : 'reopened';
			completed[key] = { ...known, since };
		}
	}
	return {
		subject,
		looks: (former?.looks ?? 0) + 1,
		status: view.status ?? former?.status ?? null,
		completed,
		total: view.calls?.total ?? former?.total ?? null,
		byStatus: view.calls?.byStatus ?? former?.byStatus ?? {},
	};
}

/** What happened between two polls, of the chosen kinds. */
export function progressBetween(
	former: Baseline,
	view: CampaignView,
	kinds: readonly ProgressEvent[],
): JsonObject[] {
	return kinds
		.flatMap((kind) => FINDERS[kind](former, view))
		.map((event) => ({ ...event, ...stateOf(view) }));
}

/** The campaign as it stands, as the first poll and the editor's test show it. */
export function presentState(view: CampaignView): JsonObject {
	return { event: 'current_state', ...stateOf(view), uploads: view.record.uploads ?? [] };
}

const FINDERS: {
	[kind in ProgressEvent]: (former: Baseline, view: CampaignView) => JsonObject[];
} = {
	status_changed: ({ status: from }, { status: to }) =>
		from === null || to === undefined || from === to ? [] : [{ event: 'status_changed', from, to }],

	queue_completed: (former, view) => {
		return queuesOf(view)
			.filter(({ key, queue }) => queue.completed && isNews(former.completed[key], queue, view))
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

/** Of a queue that is completed. It may be completed again by redials, callbacks or new contacts, which all show in a count. */
function isNews(known: CompletedQueue | undefined, queue: Queue, view: CampaignView): boolean {
	return known === undefined || (known.since !== undefined && hasNewWork(known, queue, view));
}

function hasNewWork(known: CompletedQueue, queue: Queue, { calls }: CampaignView): boolean {
	if (known.since === 'newRun' || queue.totalQueued > known.queued) return true;
	return known.attempts !== null && (calls?.total ?? 0) > known.attempts;
}

function changesBetween(
	former: Baseline['byStatus'],
	{ byStatus }: CallCounts,
): Array<[string, JsonObject]> {
	const statuses = new Set([...Object.keys(former), ...Object.keys(byStatus)]);
	return [...statuses]
		.map((status) => ({ status, from: former[status] ?? 0, to: byStatus[status] ?? 0 }))
		.filter(({ from, to }) => from !== to)
		.map(({ status, from, to }) => [status, { from, to }]);
}

function stateOf({ campaign, record }: CampaignView): JsonObject {
	return { campaign, calls: record.calls ?? {} };
}

/** A list's queues are told apart by their agent; a further one of the same agent by its place. */
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

/** A stored baseline; `undefined` for none or one of another campaign. */
export function readBaseline(stored: unknown, subject: string): Baseline | undefined {
	if (!isJsonObject(stored) || stored.subject !== subject) return undefined;
	const { looks, status, completed, total, byStatus } = stored;
	return {
		subject,
		looks: typeof looks === 'number' ? looks : 0,
		status: typeof status === 'string' ? status : null,
		completed: isJsonObject(completed) ? mapValues(completed, readCompletedQueue) : {},
		total: typeof total === 'number' ? total : null,
		byStatus: isJsonObject(byStatus) ? numbersIn(byStatus) : {},
	};
}

function readCompletedQueue(stored: JsonValue): CompletedQueue {
	const { queued, attempts, since } = isJsonObject(stored) ? stored : {};
	return {
		queued: typeof queued === 'number' ? queued : 0,
		attempts: typeof attempts === 'number' ? attempts : null,
		...((since === 'reopened' || since === 'newRun') && { since }),
	};
}

function numbersIn(values: { [name: string]: JsonValue }): { [name: string]: number } {
	return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
}
