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
import { searchAgents } from '../shared/n8n/forms/agentField';
import { searchCampaigns } from '../shared/n8n/forms/campaignField';
import { voiceChatAgentApiTest } from '../shared/n8n/http/credentialTest';
import { passFirstOnly } from '../shared/n8n/idempotency/eventDeduplication';
import { nothingToRegister } from '../shared/n8n/triggers/webhookResponse';
import { completionFields } from './properties';
import { onCompletion, openCompletions, sampleOfTest } from './onCompletion';

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
		subtitle:
			'={{ $parameter["getCalls"] === "reading" ? "by reading the calls" : $parameter["getCalls"] === "webhookAndReading" ? "by webhook and reading" : $parameter["verify"] ? "on verified calls" : "on calls, not verified" }}',
		description: 'Starts the workflow when a phone call of an AI agent is completed',
		builderHint: {
			searchHint:
				'Starts the workflow for each completed phone call with its result. Not needed if Place Call waits for completion in the same workflow.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.placeCall',
					relationHint: 'Places calls. Its option Webhook URL gets the URL of this trigger.',
				},
			],
		},
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
				// Without a method, n8n registers no webhook, so a test in the editor executes the node.
				httpMethod: '={{ $parameter["getCalls"] === "reading" ? "" : "POST" }}',
				responseMode: 'onReceived',
				path: 'call-completed',
				ndvHideUrl: '={{ $parameter["getCalls"] === "reading" }}',
			},
		],
		triggerPanel: {
			header: 'Get completed calls from the service',
			executionsHelp: {
				inactive:
					'<b>To test it by webhook</b>, click "Execute step". Then copy the Test URL to the option <b>Webhook URL</b> of a Place Call node in another workflow, and use that node to call yourself.<br /><br /><b>To test it by reading</b>, click "Execute step". The node returns a completed call.<br /><br /><b>When your workflow is ready</b>, publish it. For calls by webhook, copy the Production URL to that option instead.',
				active:
					'<b>To test it by webhook</b>, click "Execute step". Then copy the Test URL to the option <b>Webhook URL</b> of a Place Call node in another workflow, and use that node to call yourself.<br /><br /><b>To test it by reading</b>, click "Execute step". The node returns a completed call.<br /><br /><b>While the workflow is published</b>, it starts when a call is completed that was placed with the Production URL, or that it finds by reading.',
			},
			activationHint:
				'Publish the workflow to start it for completed calls. For calls by webhook, then copy the Production URL to the option <b>Webhook URL</b> of Place Call.',
		},
		properties: completionFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents, searchCampaigns },
	};

	// Each call has the webhook URL in its request, so nothing is registered in the service.
	webhookMethods = { default: nothingToRegister };

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return await openCompletions(this);
	}

	// Without this, n8n's editor would run trigger() for the items of the webhook and never finish.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return (await sampleOfTest(this)) ?? (await passFirstOnly(this));
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onCompletion(this);
	}
}
