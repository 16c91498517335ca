import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../shared/n8n/agentField';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { runNode } from '../shared/n8n/nodeRun';
import { sendFields } from './properties';
import { sendItems } from './sendItems';

export class ChatSend implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Send',
		name: 'chatSend',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle:
			'={{ $parameter["operation"] === "answerInteraction" ? "answer" : { socket: "by WebSocket", inbound: "immediate reply", async: "later reply", legacy: "legacy" }[$parameter["sendBy"]] }}',
		description: 'Send a customer’s message to a chat agent and get its reply',
		defaults: { name: 'Chat Send' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		properties: sendFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, async () => [await sendItems(this)]);
	}
}
