import {
	isCompleted,
	isIdle,
	isReleased,
	type CampaignView,
	type ContactList,
} from '../shared/campaign';
import { isTransient } from '../shared/api/errors';
import { onScreenOnly, readerOf, type Resolution } from '../shared/api/resolution';
import { formOf } from '../shared/modelForms';
import type { Clock } from '../shared/clock';
import { whyNotRead } from '../shared/notRead';

export type WaitSettings = {
	intervalMs: number;
	limitMs: number;
	/** The contact list to wait for. All lists of the campaign if omitted. */
	contactListId?: number | undefined;
	/** Whether to keep waiting, because someone may activate the campaign or release its contacts. */
	waitWhileStopped: boolean;
	/** Whether the note is for a model. */
	isTool?: boolean;
};

export type WaitOutcome =
	| 'completed'
	| 'draft'
	| 'paused'
	| 'archived'
	| 'not_released'
	| 'timed_out';

export type WaitEnd = { outcome: WaitOutcome; note: string };

/** How a wait ended, and the campaign as last read. */
export type WaitedCampaign = {
	view: CampaignView;
	end: WaitEnd;
	/** Why the last read failed, so that the view is from an earlier one. */
	notRead?: string;
};

/** Contacts that were just released may appear late. After this time, the empty queue of a list counts as empty. */
export const IDLE_LIMIT_MS = 120_000;

/** Statuses in which nobody is called. Any other status, including an unknown one, may place calls. */
const STOPPED_STATUSES = new Map<string, WaitEnd & { isFinal: boolean }>([
	[
		'Draft',
		{
			outcome: 'draft',
			note: "The campaign is a draft, so nobody is called until it's activated.",
			isFinal: false,
		},
	],
	[
		'Paused',
		{
			outcome: 'paused',
			note: 'The campaign is paused. Its queued contacts are kept, and called when the campaign is activated again.',
			isFinal: false,
		},
	],
	[
		'Archived',
		{
			outcome: 'archived',
			note: "The campaign is archived, so the contacts that are left in its queues aren't called.",
			isFinal: true,
		},
	],
]);

/** Why the wait ends, or `undefined` to keep waiting. */
export function evaluateWait(
	view: CampaignView,
	{ contactListId, waitWhileStopped }: WaitSettings,
): WaitEnd | undefined {
	const lists = listsToWaitFor(view, contactListId);
	if (lists.length > 0 && lists.every(isCompleted)) {
		const list =
			contactListId === undefined ? 'Every queue with contacts' : `Contact list ${contactListId}`;
		return { outcome: 'completed', note: `${list} is completed.` };
	}
	return whyStopped(view, waitWhileStopped);
}

/** Why nobody is called, or `undefined` to keep waiting. */
function whyStopped({ status }: CampaignView, waitWhileStopped: boolean): WaitEnd | undefined {
	const stopped = STOPPED_STATUSES.get(status ?? '');
	if (stopped === undefined || (waitWhileStopped && !stopped.isFinal)) return undefined;
	return { outcome: stopped.outcome, note: stopped.note };
}

/** Lists that were never released to the calling queue don't count, except for a selected one. */
function listsToWaitFor({ lists }: CampaignView, contactListId: number | undefined): ContactList[] {
	return contactListId === undefined
		? lists.filter(isReleased)
		: lists.filter(({ id }) => id === String(contactListId));
}

/** The IDs of the lists, or of the selected one, without contacts in the queue. */
function emptyLists({ lists }: CampaignView, contactListId: number | undefined): string[] {
	return lists
		.filter((list) => !isReleased(list))
		.map(({ id }) => id)
		.filter((id) => contactListId === undefined || id === String(contactListId));
}

/** Whether contacts of another list may have been released just now, so that its queue still looks empty. */
function mayGetContacts(
	view: CampaignView,
	{ contactListId, waitWhileStopped }: WaitSettings,
): boolean {
	const isStopped = whyStopped(view, waitWhileStopped) !== undefined;
	return contactListId === undefined && !isStopped && emptyLists(view, contactListId).length > 0;
}

type Idleness = { reason: string; resolution: Resolution };

const RELEASE = onScreenOnly(
	"To release contacts, turn on 'Release to Calling Queue' in Push Campaign Contacts. To wait until someone releases them, turn on 'Keep Waiting While Stopped'.",
);

/** Why there is nothing to complete, or `undefined` if contacts are queued. */
function idleness(view: CampaignView, contactListId: number | undefined): Idleness | undefined {
	const lists = listsToWaitFor(view, contactListId);
	if (!lists.every(isIdle)) return undefined;
	if (contactListId === undefined)
		return { reason: 'the calling queue is empty', resolution: RELEASE };
	if (lists.length > 0) {
		return {
			reason: `contact list ${contactListId} has no contacts in the calling queue`,
			resolution: RELEASE,
		};
	}
	return {
		reason: `the campaign has no contact list ${contactListId}`,
		resolution: {
			onScreen:
				"Check 'Contact List ID' and 'Campaign'. Push Campaign Contacts returns the ID of the list as campaign_upload_id.",
			forModel: `Check the IDs you gave. ${formOf('Contact List ID')}`,
		},
	};
}

