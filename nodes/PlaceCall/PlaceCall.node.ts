import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { enteredOr, searchAgents } from '../host/forms/locatorFields';
import { voiceChatAgentApiTest } from '../host/http/credentialTest';
import { operationFields } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { askAndWait } from './operations/askAndWait.operation';
import { place } from './operations/place.operation';

const operations = [askAndWait, place];

export class PlaceCall implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Place Call',
		name: 'placeCall',
		icon: {
			light: 'file:../icons/call.svg',
			dark: 'file:../icons/call.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: `={{ ($parameter["operation"] === "askAndWait" ? "ask " : $parameter["whatToDo"] === "check" ? "check call to " : $parameter["when"] === "now" ? "call " : "schedule call to ") + ${enteredOr('phoneNumber', 'the number of each item')} }}`,
		description: 'Let an AI agent call people, now or later, or ask a person by phone',
		builderHint: {
			searchHint:
				'Calls one person per item by phone with an AI agent, such as a new lead, now or at a scheduled time, if whatToDo is place. By default, it only checks, and calls nobody. To continue with the result of the call (outcome, summary, captured answers), set options.waitMinutes, such as to 60. To ask one person a question by phone and continue with the answer, such as for an approval, use the operation askAndWait. To call a list of contacts, use Push Campaign Contacts.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.getCall',
					relationHint: 'Reads the record, transcript, or recording of a placed call',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.callCompletedTrigger',
					relationHint: 'Starts another workflow when a call is completed',
				},
			],
		},
		defaults: { name: 'Place Call' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		properties: operationFields([{ name: 'Call', value: 'call', operations, initial: place }]),
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}
