import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { splitSessionIds } from '../shared/chat/parseChatFields';
import { chosenTypes } from '../shared/n8n/forms/chatFields';
import { nodeKey } from '../shared/n8n/once/rememberedTexts';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { ChatEventsListener, type ListenerSettings } from './listener';
import { triggerFields } from './properties';
import { activeListeners, readWatchSecret, storedSessions } from './watchRequests';

/** Modes in which a user sees errors. When n8n starts, no user does. */
const MANUAL_MODES = ['activate', 'create', 'update'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	const { listener, sessionIds, watches } = await prepare(context);
	if (context.getMode() === 'manual') {
		const close = async () => await listener.close();
		const start = async () => await listener.start(sessionIds);
		return { closeFunction: close, manualTriggerFunction: start };
	}
	const key = nodeKey(context);
	const closeFunction = async () => {
		if (activeListeners.get(key) === listener) activeListeners.delete(key);
		await listener.close();
	};
	if (watches) activeListeners.set(key, listener);
	const isUserWaiting = !watches && MANUAL_MODES.includes(context.getActivationMode());
	if (!isUserWaiting) listener.follow(watches ? storedSessions(context) : sessionIds);
	else {
		await listener.start(sessionIds).catch((error: unknown) => {
			throw toNodeError(context.getNode(), error);
		});
	}
	return { closeFunction };
}

async function prepare(context: ITriggerFunctions) {
	try {
		const { sessionIds, ...settings } = readSettings(context);
		const listener = new ChatEventsListener(context, await createAccountClient(context), settings);
		return { listener, sessionIds, watches: settings.watches };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws InvalidInput if a session to listen to, or the secret for requests that add one, is missing */
function readSettings(context: ITriggerFunctions): ListenerSettings & { sessionIds: string[] } {
	const form = formOf(context, triggerFields);
	const watches = form.choice('sessions', 'listed') === 'watched';
	if (watches) readWatchSecret(form);
	if (watches && context.getMode() === 'manual') {
		throw new InvalidInput(
			"Watched sessions can't be tested in the editor",
			onScreenOnly(
				"Publish the workflow, and add sessions with Chat Session > Watch. For a test, set 'Sessions' to 'Listed'.",
			),
		);
	}
	const sessionIds = watches ? [] : splitSessionIds(form.textOrList('sessionIds', MAY_BE_BLANK));
	if (sessionIds.length === 0 && !watches) {
		throw new InvalidInput(
			"'Session IDs' is empty",
			onScreenOnly(
				"Enter the sessions to listen to, or set 'Sessions' to 'Watched' to add sessions while the workflow is published.",
			),
		);
	}
	const disconnectOther = form.switch('disconnectOther', false);
	return { sessionIds, watches, types: chosenTypes(form), disconnectOther };
}
