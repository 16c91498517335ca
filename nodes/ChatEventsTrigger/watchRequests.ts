import uniqBy from 'lodash/uniqBy';
import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { explained, ExplainedError, InvalidInput } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import {
	parseWatchSecret,
	SECRET_HEADER,
	sessionKey,
	splitSessionIds,
} from '../shared/chat/parseChatFields';
import { isSecret } from '../shared/hash';
import { isJsonObject } from '../shared/json';
import type { Fields } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { nodeKey } from '../shared/n8n/once/rememberedTexts';
import { readBody, readSecret, respond } from '../shared/n8n/triggers/webhookRequest';
import type { ChatEventsListener } from './listener';
import { triggerFields } from './properties';

const MAX_SESSIONS_PER_REQUEST = 100;

/** Each one has a socket and an entry in n8n's database. */
export const MAX_WATCHED_SESSIONS = 1_000;

/** The triggers that are active in this process, by `nodeKey`, for requests to their watch URLs. */
export const activeListeners = new Map<string, ChatEventsListener>();

/** Adds and removes sessions of an active trigger. */
export async function handleWatchRequest(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	const reject = (status: number, message: string, resolution: string) =>
		respond(context, status, { message, resolution });
	const given = context.getHeaderData()[SECRET_HEADER];
	let secret: string;
	try {
		secret = readWatchSecret(formOf(context, triggerFields));
	} catch (error) {
		explained(error);
		return reject(503, ...UNUSABLE_SECRET);
	}
	if (!isSecret(given, secret)) return reject(403, ...WRONG_SECRET);
	if (context.getMode() === 'manual') return reject(409, ...NOT_PUBLISHED);
	const listener = activeListeners.get(nodeKey(context));
	if (listener === undefined) return reject(503, ...NOT_HERE);
	try {
		const body = await readBody(context);
		const { action, sessionIds } = parseWatchRequest(isJsonObject(body) ? body : {});
		requireRoom(listener, action === 'watch', sessionIds);
		const statuses = action === 'watch' ? await listener.watch(sessionIds) : [];
		if (action === 'unwatch') listener.unwatch(sessionIds);
		// The next listener has already read the stored list and has its own.
		if (activeListeners.get(nodeKey(context)) !== listener) return reject(503, ...RESTARTED);
		// Each request stores the whole list, so concurrent requests lose no session.
		storeSessions(context, listener.sessionIds);
		for (const { ended } of statuses) if (ended !== null) throw ended;
		// Another request may have removed a session in the meantime.
		const followed = listener.followedAmong(sessionIds);
		const watched = action === 'watch' && followed.length === sessionIds.length;
		const connected = watched && statuses.every((status) => status.connected);
		return { webhookResponse: { watched, connected, watched_sessions: followed } };
	} catch (error) {
		if (!(error instanceof ExplainedError)) throw toNodeError(context.getNode(), error);
		return reject(error instanceof InvalidInput ? 400 : 422, error.message, error.resolution);
	}
}

/** @throws InvalidInput if the body has no valid action or no session */
function parseWatchRequest(body: { [name: string]: unknown }) {
	const { action, session_ids: ids = body.session_id } = body;
	if (action !== 'watch' && action !== 'unwatch') {
		throw new InvalidInput(
			'"action" in the request must be "watch" or "unwatch"',
			forEveryone(
				'Send { "action": "watch", "session_ids": ["0f8fad5b-d9cb-469f-a165-70867728950e"] }.',
			),
		);
	}
	const sessionIds = splitSessionIds(ids, '"session_ids" in the request');
	if (sessionIds.length === 0) {
		throw new InvalidInput(
			'"session_ids" in the request is empty',
			forEveryone('Send the IDs of the sessions in "session_ids".'),
		);
	}
	return { action, sessionIds };
}

/** @throws InvalidInput if there are too many sessions */
function requireRoom(listener: ChatEventsListener, isWatch: boolean, sessionIds: string[]): void {
	if (sessionIds.length > MAX_SESSIONS_PER_REQUEST) {
		throw new InvalidInput(
			`A request can contain at most ${MAX_SESSIONS_PER_REQUEST} sessions (got ${sessionIds.length.toLocaleString('en-US')})`,
			forEveryone('Send the sessions in several requests.'),
		);
	}
	const before = listener.sessionIds.length;
	const added = sessionIds.length - listener.followedAmong(sessionIds).length;
	if (!isWatch || before + added <= MAX_WATCHED_SESSIONS) return;
	throw new InvalidInput(
		`The Chat Events Trigger can watch at most ${MAX_WATCHED_SESSIONS.toLocaleString('en-US')} sessions (it watches ${before.toLocaleString('en-US')})`,
		onScreenOnly(
			'Unwatch sessions that are no longer needed, or use another Chat Events Trigger for more sessions.',
		),
	);
}

/** Message and resolution. */
type Rejection = readonly [string, string];

const WRONG_SECRET: Rejection = [
	'The Chat Events Trigger rejected the secret',
	"Enter the text of 'Secret' in the Chat Events Trigger as 'Trigger Secret' of Chat Session > Watch.",
];

const UNUSABLE_SECRET: Rejection = [
	"The Chat Events Trigger accepts no requests, because its 'Secret' can't be used",
	"Correct 'Secret' in the Chat Events Trigger.",
];

const NOT_PUBLISHED: Rejection = [
	'The Chat Events Trigger accepts sessions only while its workflow is published',
	"Use the Production URL of the trigger. To test the trigger in the editor, set 'Sessions' to 'Listed' and fill in 'Session IDs'.",
];

/** While n8n starts, in another process, and after an update of this package, whose new code doesn't know the trigger. */
const NOT_HERE: Rejection = [
	"The Chat Events Trigger isn't active in this n8n process",
	'Try again in a moment. If this package was updated, publish the workflow of the trigger again. If your n8n instance has separate webhook processes, the main process must serve the URL of this trigger.',
];

const RESTARTED: Rejection = [
	'The Chat Events Trigger was stopped or published again during the request',
	'Nothing was saved. Send the request again in a moment.',
];

/** @throws InvalidInput if the secret is empty or can't be sent in a header */
export function readWatchSecret(form: Fields): string {
	const secret = readSecret(form, 'watchSecret') ?? '';
	if (secret !== '') return parseWatchSecret(secret, 'Secret');
	throw new InvalidInput(
		"'Secret' is empty",
		onScreenOnly('Enter a long random text, because anyone with it can add and remove sessions.'),
	);
}

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/** The watched sessions that n8n stores across restarts, by node ID, so that a renamed node keeps its sessions. */
export function storedSessions(context: TriggerContext): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageKey(context)];
	const ids = Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
	return uniqBy(ids, sessionKey).slice(0, MAX_WATCHED_SESSIONS);
}

function storeSessions(context: IWebhookFunctions, sessionIds: string[]): void {
	context.getWorkflowStaticData('global')[storageKey(context)] = sessionIds;
}

function storageKey(context: TriggerContext): string {
	return `watchedSessions:${context.getNode().id}`;
}
