import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { connect } from '../shared/n8n/connect';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { ChatEventsListener } from './listener';
import { readSettings } from './settings';
import { activeListeners, listenerKey, storedSessions } from './watchList';

/** Somebody is at the screen; at a start of n8n nobody is. */
const BY_HAND = ['activate', 'create', 'update'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	const { listener, watches } = await prepare(context);
	if (context.getMode() === 'manual') {
		const close = async () => await listener.close();
		return { closeFunction: close, manualTriggerFunction: async () => await listener.start(true) };
	}
	const key = listenerKey(context);
	const closeFunction = async () => {
		if (activeListeners.get(key) === listener) activeListeners.delete(key);
		await listener.close();
	};
	if (watches) activeListeners.set(key, listener);
	listener.resume(watches ? storedSessions(context) : []);
	try {
		await listener.start(BY_HAND.includes(context.getActivationMode()));
	} catch (error) {
		await closeFunction();
		throw toNodeError(context.getNode(), error);
	}
	return { closeFunction };
}

async function prepare(context: ITriggerFunctions) {
	try {
		const settings = readSettings(context);
		const listener = new ChatEventsListener(context, await connect(context), settings);
		return { listener, watches: settings.watches };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}
