import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../shared/n8n/agentField';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { runNode } from '../shared/n8n/operations';
import { nothingToRegister } from '../shared/n8n/webhookAnswer';
import { callFields } from './properties';
import { onReport, resumeWebhooks } from './wait/onReport';
import { placeCalls } from './placeCalls';

export class PlaceCall implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Place Call',
		name: 'placeCall',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["when"] === "now" ? "now" : "scheduled" }}',
		description: 'Have an AI agent call a person, now or later',
		defaults: { name: 'Place Call' },
		usableAsTool: true,
		waitingNodeTooltip: 'Waiting until the calls are over',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		webhooks: resumeWebhooks,
		properties: callFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	webhookMethods = { default: nothingToRegister };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, async () => [await placeCalls(this)]);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onReport(this);
	}
}
