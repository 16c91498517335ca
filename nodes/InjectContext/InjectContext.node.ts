import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { voiceChatAgentApiTest } from '../host/http/credentialTest';
import { onlyOperationFields } from '../host/run/operations';
import { runNode } from '../host/run/runNode';
import { inject } from './operations/inject.operation';

export class InjectContext implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Inject Context',
		name: 'injectContext',
		icon: {
			light: 'file:../icons/chat.svg',
			dark: 'file:../icons/chat.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: 'add context to the chat',
		description: 'Give a chat agent context for the conversation, such as the summary of a call',
		builderHint: {
			searchHint:
				"Tells the AI agent of a chat something that the customer doesn't see, such as an order status.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSend',
					relationHint: 'Sends a message of the customer',
				},
			],
		},
		defaults: { name: 'Inject Context' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		properties: onlyOperationFields(inject),
	};

	methods = { credentialTest: { voiceChatAgentApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, inject);
	}
}
