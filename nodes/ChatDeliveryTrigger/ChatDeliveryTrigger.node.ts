import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	ITriggerFunctions,
	ITriggerResponse,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { passFirstOnly } from '../shared/n8n/idempotency/eventDeduplication';
import { nothingToRegister } from '../shared/n8n/triggers/webhookResponse';
import { deliveryFields } from './properties';
import { onDelivery, activateDeliveries } from './onDelivery';

export class ChatDeliveryTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Delivery Trigger',
		name: 'chatDeliveryTrigger',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["secretIn"] === "none" ? "on replies, without a secret" : "on replies, with a secret" }}',
		description: 'Starts the workflow when the service delivers a reply of a chat agent',
		builderHint: {
			searchHint:
				'Starts the workflow for each reply of a chat agent that the service delivers to a webhook URL.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSend',
					relationHint: 'Sends a message of the customer',
				},
			],
		},
		defaults: { name: 'Chat Delivery Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				// n8n puts the webhook ID before a path with a parameter, and uses it as the path if the path is empty.
				isFullPath: true,
				path: '={{ $parameter["secretIn"] === "path" ? "chat-delivery/:secret" : "" }}',
			},
		],
		triggerPanel: {
			header: 'Get chat replies from the service',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, ask your service provider to deliver chat replies to the Test URL. Click <b>Execute step</b>, then send a message with Chat Send, with <b>Send Via</b> set to <b>Request With Later Reply</b>.<br /><br /><b>When your workflow is ready</b>, ask your service provider to use the Production URL instead, and publish the workflow.',
				active:
					'<b>To test it</b>, ask your service provider to deliver chat replies to the Test URL. Click <b>Execute step</b>, then send a message with Chat Send, with <b>Send Via</b> set to <b>Request With Later Reply</b>.<br /><br /><b>While the workflow is published</b>, every reply that is delivered to the Production URL starts it.',
			},
			activationHint:
				'Publish the workflow, and ask your service provider to deliver chat replies to the Production URL.',
		},
		properties: deliveryFields,
	};

	// The document doesn't say how to configure the delivery webhook, so the node can't register its URL.
	webhookMethods = { default: nothingToRegister };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return activateDeliveries(this);
	}

	// Without this, n8n's editor would run trigger() for the items of the webhook and never finish.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await passFirstOnly(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onDelivery(this);
	}
}
