import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { operationFields } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { answerInteraction } from './operations/answerInteraction.operation';
import { sendMessage } from './operations/sendMessage.operation';

const operations = [answerInteraction, sendMessage];

export class ChatSend implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Send',
		name: 'chatSend',
		icon: {
			light: 'file:../icons/chat.svg',
			dark: 'file:../icons/chat.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle:
			'={{ $parameter["operation"] === "answerInteraction" ? "answer interactive message" : { socket: "send message, live connection", inbound: "send message, immediate reply", async: "send message, later reply", legacy: "send message (legacy)" }[$parameter["sendingMethod"]] }}',
		description: "Send a customer's message to a chat agent and get its reply",
		builderHint: {
			searchHint:
				"Sends a customer's text message to an AI agent's chat and returns the agent's reply.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.chatSession',
					relationHint: 'Creates a chat session or closes it',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.injectContext',
					relationHint: 'Tells the agent something without a message',
				},
			],
		},
		defaults: { name: 'Chat Send' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: operationFields([
			{ name: 'Message', value: 'message', operations, initial: sendMessage },
		]),
	};

	methods = { listSearch: { searchAgents } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
