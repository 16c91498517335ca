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
import { onDelivery, openDeliveries } from './onDelivery';

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
		defaults: { name: 'Chat Delivery Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				// A path with a parameter gets the webhook's ID before it, an empty one is that ID.
				isFullPath: true,
				path: '={{ $parameter["secretIn"] === "path" ? "chat-delivery/:secret" : "" }}',
			},
		],
		triggerPanel: {
			header: 'Get chat replies from the service',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, have the Test URL set up at the service as the address for chat replies. Click “Execute step”, then send a message with Chat Send → Request With Later Reply.<br /><br /><b>When your workflow is ready</b>, have the Production URL set up instead, and publish the workflow.',
				active:
					'<b>To test it</b>, have the Test URL set up at the service as the address for chat replies. Click “Execute step”, then send a message with Chat Send → Request With Later Reply.<br /><br /><b>As the workflow is published</b>, every reply that is delivered to the Production URL starts it.',
			},
			activationHint:
				'When the workflow is published, have the Production URL set up at the service. Ask whoever runs your service how.',
		},
		properties: deliveryFields,
	};

	// How the address is made known to the service is open, so there is nothing to register from here.
	webhookMethods = { default: nothingToRegister };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return openDeliveries(this);
	}

	// Without this, n8n's editor would run trigger() for what the webhook has brought, and wait for ever.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await passFirstOnly(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onDelivery(this);
	}
}
