import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { nothingToRegister } from '../host/triggers/webhookRequest';
import { checkFields, deliveryFields, passDelivery, receiveDelivery } from './deliveries';

export class ChatDeliveryTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Delivery Trigger',
		name: 'chatDeliveryTrigger',
		icon: {
			light: 'file:../icons/chat.svg',
			dark: 'file:../icons/chat.dark.svg',
		},
		group: ['trigger'],
		// Above 1, n8n reads the body without its expression engine.
		version: 2,
		subtitle:
			'={{ $parameter["secret"] ? "on replies, with a secret" : "on replies, without a secret" }}',
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
		eventTriggerDescription:
			'Waiting for a reply. Send a message with Chat Send in another workflow, with Sending Method set to Request With Later Reply.',
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				// Otherwise, n8n responds with the text 'firstEntryJson'.
				responseData: '',
				path: 'chat-delivery',
			},
		],
		triggerPanel: {
			header: 'Get chat replies from the service',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, ask your service provider to deliver chat replies to the Test URL. Click <b>Execute step</b>, then send a message with Chat Send, with <b>Sending Method</b> set to <b>Request With Later Reply</b>.<br /><br /><b>When your workflow is ready</b>, ask your service provider to use the Production URL instead, and publish the workflow.',
				active:
					'<b>To test it</b>, ask your service provider to deliver chat replies to the Test URL. Click <b>Execute step</b>, then send a message with Chat Send, with <b>Sending Method</b> set to <b>Request With Later Reply</b>.<br /><br /><b>While the workflow is published</b>, every reply that is delivered to the Production URL starts it.',
			},
			activationHint:
				'Publish the workflow, and ask your service provider to deliver chat replies to the Production URL.',
		},
		properties: deliveryFields,
	};

	// The document doesn't say how to configure the delivery webhook, so the node can't register its URL.
	webhookMethods = {
		default: nothingToRegister(deliveryFields, checkFields),
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveDelivery(this);
	}

	// n8n runs this when the execution starts, with what the webhook returned.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await passDelivery(this);
	}
}
