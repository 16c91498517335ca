import type { ITriggerFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { ChatEventsListener } from './listener';

type Context = ITriggerFunctions | IWebhookFunctions;

/** The triggers that are active in this process, for the requests that come to their addresses. */
export const activeListeners = new Map<string, ChatEventsListener>();

export function listenerKey(context: Context): string {
	return `${context.getWorkflow().id ?? ''}/${context.getNode().id}`;
}

/** The list that n8n keeps over restarts. It is kept by the node's id: a renamed node keeps its sessions. */
export function storedSessions(context: Context): string[] {
	const stored: unknown = context.getWorkflowStaticData('global')[storageName(context)];
	return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
}

export function storeSessions(context: IWebhookFunctions, sessionIds: string[]): void {
	context.getWorkflowStaticData('global')[storageName(context)] = sessionIds;
}

function storageName(context: Context): string {
	return `watchedSessions:${context.getNode().id}`;
}
