import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { operationFields, subtitleOf } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { check } from './operations/check.operation';
import { getMany } from './operations/getMany.operation';

const operations = [check, getMany];

export class Agents implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Agents',
		name: 'agents',
		icon: {
			light: 'file:../icons/voiceChatAgent.svg',
			dark: 'file:../icons/voiceChatAgent.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle: subtitleOf(operations),
		description: 'List the AI agents that can take calls, or check one of them',
		builderHint: {
			searchHint:
				'Finds the AI agents of the account that can take calls now, or checks one of them.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.placeCall',
					relationHint: 'Calls a person with the agent',
				},
			],
		},
		defaults: { name: 'Agents' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: operationFields([{ name: 'Agent', value: 'agent', operations, initial: getMany }]),
	};

	methods = { listSearch: { searchAgents } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
