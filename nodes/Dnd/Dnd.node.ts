import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { searchAgents } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { operationFields, type ResourceChoice, subtitleOf } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { add, remove } from './operations/change.operation';
import { check } from './operations/check.operation';
import { forget } from './operations/forget.operation';
import { getMany } from './operations/getMany.operation';

const number: ResourceChoice = {
	value: 'number',
	name: 'Number',
	description: 'A number on the do-not-disturb list of an agent',
	operations: [add, check, getMany, remove],
	initial: add,
};

const rememberedNumber: ResourceChoice = {
	value: 'rememberedNumber',
	name: 'Remembered Number',
	description: 'A number that nodes of this workflow remember in n8n',
	operations: [forget],
	initial: forget,
};

const resources = [number, rememberedNumber];
const operations = resources.flatMap((resource) => resource.operations);

export class Dnd implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: DND List',
		name: 'dnd',
		icon: {
			light: 'file:../icons/list.svg',
			dark: 'file:../icons/list.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: subtitleOf(operations),
		description: 'Manage the numbers that your agents never call',
		builderHint: {
			searchHint:
				"Adds phone numbers to the do-not-disturb list of an agent, which is its do-not-call list, removes them, or marks each row with on_dnd. To call only people who aren't on it, add a Filter node for on_dnd is false.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.pushCampaignContacts',
					relationHint: 'Pushes the people who may be called',
				},
			],
		},
		defaults: { name: 'DND List' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: CREDENTIAL,
				required: true,
				// Sends nothing.
				displayOptions: { hide: { operation: ['forget'] } },
			},
		],
		properties: operationFields(resources, number),
	};

	methods = { listSearch: { searchAgents } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
