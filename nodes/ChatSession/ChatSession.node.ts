import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { operationFields, type ResourceChoice, subtitleOf } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { create, legacyCreate } from './operations/create.operation';
import {
	close,
	legacyClose,
	legacyPause,
	supportCommand,
} from './operations/sessionRequest.operation';
import { unwatch, watch } from './operations/watch.operation';

const legacy: ResourceChoice = {
	value: 'legacy',
	name: 'Session (Legacy)',
	description: "The older requests, which are deprecated. Use 'Session' in new workflows.",
	operations: [legacyClose, legacyCreate, legacyPause],
	initial: legacyCreate,
};

const session: ResourceChoice = {
	value: 'session',
	name: 'Session',
	description: 'A conversation between a customer and an agent',
	operations: [close, create, supportCommand],
	initial: create,
};

const watchList: ResourceChoice = {
	value: 'watchList',
	name: 'Watch List',
	description: 'The sessions that a Chat Events Trigger listens to',
	operations: [unwatch, watch],
	initial: watch,
};

const resources = [session, legacy, watchList];

const operations = resources.flatMap((resource) => resource.operations);

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
		description: 'Create, close, or watch chat sessions with an AI agent',
		builderHint: {
			searchHint:
				'Creates a chat session, closes it, sends support commands, or lets Chat Events Trigger watch it.',
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
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: operationFields(resources, session),
	};

	methods = { listSearch: { searchAgents } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