/** @param inProgress the IDs of lists that were in progress when they were last seen */
function timedOut(
	view: CampaignView,
	settings: WaitSettings,
	inProgress: ReadonlySet<string>,
	notRead: string | undefined,
): WaitEnd {
	const { contactListId, limitMs } = settings;
	const pending = [...inProgress];
	const after = `after ${durationText(limitMs)}`;
	if (notRead !== undefined) {
		const were =
			pending.length > 0
				? `these contact lists weren't completed: ${pending.join(', ')}`
				: 'no contact list was in progress';
		return {
			outcome: 'timed_out',
			note: `The time limit passed ${after}, and the campaign couldn't be read at the end. When it was last read, ${were}.`,
		};
	}
	const idle = pending.length > 0 ? undefined : idleness(view, contactListId);
	if (idle !== undefined) {
		const note = noteOf(`The time limit passed ${after}: ${idle.reason}.`, idle, settings);
		return { outcome: 'timed_out', note };
	}
	const shown = new Set(view.lists.map(({ id }) => id));
	const missing = pending.filter((id) => !shown.has(id));
	const andMissing =
		missing.length > 0 ? ` The campaign no longer shows these: ${missing.join(', ')}.` : '';
	return {
		outcome: 'timed_out',
		note: `The time limit passed ${after}. These contact lists aren't completed: ${pending.join(', ')}.${andMissing}`,
	};
}

function noteOf(happened: string, { resolution }: Idleness, settings: WaitSettings): string {
	return `${happened} ${resolution[readerOf(settings.isTool === true)]}`.trim();
}

function durationText(ms: number): string {
	const seconds = Math.round(ms / 1_000);
	const [count, unit] = seconds < 60 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute'];
	return `${count} ${count === 1 ? unit : `${unit}s`}`;
}

/**
 * Reads the campaign until its queues are completed, it stops, its queue stays empty, or the time limit passes. The first
 * read must succeed. Later ones may fail temporarily. Before the limit, only a successful read ends the wait.
 */
export async function waitUntilCompleted(
	read: () => Promise<CampaignView>,
	settings: WaitSettings,
	clock: Clock,
): Promise<WaitedCampaign> {
	const deadline = clock.elapsed() + settings.limitMs;
	let view = await read();
	let emptySince = clock.elapsed();
	const knownEmpty = new Set<string>();
	/** Lists count as completed only if a response says so, also if later ones don't have them. */
	const inProgress = new Set<string>();
	let wasQueued = false;
	let notRead: string | undefined;
	for (;;) {
		if (notRead === undefined) {
			const empty = emptyLists(view, settings.contactListId);
			if (!empty.every((id) => knownEmpty.has(id))) emptySince = clock.elapsed();
			for (const id of empty) knownEmpty.add(id);
			for (const list of listsToWaitFor(view, settings.contactListId)) {
				if (isCompleted(list)) inProgress.delete(list.id);
				else if (isReleased(list)) inProgress.add(list.id);
			}
			const isEarly = clock.elapsed() - emptySince < IDLE_LIMIT_MS;
			const end =
				inProgress.size > 0
					? whyStopped(view, settings.waitWhileStopped)
					: evaluateWait(view, settings);
			const mayChange = isEarly && clock.elapsed() < deadline && mayGetContacts(view, settings);
			if (end !== undefined && !(end.outcome === 'completed' && mayChange)) return { view, end };
			const idle = idleness(view, settings.contactListId);
			// A queue that had contacts before isn't empty by mistake.
			wasQueued ||= idle === undefined;
			const nothingToDo = wasQueued || settings.waitWhileStopped ? undefined : idle;
			if (nothingToDo !== undefined && !isEarly) {
				const note = noteOf(
					`The node has nothing to wait for: ${nothingToDo.reason}.`,
					nothingToDo,
					settings,
				);
				return { view, end: { outcome: 'not_released', note } };
			}
		}
		const remaining = deadline - clock.elapsed();
		if (remaining <= 0) {
			const end = timedOut(view, settings, inProgress, notRead);
			return { view, end, ...(notRead !== undefined && { notRead }) };
		}
		await clock.sleep(Math.min(settings.intervalMs, remaining));
		notRead = undefined;
		view = await read().catch((error: unknown) => {
			if (!isTransient(error)) throw error;
			notRead = whyNotRead(error, readerOf(settings.isTool === true));
			return view;
		});
	}
}
