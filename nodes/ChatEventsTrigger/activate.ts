import compact from 'lodash/compact';
import pLimit from 'p-limit';
import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { mintWsToken } from '../core/service/endpoints';
import { explained, InvalidInput } from '../core/service/errors';
import { splitSessionIds } from '../core/chat/parseChatFields';
import { parseList } from '../core/values/values';
import { nodeKey } from '../host/nodeRun';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { toNodeError } from '../host/http/nodeErrors';
import type { Fields } from '../host/forms/fields';
import { formOf } from '../host/forms/nodeParameters';
import { ChatEventsListener, type ListenerSettings, MAX_CONNECTING } from './listener';
import { sessionsLost } from './lossReporter';
import { triggerFields } from './properties';
import { activeListeners, readWatchSecret, storedSessions } from './watchRequests';

/** When n8n starts, no user sees an error. */
const SHOWN_TO_USER = ['activate', 'create', 'update'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	try {
		const { sessionIds, ...settings } = readSettings(context);
		const { watches } = settings;
		const account = await createAccountClient(context);
		const listener = new ChatEventsListener(context, account, settings);
		if (context.getMode() === 'manual') {
			const closeFunction = async () => await listener.close();
			const manualTriggerFunction = async () => {
				await checkSessions(context, account, sessionIds);
				listener.follow(sessionIds);
			};
			return { closeFunction, manualTriggerFunction };
		}
		const key = nodeKey(context);
		if (watches) activeListeners.set(key, listener);
		const isByUser = SHOWN_TO_USER.includes(context.getActivationMode());
		if (isByUser && !watches) await checkSessions(context, account, sessionIds);
		listener.follow(watches ? storedSessions(context) : sessionIds);
		const closeFunction = async () => {
			if (activeListeners.get(key) === listener) activeListeners.delete(key);
			await listener.close();
		};
		return { closeFunction };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws NodeOperationError with the sessions for which the service issues no token */
async function checkSessions(
	context: ITriggerFunctions,
	{ client }: AccountClient,
	sessionIds: string[],
): Promise<void> {
	const limit = pLimit(MAX_CONNECTING);
	const check = async (sessionId: string) =>
		await mintWsToken(client, sessionId).then(
			() => null,
			(error: unknown) => ({ sessionId, error: explained(error) }),
		);
	const checked = sessionIds.map(async (sessionId) => await limit(check, sessionId));
	const losses = compact(await Promise.all(checked));
	if (losses.length > 0) throw sessionsLost(context, losses);
}

/** @throws InvalidInput if a session to listen to, or the secret for requests that add one, is missing */
function readSettings(context: ITriggerFunctions): ListenerSettings & { sessionIds: string[] } {
	const form = formOf(context, triggerFields);
	const watches = form.choice('sessions', 'listed') === 'watched';
	if (watches) readWatchSecret(form);
	if (watches && context.getMode() === 'manual') {
		throw new InvalidInput(
			"Watched sessions can't be tested in the editor",
			"In n8n, publish the workflow, and add sessions with Chat Session > Watch. For a test, set 'Sessions' to 'Listed'.",
		);
	}
	const sessionIds = watches ? [] : splitSessionIds(form.textOrList('sessionIds'));
	if (sessionIds.length === 0 && !watches) {
		throw new InvalidInput(
			"'Session IDs' is empty",
			"In n8n, enter the sessions to listen to, or set 'Sessions' to 'Watched' to add sessions while the workflow is published.",
		);
	}
	const disconnectOther = form.collection('options').switch('disconnectOther', false);
	return { sessionIds, watches, types: chosenTypes(form), disconnectOther };
}

/** The selected types. Null for all events, which is what an empty 'Events' means, whatever other types are entered. */
function chosenTypes(form: Fields): ReadonlySet<string> | null {
	const events = form.choices('eventTypes');
	const others = form.collection('options').textOrList('otherEventTypes');
	if (events.length === 0) return null;
	return new Set([...events, ...parseList(others)]);
}
