import type { ITriggerFunctions } from 'n8n-workflow';
import { emitSurely } from '../shared/n8n/onceEmitter';
import { fingerprint } from '../shared/service/chatInput';
import type { ChatEvent } from '../shared/service/chatSocket/types';

/** Starts one execution for an event: n8n stores the key, so the same event never starts a second one. */
export function emitEvent(
	context: ITriggerFunctions,
	sessionId: string,
	{ envelope, eventId }: ChatEvent,
): void {
	const items = [{ json: { ...envelope, session_id: sessionId } }];
	if (eventId === null || context.getMode() === 'manual') {
		context.emit([items]);
		return;
	}
	const { id: workflowId = '' } = context.getWorkflow();
	const key = fingerprint(workflowId, context.getNode().id, sessionId, eventId);
	void emitSurely(context, items, key);
}
