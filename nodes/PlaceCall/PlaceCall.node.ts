import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { enteredOr, searchAgents } from '../host/forms/locatorFields';
import { voiceChatAgentApiTest } from '../host/http/credentialTest';
import { formOf } from '../host/forms/nodeParameters';
import { operationFields } from '../host/run/operations';
import { runOperation } from '../host/run/runNode';
import { nothingToRegister } from '../host/triggers/webhookRequest';
import { alsoForReview, RESOURCE } from './humanReview';
import { place } from './operations/place.operation';
import { sendAndWait } from './operations/sendAndWait.operation';
import { searchTimeZones } from './fields/timeZone';
import { onCompletionWebhook, resumeWebhooks } from './wait/resumeWebhook';

const operations = [sendAndWait, place];

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
		subtitle: `={{ ($parameter["operation"] === "sendAndWait" ? "ask " : $parameter["whatToDo"] === "check" ? "check call to " : $parameter["when"] === "now" ? "call " : "schedule call to ") + ${enteredOr('phoneNumber', 'the number of each item')} }}`,
		description: 'Let an AI agent call people, now or later, or ask a person by phone',
		builderHint: {
			searchHint:
				'Calls one person per item by phone with an AI agent, such as a new lead, now or at a scheduled time. To continue with the result of the call (outcome, answered, summary, captured answers), set waitForCompletion to "webhook" if n8n has a public URL and the agent has post-call analysis, otherwise to "reading". To ask one person a question by phone and continue with the answer, such as for an approval, use the operation sendAndWait. To call a list of contacts, use Push Campaign Contacts.',
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
		waitingNodeTooltip:
			'Waiting for the calls to end. The workflow continues then, even if you close this page.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		webhooks: resumeWebhooks,
		properties: alsoForReview(operationFields([{ ...RESOURCE, operations, initial: place }])),
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents, searchTimeZones },
	};

	webhookMethods = { default: nothingToRegister() };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const form = formOf(
			this,
			operations.flatMap(({ fields }) => fields),
		);
		return await onCompletionWebhook(this, form);
	}
}
