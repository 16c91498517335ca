import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { CREDENTIAL } from '../host/http/credential';
import { searchAgents } from '../host/forms/locatorFields';
import { searchStatus, searchUnreached } from '../host/forms/statusField';
import { operationFields, subtitleOf } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { get } from './operations/get.operation';
import { getMany } from './operations/getMany.operation';
import { getRecording } from './operations/getRecording.operation';
import { getUnreached } from './operations/getUnreached.operation';
import { getTranscript } from './operations/getTranscript.operation';

const operations = [get, getMany, getRecording, getTranscript, getUnreached];

export class GetCall implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Get Call',
		name: 'getCall',
		icon: {
			light: 'file:../icons/call.svg',
			dark: 'file:../icons/call.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle: subtitleOf(operations),
		description: 'Get calls of your AI agents: outcome, summary, transcript, recording',
		builderHint: {
			searchHint:
				"Reads placed calls: the result, transcript, or recording of one call, or many calls with filters. It doesn't call anyone.",
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.placeCall',
					relationHint: 'Places a call and returns its call_id',
				},
			],
		},
		defaults: { name: 'Get Call' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: operationFields([{ name: 'Call', value: 'call', operations, initial: get }]),
	};

	methods = { listSearch: { searchAgents, searchStatus, searchUnreached } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
