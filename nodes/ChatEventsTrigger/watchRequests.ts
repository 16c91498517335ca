import type { ITriggerFunctions, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { ExplainedError, InvalidInput } from '../shared/api/errors';
import { parseWatchRequest, parseWatchSecret, SECRET_HEADER } from '../shared/chat/chatInput';
import type { JsonObject } from '../shared/json';
import { triggerPlace } from '../shared/n8n/activeTriggers';
import { clock } from '../shared/n8n/connect';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { NO_EXECUTION, Reply } from '../shared/n8n/webhookAnswer';
import { checkSecret, readSecret } from '../shared/n8n/webhookSecret';
import type { ChatEventsListener } from './listener';

/**
 * n8n stores the list once for each request, and requests that come together overwrite each other's. So each waits a
 * moment and then writes the whole list as it stands, which is the same for all of them.
 */
const GATHER_REQUESTS_MS = 150;

/** Takes and drops sessions at the address of an active trigger. */
export async function answerWatchRequest(
	context: IWebhookFunctions,
): Promise<IWebhookResponseData> {
	const key = triggerPlace(context);
	const listener = activeListeners.get(key);
	const given = context.getHeaderData()[SECRET_HEADER];
	const secret = checkSecret(given, () => readWatchSettings(context).secret);
	if (secret.kind === 'wrong') return refuseWatch(context, 403, WRONG_SECRET);
	if (secret.kind === 'unusable') {
		listener?.unusableSecret.add(secret.why);
		return refuseWatch(context, 503, NO_SECRET);
	}
	if (context.getMode() === 'manual') return refuseWatch(context, 409, TRIAL);
	if (listener === undefined) return refuseWatch(context, 503, ELSEWHERE);
	const answer = await answerOf(context, listener);
	await clock.sleep(GATHER_REQUESTS_MS);
	// Its successor has read the stored list already, and keeps one of its own.
	if (activeListeners.get(key) !== listener) return refuseWatch(context, 503, RENEWED);
	// Of several sessions some may have been taken up although one was refused.
	storeSessions(context, listener.watchedSessions);
	return answer();
}

/** Carries the request out at once; what it comes to is told when the list is stored. */
async function answerOf(
	context: IWebhookFunctions,
	listener: ChatEventsListener,
): Promise<() => IWebhookResponseData> {
	try {
		const answer = await carryOut(listener, context.getBodyData());
		const watched = listener.watchedSessions;
		return () => ({ webhookResponse: { ...answer, watched_sessions: watched } });
	} catch (error) {
		if (error instanceof ExplainedError) {
			return () => refuseWatch(context, error instanceof InvalidInput ? 400 : 422, error);
		}
		return () => {
			throw toNodeError(context.getNode(), error);
		};
	}
}

async function carryOut(
	listener: ChatEventsListener,
	body: { [name: string]: unknown },
): Promise<JsonObject> {
	const { action, sessionIds } = parseWatchRequest(body);
	if (action === 'unwatch') {
		await listener.unwatch(sessionIds);
		return { watched: false, connected: false };
	}
	const standings = await listener.watch(sessionIds);
	for (const { ended } of standings) if (ended !== null) throw ended;
	return { watched: true, connected: standings.every(({ connected }) => connected) };
}

type WatchRefusal = { message: string; resolution: string };

const WRONG_SECRET: WatchRefusal = {
	message: 'The Chat Events Trigger does not accept the secret',
	resolution: 'Enter the same Secret in Chat Session → Watch as in the Chat Events Trigger.',
};

const NO_SECRET: WatchRefusal = {
	message: "The Chat Events Trigger accepts no requests, because its 'Secret' can't be used",
	resolution: "Correct 'Secret' in the Chat Events Trigger.",
};

const TRIAL: WatchRefusal = {
	message: 'The Chat Events Trigger accepts sessions only while its workflow is published',
	resolution:
		'Use the production URL of the trigger. To try it in the editor, turn Watched Sessions off and fill in Session IDs.',
};

const ELSEWHERE: WatchRefusal = {
	message: 'The Chat Events Trigger runs in another process of n8n',
	resolution:
		'Try again in a moment. If n8n runs webhook processes of its own, have the address of this trigger served by the main process.',
};

const RENEWED: WatchRefusal = {
	message: 'The Chat Events Trigger was stopped or published again meanwhile',
	resolution: 'Send the request again in a moment: nothing of it was kept.',
};

function refuseWatch(
	context: IWebhookFunctions,
	status: number,
	{ message, resolution }: WatchRefusal,
): IWebhookResponseData {
	new Reply(context).send(status, { message, resolution });
	return NO_EXECUTION;
}

/**
 * Whether the trigger has a watch address, and the secret of that address; undefined if none is set.
 *
 * @throws InvalidInput if a secret is set that nobody could send
 */
export function readWatchSettings(context: TriggerContext): {
	watches: boolean;
	secret: string | undefined;
} {
	const watches: unknown = context.getNodeParameter('watchSessions', false, {
		rawExpressions: true,
	});
	if (typeof watches !== 'boolean') {
		// n8n drops the secret then, as a field that is not shown.
		throw new InvalidInput("'Watched Sessions' can't be an expression", 'Turn it on or off.');
	}
	const secret = watches ? readSecret(context, 'watchSecret') : undefined;
	return { watches, secret: secret && parseWatchSecret(secret, 'Secret') };
}

type TriggerContext = ITriggerFunctions | IWebhookFunctions;

/** The triggers that are active in this process, for the requests that come to their addresses. */
export const activeListeners = new Map<string, ChatEventsListener>();

/** The list that n8n keeps over restarts. It is kept by the node's id: a renamed node keeps its sessions. */
export function storedSessions(context: TriggerContext): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageName(context)];
	return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
}

export function storeSessions(context: IWebhookFunctions, sessionIds: string[]): void {
	context.getWorkflowStaticData('global')[storageName(context)] = sessionIds;
}

function storageName(context: TriggerContext): string {
	return `watchedSessions:${context.getNode().id}`;
}
