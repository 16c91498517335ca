import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { InvalidInput } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { splitSessionIds } from '../shared/chat/parseChatFields';
import { chosenTypes } from '../shared/n8n/forms/chatFields';
import { triggerKey } from '../shared/n8n/triggers/triggerKey';
import { createAccountClient } from '../shared/n8n/http/accountClient';
import { rejectEngine2OfWorkflow } from '../shared/n8n/run/engine2';
import { toNodeError } from '../shared/n8n/run/nodeErrors';
import { formOf } from '../shared/n8n/forms/nodeParameters';
import { ChatEventsListener, type ListenerSettings } from './listener';
import { triggerFields } from './properties';
import { activeListeners, readWatchSettings, storedSessions } from './watchRequests';

/** Modes in which a user sees errors. When n8n starts, no user does. */
const MANUAL_MODES = ['activate', 'create', 'update'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	const { listener, watches } = await prepare(context);
	if (context.getMode() === 'manual') {
		const close = async () => await listener.close();
		return { closeFunction: close, manualTriggerFunction: async () => await listener.start(true) };
	}
	const key = triggerKey(context);
	const closeFunction = async () => {
		if (activeListeners.get(key) === listener) activeListeners.delete(key);
		await listener.close();
	};
	if (watches) activeListeners.set(key, listener);
	listener.followStored(watches ? storedSessions(context) : []);
	try {
		await listener.start(MANUAL_MODES.includes(context.getActivationMode()));
	} catch (error) {
		await closeFunction();
		throw toNodeError(context.getNode(), error);
	}
	return { closeFunction };
}

async function prepare(context: ITriggerFunctions) {
	try {
		rejectEngine2OfWorkflow(context);
		const settings = readListenerSettings(context);
		const listener = new ChatEventsListener(context, await createAccountClient(context), settings);
		return { listener, watches: settings.watches };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws InvalidInput if there is no session to listen to */
function readListenerSettings(context: ITriggerFunctions): ListenerSettings {
	const form = formOf(context, triggerFields);
	const { watches } = readWatchSettings(form);
	const settings = {
		sessionIds: splitSessionIds(form.textOrList('sessionIds')),
		watches,
		types: chosenTypes(form),
		disconnectOther: form.switch('disconnectOther', false),
	};
	if (settings.sessionIds.length === 0 && !settings.watches) {
		throw new InvalidInput(
			"'Session IDs' is empty",
			onScreenOnly(
				"Enter the sessions to listen to, or set 'Sessions' to 'Watched' to add sessions while the workflow is published.",
			),
		);
	}
	return settings;
}
