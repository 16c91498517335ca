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
	/** Queues seen completed. */
	completed: string[];
	total: number | null;
	byStatus: { [status: string]: number };
};

/**
 * The baseline after this answer. What the answer leaves out is taken over from the former one, so
 * that it is not news again when it comes back.
 */
export function nextBaseline(subject: string, view: CampaignView, former?: Baseline): Baseline {
	const queues = queuesOf(view);
	const shown = new Set(queues.map(({ key }) => key));
	const kept = (former?.completed ?? []).filter((key) => !shown.has(key));
	const completed = queues.filter(({ queue }) => queue.completed).map(({ key }) => key);
	return {
		subject,
		looks: (former?.looks ?? 0) + 1,
		status: view.status ?? former?.status ?? null,
		completed: [...kept, ...completed],
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
		const completed = new Set(former.completed);
		return queuesOf(view)
			.filter(({ key, queue }) => queue.completed && !completed.has(key))
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
		completed: Array.isArray(completed) ? completed.map(String) : [],
		total: typeof total === 'number' ? total : null,
		byStatus: isJsonObject(byStatus) ? numbersIn(byStatus) : {},
	};
}

function numbersIn(values: { [name: string]: JsonValue }): { [name: string]: number } {
	return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
}
