import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { CREDENTIAL } from '../host/http/credential';
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
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: onlyOperationFields(inject),
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, inject);
	}
}
