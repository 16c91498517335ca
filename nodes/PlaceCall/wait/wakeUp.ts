import type { IWebhookDescription } from 'n8n-workflow';

/** Where a sleeping execution is woken. It exists only while one sleeps, so nothing is registered. */
export const wakeUp: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: '={{ $nodeId }}',
		restartWebhook: true,
		isFullPath: true,
	},
];
