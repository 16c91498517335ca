import uniqBy from 'lodash/uniqBy';
import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/resolution';
import {
	parseWatchRequest,
	parseWatchSecret,
	SECRET_HEADER,
	sessionKey,
} from '../shared/chat/parseChatFields';
import { isJsonObject } from '../shared/json';
import { triggerKey } from '../shared/n8n/triggers/triggerKey';
import { clock } from '../shared/n8n/http/accountClient';
import type { Fields } from '../shared/n8n/forms/fields';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { readBody, respond } from '../shared/n8n/triggers/webhookRequest';
import { checkSecret, readSecret } from '../shared/n8n/triggers/webhookSecret';
import type { ChatEventsListener } from './listener';
import { triggerFields } from './properties';
import { MAX_SESSIONS_PER_REQUEST, MAX_WATCHED_SESSIONS, WatchLimitReached } from './watchLimits';

/**
 * n8n stores the list after each request, and concurrent requests overwrite each other's list. So each request waits a
 * moment and then writes the whole current list, which is the same for all of them.
 */
const COLLECT_REQUESTS_MS = 150;

/** Adds and removes sessions of an active trigger. */
export async function handleWatchRequest(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	const key = triggerKey(context);
	const listener = activeListeners.get(key);
	const given = context.getHeaderData()[SECRET_HEADER];
	const secret = checkSecret(given, () => readWatchSettings(formOf(context, triggerFields)).secret);
	if (secret.kind === 'wrong') return rejectWatch(context, WRONG_SECRET);
	if (secret.kind === 'unusable') {
		listener?.unusableSecret.add(secret.why);
		return rejectWatch(context, UNUSABLE_SECRET);
	}
	if (context.getMode() === 'manual') return rejectWatch(context, NOT_PUBLISHED);
	if (listener === undefined) return rejectWatch(context, NOT_HERE);
	try {
		return await listener.limits.forRequest(async () => await carryOut(context, key, listener));
	} catch (error) {
		if (error instanceof ExplainedError) return rejectWatch(context, rejectionOf(error));
		throw toNodeError(context.getNode(), error);
	}
}

/** Carries out the request, and responds when the list is stored. */
async function carryOut(
	context: IWebhookFunctions,
	key: string,
	listener: ChatEventsListener,
): Promise<IWebhookResponseData> {
	const body = await readBody(context);
	const { action, sessionIds } = parseWatchRequest(isJsonObject(body) ? body : {});
	requireFewSessions(sessionIds);
	const statuses = action === 'watch' ? await listener.watch(sessionIds) : [];
	if (action === 'unwatch') await listener.unwatch(sessionIds);
	// Only the requested ones, because a stranger must not learn about other sessions.
	const watched = listener.watchedAmong(sessionIds);
	await clock.sleep(COLLECT_REQUESTS_MS);
	// The next listener has already read the stored list and has its own.
	if (activeListeners.get(key) !== listener) return rejectWatch(context, RESTARTED);
	// Store the list even if a session was rejected, because others may have been added.
	storeSessions(context, listener.watchedSessions);
	for (const { ended } of statuses) if (ended !== null) throw ended;
	// Another request may have removed a session in the meantime.
	const isWatched = action === 'watch' && watched.length === sessionIds.length;
	const connected = isWatched && statuses.every((status) => status.connected);
	return {
		webhookResponse: { watched: isWatched, connected, watched_sessions: watched },
	};
}

/** @throws InvalidInput if there are too many sessions */
function requireFewSessions(sessionIds: string[]): void {
	const { length } = sessionIds;
	if (length <= MAX_SESSIONS_PER_REQUEST) return;
	throw new InvalidInput(
		`A request can contain at most ${MAX_SESSIONS_PER_REQUEST} sessions (got ${length.toLocaleString('en-US')})`,
		forEveryone('Send the sessions in several requests.'),
	);
}

type WatchRejection = {
	/** HTTP status. */
	status: number;
	message: string;
	resolution: string;
	/** Seconds. */
	retryAfter?: number;
};

const WRONG_SECRET: WatchRejection = {
	status: 403,
	message: 'The Chat Events Trigger rejected the secret',
	resolution:
		"Enter the text of 'Secret' in the Chat Events Trigger as 'Trigger Secret' of Chat Session > Watch.",
};

const UNUSABLE_SECRET: WatchRejection = {
	status: 503,
	message: "The Chat Events Trigger accepts no requests, because its 'Secret' can't be used",
	resolution: "Correct 'Secret' in the Chat Events Trigger.",
};

const NOT_PUBLISHED: WatchRejection = {
	status: 409,
	message: 'The Chat Events Trigger accepts sessions only while its workflow is published',
	resolution:
		"Use the Production URL of the trigger. To test the trigger in the editor, set 'Sessions' to 'Listed' and fill in 'Session IDs'.",
};

/** While n8n starts, in another process, and after an update of this package, whose new code doesn't know the trigger. */
const NOT_HERE: WatchRejection = {
	status: 503,
	message: "The Chat Events Trigger isn't active in this n8n process",
	resolution:
		'Try again in a moment. If this package was updated, publish the workflow of the trigger again. If your n8n instance has separate webhook processes, the main process must serve the URL of this trigger.',
};

const RESTARTED: WatchRejection = {
	status: 503,
	message: 'The Chat Events Trigger was stopped or published again during the request',
	resolution: 'Nothing was saved. Send the request again in a moment.',
};

function rejectionOf(error: ExplainedError): WatchRejection {
	const { message, resolution } = error;
	if (error instanceof WatchLimitReached) {
		const { status, retryAfter } = error;
		return { status, message, resolution, ...(retryAfter !== undefined && { retryAfter }) };
	}
	return { status: error instanceof InvalidInput ? 400 : 422, message, resolution };
}

function rejectWatch(
	context: IWebhookFunctions,
	{ status, message, resolution, retryAfter }: WatchRejection,
): IWebhookResponseData {
	return respond(context, status, { message, resolution }, retryAfter);
}

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/**
 * Whether the trigger has a watch URL, and the secret for it, which is undefined if it isn't set.
 *
 * @throws InvalidInput if the secret can't be sent in a header
 */
export function readWatchSettings(form: Fields): { watches: boolean; secret: string | undefined } {
	const watches = form.choice('sessions', 'listed') === 'watched';
	const secret = watches ? readSecret(form, 'watchSecret') : undefined;
	return { watches, secret: secret && parseWatchSecret(secret, 'Secret') };
}

/** The triggers that are active in this process, by `triggerKey`, for requests to their watch URLs. */
export const activeListeners = new Map<string, ChatEventsListener>();

/** The watched sessions that n8n stores across restarts, by node ID, so that a renamed node keeps its sessions. */
export function storedSessions(context: TriggerContext): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageKey(context)];
	const ids = Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
	return uniqBy(ids, sessionKey).slice(0, MAX_WATCHED_SESSIONS);
}

export function storeSessions(context: IWebhookFunctions, sessionIds: string[]): void {
	context.getWorkflowStaticData('global')[storageKey(context)] = sessionIds;
}

function storageKey(context: TriggerContext): string {
	return `watchedSessions:${context.getNode().id}`;
}
