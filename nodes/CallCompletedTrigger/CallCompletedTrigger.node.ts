import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { searchStatuses } from '../host/forms/statusField';
import { readCompletionSettings } from '../host/forms/callTriggerFields';
import { CREDENTIAL } from '../host/http/credential';
import { nothingToRegister } from '../host/triggers/webhookRequest';
import { completionFields, passCompleted, receiveReport } from './completions';

export class CallCompletedTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Call Completed Trigger',
		name: 'callCompletedTrigger',
		icon: {
			light: 'file:../icons/call.svg',
			dark: 'file:../icons/call.dark.svg',
		},
		group: ['trigger'],
		// Above 1, n8n reads the body without its expression engine.
		version: 2,
		subtitle:
			'={{ "on completed calls" + ($parameter["include"].length > 0 ? " with " + $parameter["include"].join(" and ") : "") }}',
		description: 'Starts the workflow when a phone call of an AI agent is completed',
		builderHint: {
			searchHint:
				'Starts the workflow for each completed phone call with its result. Not needed if Place Call waits for completion in the same workflow.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.placeCall',
					relationHint: 'Places calls. Its option Webhook URL gets the URL of this trigger.',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.campaignCallsTrigger',
					relationHint: 'Starts the workflow for completed calls of a campaign, or without a URL',
				},
			],
		},
		defaults: { name: 'Call Completed Trigger' },
		eventTriggerDescription:
			'Waiting for the end of a call. Call yourself with Place Call in another workflow, with the Test URL in its option Webhook URL.',
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				// Otherwise, n8n responds with the text 'firstEntryJson'.
				responseData: '',
				path: 'call-completed',
			},
		],
		triggerPanel: {
			header: 'Get completed calls from the service',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, copy the Test URL to the option <b>Webhook URL</b> of a Place Call node in another workflow. Then click <b>Execute step</b> here, and use that node to call yourself. n8n waits two minutes for the end of the call.<br /><br /><b>When your workflow is ready</b>, publish it, and copy the Production URL to that option instead.',
				active:
					'<b>To test it</b>, copy the Test URL to the option <b>Webhook URL</b> of a Place Call node in another workflow. Then click <b>Execute step</b> here, and use that node to call yourself. n8n waits two minutes for the end of the call.<br /><br /><b>While the workflow is published</b>, it starts when a call is completed that was placed with the Production URL.',
			},
			activationHint:
				'Publish the workflow, and copy the Production URL to the option <b>Webhook URL</b> of Place Call.',
		},
		properties: completionFields,
	};

	methods = { listSearch: { searchAgents, searchStatuses } };

	// Each call has the webhook URL in its request, so nothing is registered in the service.
	webhookMethods = {
		default: nothingToRegister(completionFields, readCompletionSettings),
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveReport(this);
	}

	// n8n runs this when the execution starts, with what the webhook returned.
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await passCompleted(this);
	}
}
