import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../shared/n8n/agentList';
import { readConcurrency } from '../shared/n8n/concurrency';
import { connectOnce } from '../shared/n8n/connect';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { forEachItem } from '../shared/n8n/itemLoop';
import { Parameters } from '../shared/n8n/parameters';
import { alreadyPlaced } from './alreadyPlaced';
import { callFields } from './callFields';
import { checkCall, placeOne, type ReadyCall } from './placeOne';
import { onReport } from './onReport';
import { readCall } from './readCall';
import { prepareWait } from './wait';
import { wakeUp } from './wakeUp';

export class PlaceCall implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Place Call',
		name: 'placeCall',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["when"] === "now" ? "now" : "scheduled" }}',
		description: 'Have an AI agent call a person, now or later',
		defaults: { name: 'Place Call' },
		usableAsTool: true,
		waitingNodeTooltip: 'Waiting until the calls are over',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// Literals, because n8n's verification reads them from the source.
		credentials: [
			{ name: 'voiceChatAgentApiTokenApi', required: true, testedBy: 'voiceChatAgentApiTest' },
		],
		webhooks: wakeUp,
		properties: callFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const connected = connectOnce(this);
		const wait = await prepareWait(this, connected);
		const parameters = new Parameters(this);
		const ready = new Map<number, ReadyCall>();
		const check = (index: number): ReadyCall => {
			const options = parameters.record('options', index);
			const fields = readCall(this, parameters, index);
			const webhookUrl = wait.address ?? fields.webhookUrl;
			const call = checkCall({ ...fields, webhookUrl }, options);
			ready.set(index, call);
			return call;
		};
		const place = async (index: number) => {
			const { service } = await connected();
			return await placeOne(service, ready.get(index) ?? check(index));
		};
		const calls = await forEachItem(this, place, {
			concurrency: readConcurrency(parameters, 1),
			once: true,
			check,
			describeDone: alreadyPlaced,
		});
		return [await wait.finish(calls)];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await onReport(this);
	}
}
