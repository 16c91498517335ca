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
import { searchAgents } from '../shared/n8n/agentField';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { openEmitter } from '../shared/n8n/executionEmitter';
import { nothingToRegister } from '../shared/n8n/webhookAnswer';
import { completionFields } from './properties';
import { onCompletion, openVerifications } from './onCompletion';

export class CallCompletedTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Call Completed Trigger',
		name: 'callCompletedTrigger',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["verify"] ? "verified" : "not verified" }}',
		description: 'Starts the workflow when a call that an AI agent made is over',
		defaults: { name: 'Call Completed Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: 'call-completed',
			},
		],
		triggerPanel: {
			header: 'Let the service post its calls here',
			executionsHelp: {
				inactive:
					'<b>To try it:</b> choose “Listen for test event”, put the Test URL into <b>Webhook URL</b> of Place Call, and place a call to yourself.<br /><br /><b>For every day:</b> put the Production URL there and publish the workflow.',
				active:
					'<b>To try it:</b> choose “Listen for test event”, put the Test URL into <b>Webhook URL</b> of Place Call, and place a call to yourself.<br /><br /><b>Every day:</b> calls placed with the Production URL start this workflow by themselves.',
			},
			activationHint:
				'Once the workflow is published, put the Production URL into <b>Webhook URL</b> of Place Call.',
		},
		properties: completionFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	// Each call carries the address by itself, so the service has nothing to register or to forget.
	webhookMethods = { default: nothingToRegister };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return openEmitter(this, openVerifications(this));
	}

	// Without this, n8n's editor would run trigger() for what the webhook has brought, and wait for ever.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [this.getInputData()];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onCompletion(this);
	}
}
