import uniqBy from 'lodash/uniqBy';
import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { InvalidInput } from '../core/service/errors';
import { sessionKey, splitSessionIds } from '../core/chat/parseChatFields';
import { isSecret } from '../core/values/hash';
import { isJsonObject } from '../core/values/json';
import type { Fields } from '../host/forms/fields';
import { formOf } from '../host/forms/nodeParameters';
import { toNodeError } from '../host/http/nodeErrors';
import { nodeKey } from '../host/nodeRun';
import { readBody, respond } from '../host/triggers/webhookRequest';
import type { ChatEventsListener } from './listener';
import { triggerFields } from './properties';

/** The header for the secret of the trigger. */
const SECRET_HEADER = 'x-watch-secret';

/** Each session has a socket and an entry in n8n's database. */
const MAX_WATCHED_SESSIONS = 1_000;

/** The triggers that are active in this process, by `nodeKey`, for requests to their watch URLs. */
export const activeListeners = new Map<string, ChatEventsListener>();

/** Adds and removes sessions of an active trigger. Each request stores the whole list. */
export async function handleWatchRequest(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	const reject = (status: number, message: string, resolution: string) =>
		respond(context, status, { message, resolution });
	try {
		const secret = readWatchSecret(formOf(context, triggerFields));
		if (!isSecret(context.getHeaderData()[SECRET_HEADER], secret)) {
			return reject(
				403,
				'The Chat Events Trigger rejected the secret',
				"Enter the text of 'Secret' in the Chat Events Trigger as 'Trigger Secret' of Chat Session > Watch.",
			);
		}
		const body = await readBody(context);
		const listener = activeListeners.get(nodeKey(context));
		// While n8n starts, in another process, and after an update of this package, whose new code doesn't know the trigger.
		// And n8n doesn't store what a test in the editor adds.
		if (listener === undefined || context.getMode() === 'manual') {
			return reject(
				503,
				"The Chat Events Trigger isn't active in this n8n process, so nothing was saved",
				"Try again in a moment. If that doesn't help, unpublish the workflow of the trigger, then publish it, and use its Production URL. If your n8n instance has separate webhook processes, the main process must serve this URL.",
			);
		}
		const { action, sessionIds } = parseWatchRequest(isJsonObject(body) ? body : {});
		const isWatch = action === 'watch';
		if (isWatch) requireRoom(listener, sessionIds);
		if (isWatch) listener.follow(sessionIds);
		else listener.unwatch(sessionIds);
		context.getWorkflowStaticData('global')[storageKey(context)] = listener.sessionIds;
		return { webhookResponse: { watched: isWatch } };
	} catch (error) {
		if (!(error instanceof InvalidInput)) throw toNodeError(context.getNode(), error);
		return reject(400, error.message, error.resolution);
	}
}

/** @throws InvalidInput if the body has no valid action or no session */
function parseWatchRequest({ action, session_ids: ids }: { [name: string]: unknown }) {
	const sessionIds = splitSessionIds(ids, '"session_ids" in the request');
	if ((action === 'watch' || action === 'unwatch') && sessionIds.length > 0) {
		return { action, sessionIds };
	}
	throw new InvalidInput(
		'The request needs "action" ("watch" or "unwatch") and "session_ids"',
		'Send { "action": "watch", "session_ids": ["0f8fad5b-d9cb-469f-a165-70867728950e"] }.',
	);
}

/** @throws InvalidInput if the trigger would watch too many sessions */
function requireRoom(listener: ChatEventsListener, sessionIds: string[]): void {
	const before = listener.sessionIds;
	if (uniqBy([...before, ...sessionIds], sessionKey).length <= MAX_WATCHED_SESSIONS) return;
	throw new InvalidInput(
		`The Chat Events Trigger can watch at most ${MAX_WATCHED_SESSIONS.toLocaleString('en-US')} sessions (it watches ${before.length.toLocaleString('en-US')})`,
		'Unwatch sessions that are no longer needed, or use another Chat Events Trigger for more sessions.',
	);
}

/** @throws InvalidInput if the secret is empty */
export function readWatchSecret(form: Fields): string {
	const secret = form.text('watchSecret');
	if (secret !== '') return secret;
	throw new InvalidInput(
		"'Secret' is empty",
		'Enter a long random text, because anyone with it can add and remove sessions.',
	);
}

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/** The watched sessions that n8n stores across restarts, by node ID, so that a renamed node keeps its sessions. */
export function storedSessions(context: TriggerContext): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageKey(context)];
	const ids = Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
	return uniqBy(ids, sessionKey).slice(0, MAX_WATCHED_SESSIONS);
}

function storageKey(context: TriggerContext): string {
	return `watchedSessions:${context.getNode().id}`;
}
