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
import { openEmitter } from '../shared/n8n/executionEmitter';
import { nothingToRegister } from '../shared/n8n/webhookAnswer';
import { deliveryFields } from './properties';
import { onDelivery } from './onDelivery';

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
		subtitle: '={{ $parameter["secretIn"] === "none" ? "no secret" : "with a secret" }}',
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
			header: 'Let the service deliver chat replies here',
			executionsHelp: {
				inactive:
					'<b>To try it:</b> choose “Listen for test event”, let the service deliver to the Test URL, and send a message with the asynchronous way of Chat Send.<br /><br /><b>For every day:</b> let it deliver to the Production URL and publish the workflow.',
				active:
					'<b>To try it:</b> choose “Listen for test event” and let the service deliver to the Test URL.<br /><br /><b>Every day:</b> each delivery to the Production URL starts this workflow by itself.',
			},
			activationHint:
				'Once the workflow is published, let the service deliver to the Production URL. How that is set up is a question for whoever runs your service.',
		},
		properties: deliveryFields,
	};

	// How the address is made known to the service is open, so there is nothing to register from here.
	webhookMethods = { default: nothingToRegister };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return openEmitter(this);
	}

	// Without this, n8n's editor would run trigger() for what the webhook has brought, and wait for ever.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [this.getInputData()];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onDelivery(this);
	}
}
