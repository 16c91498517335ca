import uniqBy from 'lodash/uniqBy';
import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone } from '../shared/api/modelAdvice';
import {
	parseWatchRequest,
	parseWatchSecret,
	SECRET_HEADER,
	sessionKey,
} from '../shared/chat/parseChatFields';
import { isJsonObject } from '../shared/json';
import { triggerKey } from '../shared/n8n/triggers/activeTriggers';
import { clock } from '../shared/n8n/http/accountClient';
import type { Fields } from '../shared/n8n/forms/fields';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import {
	NO_EXECUTION,
	readJson,
	type RejectedDelivery,
	WebhookResponder,
} from '../shared/n8n/triggers/webhookResponse';
import { checkSecret, readSecret } from '../shared/n8n/triggers/webhookSecret';
import type { ChatEventsListener } from './listener';
import { triggerFields } from './properties';
import { MAX_SESSIONS_PER_REQUEST, MAX_WATCHED_SESSIONS, WatchLimitReached } from './watchLimits';

/**
 * n8n stores the list once for each request, and requests that come together overwrite each other's. So each waits a
 * moment and then writes the whole list as it stands, which is the same for all of them.
 */
const GATHER_REQUESTS_MS = 150;

/** Many times what a request needs that names as many sessions as it may. */
const MAX_BODY_BYTES = 65_536;

/** Takes and drops sessions at the address of an active trigger. */
export async function answerWatchRequest(
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
	if (context.getMode() === 'manual') return rejectWatch(context, TRIAL);
	if (listener === undefined) return rejectWatch(context, ELSEWHERE);
	try {
		return await listener.limits.forRequest(async () => await answerOf(context, key, listener));
	} catch (error) {
		if (error instanceof ExplainedError) return rejectWatch(context, rejectionOf(error));
		throw toNodeError(context.getNode(), error);
	}
}

/** Carries the request out at once, and answers when the list is stored. */
async function answerOf(
	context: IWebhookFunctions,
	key: string,
	listener: ChatEventsListener,
): Promise<IWebhookResponseData> {
	const body = await readJson(context, MAX_BODY_BYTES);
	if ('rejected' in body) return rejectWatch(context, unreadable(body.rejected));
	const { action, sessionIds } = parseWatchRequest(isJsonObject(body.json) ? body.json : {});
	requireFew(sessionIds);
	const standings = action === 'watch' ? await listener.watch(sessionIds) : [];
	if (action === 'unwatch') await listener.unwatch(sessionIds);
	// Of these alone: a stranger must not learn which other sessions there are.
	const watched = listener.watchedAmong(sessionIds);
	await clock.sleep(GATHER_REQUESTS_MS);
	// Its successor has read the stored list already, and keeps one of its own.
	if (activeListeners.get(key) !== listener) return rejectWatch(context, RENEWED);
	// Of several sessions some may have been taken up although one was rejected.
	storeSessions(context, listener.watchedSessions);
	for (const { ended } of standings) if (ended !== null) throw ended;
	const connected = action === 'watch' && standings.every((standing) => standing.connected);
	return {
		webhookResponse: { watched: action === 'watch', connected, watched_sessions: watched },
	};
}

/** @throws InvalidInput naming the limit */
function requireFew(sessionIds: string[]): void {
	const { length } = sessionIds;
	if (length <= MAX_SESSIONS_PER_REQUEST) return;
	throw new InvalidInput(
		`A request can name at most ${MAX_SESSIONS_PER_REQUEST} sessions (this one names ${length.toLocaleString('en-US')})`,
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
	message: 'The Chat Events Trigger does not accept the secret',
	resolution: 'Enter the same Secret in Chat Session → Watch as in the Chat Events Trigger.',
};

const UNUSABLE_SECRET: WatchRejection = {
	status: 503,
	message: "The Chat Events Trigger accepts no requests, because its 'Secret' can't be used",
	resolution: "Correct 'Secret' in the Chat Events Trigger.",
};

const TRIAL: WatchRejection = {
	status: 409,
	message: 'The Chat Events Trigger accepts sessions only while its workflow is published',
	resolution:
		'Use the production URL of the trigger. To try it in the editor, turn Watched Sessions off and fill in Session IDs.',
};

const ELSEWHERE: WatchRejection = {
	status: 503,
	message: 'The Chat Events Trigger runs in another process of n8n',
	resolution:
		'Try again in a moment. If n8n runs webhook processes of its own, have the address of this trigger served by the main process.',
};

const RENEWED: WatchRejection = {
	status: 503,
	message: 'The Chat Events Trigger was stopped or published again meanwhile',
	resolution: 'Send the request again in a moment: nothing of it was kept.',
};

function unreadable({ status, message }: RejectedDelivery): WatchRejection {
	return { status, message, resolution: 'Send a JSON object with action and session_ids.' };
}

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
	new WebhookResponder(context).send(status, { message, resolution }, retryAfter);
	return NO_EXECUTION;
}

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/**
 * Whether the trigger has a watch address, and the secret of that address; undefined if none is set.
 *
 * @throws InvalidInput if a secret is set that nobody could send
 */
export function readWatchSettings(form: Fields): { watches: boolean; secret: string | undefined } {
	const watches = form.switch('watchSessions', false);
	const secret = watches ? readSecret(form, 'watchSecret') : undefined;
	return { watches, secret: secret && parseWatchSecret(secret, 'Secret') };
}

/** The triggers that are active in this process, for the requests that come to their addresses. */
export const activeListeners = new Map<string, ChatEventsListener>();

/** The list that n8n keeps over restarts. It is kept by the node's id: a renamed node keeps its sessions. */
export function storedSessions(context: TriggerContext): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageName(context)];
	const ids = Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
	return uniqBy(ids, sessionKey).slice(0, MAX_WATCHED_SESSIONS);
}

export function storeSessions(context: IWebhookFunctions, sessionIds: string[]): void {
	context.getWorkflowStaticData('global')[storageName(context)] = sessionIds;
}

function storageName(context: TriggerContext): string {
	return `watchedSessions:${context.getNode().id}`;
}
