import {
	isCompleted,
	isIdle,
	isReleased,
	type CampaignView,
	type ContactList,
} from '../shared/campaign';
import { isTransient } from '../shared/api/errors';
import { onScreenOnly, readerOf, type Resolution } from '../shared/api/modelAdvice';
import { formOf } from '../shared/modelForms';
import type { Clock } from '../shared/clock';
import { whyNotRead } from '../shared/notRead';

export type WaitSettings = {
	intervalMs: number;
	limitMs: number;
	/** Waits for this contact list alone; for all of the campaign where it is not set. */
	contactListId?: number | undefined;
	/** Whether someone may still activate the campaign, or release its contacts, while this waits. */
	waitWhileStopped: boolean;
	/** Whether a model reads how it ended. */
	forModel?: boolean;
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
	/** Why the last reading gave nothing, so that the view is one from before. */
	notRead?: string;
};

/** What was just released may take a moment to show; after this long nothing is taken for nothing. */
export const IDLE_LIMIT_MS = 120_000;

/** Statuses in which nobody is called; any other, unknown ones included, may still make calls. */
const STOPPED: { [status: string]: WaitEnd & { lasting: boolean } } = {
	Draft: {
		outcome: 'draft',
		note: 'The campaign is a draft, so nobody is called until it is activated.',
		lasting: false,
	},
	Paused: {
		outcome: 'paused',
		note: 'The campaign is paused. What is queued is kept and called once it is activated again.',
		lasting: false,
	},
	Archived: {
		outcome: 'archived',
		note: 'The campaign is archived, so what is left in its queues is no longer called.',
		lasting: true,
	},
};

/** Why the wait is over, or `undefined` while it goes on. */
export function evaluateWait(
	view: CampaignView,
	{ contactListId, waitWhileStopped }: WaitSettings,
): WaitEnd | undefined {
	const lists = awaited(view, contactListId);
	if (lists.length > 0 && lists.every(isCompleted)) {
		const what = contactListId === undefined ? 'Every queue' : `Contact list ${contactListId}`;
		return { outcome: 'completed', note: `${what} is completed.` };
	}
	const stopped = STOPPED[view.status ?? ''];
	if (stopped === undefined || (waitWhileStopped && !stopped.lasting)) return undefined;
	return { outcome: stopped.outcome, note: stopped.note };
}

/** A list that was never released to the calling queue has nothing to complete, unless it is the one asked for. */
function awaited({ lists }: CampaignView, contactListId: number | undefined): ContactList[] {
	return contactListId === undefined
		? lists.filter(isReleased)
		: lists.filter(({ id }) => id === String(contactListId));
}

type Idleness = { what: string; resolution: Resolution };

const RELEASE = onScreenOnly(
	'Push Campaign Contacts puts contacts there with Release to Calling Queue turned on. To wait until someone does so, turn on Keep Waiting While Stopped.',
);

/** Why nothing will ever be completed as things stand, or `undefined` while something is queued. */
function idleness(view: CampaignView, contactListId: number | undefined): Idleness | undefined {
	const lists = awaited(view, contactListId);
	if (!lists.every(isIdle)) return undefined;
	if (contactListId === undefined)
		return { what: 'nothing is in the calling queue', resolution: RELEASE };
	if (lists.length > 0) {
		return {
			what: `nothing of contact list ${contactListId} is in the calling queue`,
			resolution: RELEASE,
		};
	}
	return {
		what: `the campaign shows no contact list ${contactListId}`,
		resolution: {
			onScreen:
				'Check Contact List ID and Campaign ID: Push Campaign Contacts returns the list as campaign_upload_id.',
			forModel: `Check the IDs you gave. ${formOf('Contact List ID')}`,
		},
	};
}

function timedOut(
	view: CampaignView,
	settings: WaitSettings,
	notRead: string | undefined,
): WaitEnd {
	const { contactListId, limitMs } = settings;
	const lists = awaited(view, contactListId);
	const open = lists.filter((list) => !isCompleted(list)).map(({ id }) => id);
	const after = `after ${inWords(limitMs)}`;
	if (notRead !== undefined) {
		const were =
			open.length > 0
				? `these contact lists were open: ${open.join(', ')}`
				: 'no contact list was open';
		return {
			outcome: 'timed_out',
			note: `The time limit passed ${after}, and the campaign couldn't be read at the end. When it was last read, ${were}.`,
		};
	}
	const idle = idleness(view, contactListId);
	const note =
		idle !== undefined
			? noteOf(`The time limit passed ${after}: ${idle.what}.`, idle, settings)
			: `The time limit passed ${after} with these contact lists open: ${open.join(', ')}.`;
	return { outcome: 'timed_out', note };
}

function noteOf(happened: string, { resolution }: Idleness, settings: WaitSettings): string {
	return `${happened} ${resolution[readerOf(settings.forModel === true)]}`.trim();
}

function inWords(ms: number): string {
	const seconds = Math.round(ms / 1_000);
	const [count, unit] = seconds < 60 ? [seconds, 'second'] : [Math.round(seconds / 60), 'minute'];
	return `${count} ${count === 1 ? unit : `${unit}s`}`;
}

/**
 * Reads the campaign until its queues are completed, it stops, nothing stays queued, or the limit passes. The first
 * reading must succeed; later ones may stumble, as the wait would otherwise end with each hiccup. Only what was read just now ends it before
 * the limit.
 */
export async function waitUntilCompleted(
	read: () => Promise<CampaignView>,
	settings: WaitSettings,
	clock: Clock,
): Promise<WaitedCampaign> {
	const deadline = clock.elapsed() + settings.limitMs;
	let view = await read();
	const begun = clock.elapsed();
	let wasQueued = false;
	let notRead: string | undefined;
	for (;;) {
		if (notRead === undefined) {
			const end = evaluateWait(view, settings);
			if (end !== undefined) return { view, end };
			const idle = idleness(view, settings.contactListId);
			// A queue that was seen with contacts is being worked off, whatever it counts.
			wasQueued ||= idle === undefined;
			const missing = wasQueued || settings.waitWhileStopped ? undefined : idle;
			const isIdleForLong = clock.elapsed() - begun >= IDLE_LIMIT_MS;
			if (missing !== undefined && isIdleForLong) {
				const note = noteOf(`There is nothing to wait for: ${missing.what}.`, missing, settings);
				return { view, end: { outcome: 'not_released', note } };
			}
		}
		const left = deadline - clock.elapsed();
		if (left <= 0) {
			const end = timedOut(view, settings, notRead);
			return { view, end, ...(notRead !== undefined && { notRead }) };
		}
		await clock.sleep(Math.min(settings.intervalMs, left));
		notRead = undefined;
		view = await read().catch((error: unknown) => {
			if (!isTransient(error)) throw error;
			notRead = whyNotRead(error, readerOf(settings.forModel === true));
			return view;
		});
	}
}
