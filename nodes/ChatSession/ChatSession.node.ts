import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { voiceChatAgentApiTest } from '../host/http/credentialTest';
import { subtitleOf } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { operations, sessionFields } from './properties';

export class ChatSession implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Session',
		name: 'chatSession',
		icon: {
			light: 'file:../icons/chat.svg',
			dark: 'file:../icons/chat.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: subtitleOf(operations),
		description: 'Create, close, watch, or wait for chat sessions with an AI agent',
		builderHint: {
			searchHint:
				'Creates a chat session, closes it, sends support commands, waits for an event of it, or lets Chat Events Trigger watch it.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSend',
					relationHint: 'Sends a message in the session',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatEventsTrigger',
					relationHint: 'Starts a workflow for events of the session',
				},
			],
		},
		defaults: { name: 'Chat Session' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		properties: sessionFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
