import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../shared/n8n/forms/locatorFields';
import { forEachChatItem, type Prepare } from '../shared/n8n/run/chatItems';
import { voiceChatAgentApiTest } from '../shared/n8n/http/credentialTest';
import { runNode } from '../shared/n8n/run/operations';
import { sendFields, DEFAULT_CONCURRENCY } from './properties';
import { sendByAsync, sendByInbound, sendByLegacy } from './sendByRequest';
import { answerInteraction, sendBySocket } from './sendBySocket';

/** By the values of 'Send Via'. */
const SEND_METHODS: { [sendBy: string]: Prepare } = {
	socket: sendBySocket,
	inbound: sendByInbound,
	async: sendByAsync,
	legacy: sendByLegacy,
};

export class ChatSend implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Chat Agent: Send',
		name: 'chatSend',
		icon: {
			light: 'file:../shared/icons/chat.svg',
			dark: 'file:../shared/icons/chat.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle:
			'={{ $parameter["operation"] === "answerInteraction" ? "answer interactive message" : { socket: "send message, live connection", inbound: "send message, immediate reply", async: "send message, later reply", legacy: "send message (legacy)" }[$parameter["sendBy"]] }}',
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
		return await runNode(this, sendFields, async (run) => {
			const form = run.parameters.at(0);
			const isInteraction = form.choice('operation', 'sendMessage') === 'answerInteraction';
			const prepare = isInteraction
				? answerInteraction
				: (SEND_METHODS[form.choice('sendBy', 'socket')] ?? sendBySocket);
			const isLive = prepare === sendBySocket || isInteraction;
			return [await forEachChatItem(run, prepare, isLive ? DEFAULT_CONCURRENCY : 1)];
		});
	}
}
