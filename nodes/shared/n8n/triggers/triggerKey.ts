import type {
	IExecuteFunctions,
	IPollFunctions,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';

/** Identifies a trigger by workflow and node. */
export function triggerKey(
	context: ITriggerFunctions | IWebhookFunctions | IExecuteFunctions | IPollFunctions,
): string {
	return [context.getWorkflow().id, context.getNode().id].join('/');
}
