import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { connect } from '../shared/n8n/connect';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { ChatEventsListener } from './listener';
import { countEnd, restMs } from './rest';
import { readSettings } from './settings';
import { activeListeners, listenerKey, storedSessions } from './watchList';

/** Somebody is at the screen; at a start of n8n nobody is. */
const BY_HAND = ['activate', 'create', 'update', 'manual'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	const { listener, watches } = await prepare(context);
	const byHand = BY_HAND.includes(context.getActivationMode());
	const key = listenerKey(context);
	const closeFunction = async () => {
		if (activeListeners.get(key) === listener) activeListeners.delete(key);
		countEnd(key, listener.gaveUpAfterMs);
		await listener.close();
	};
	if (context.getMode() === 'manual') {
		const close = async () => await listener.close();
		return { closeFunction: close, manualTriggerFunction: async () => await listener.start(true) };
	}
	if (watches) activeListeners.set(key, listener);
	const watched = watches ? storedSessions(context) : [];
	const rest = restMs(key);
	if (rest > 0) {
		context.logger.info('The Chat Events Trigger gave up before and rests', {
			seconds: rest / 1000,
		});
		void listener.startAfter(rest, watched);
		return { closeFunction };
	}
	listener.resume(watched);
	try {
		await listener.start(byHand);
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
