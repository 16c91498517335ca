import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { CREDENTIAL } from '../host/http/credential';
import { searchCampaigns, enteredOr } from '../host/forms/locatorFields';
import { onlyOperationFields } from '../host/run/operations';
import { runNode } from '../host/run/runNode';
import { getStatus } from './operations/getStatus.operation';

export class CampaignStatus implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Campaign Status',
		name: 'campaignStatus',
		icon: {
			light: 'file:../icons/list.svg',
			dark: 'file:../icons/list.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle: `={{ "status of campaign " + ${enteredOr('campaignId', '…')} }}`,
		description: 'Get the progress of a calling campaign',
		builderHint: {
			searchHint:
				'Reads the progress of a calling campaign once, with call counts by status. To continue when its contact lists are completed, read it regularly with a Schedule Trigger.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.pushCampaignContacts',
					relationHint: 'Adds contacts to the campaign',
				},
			],
		},
		defaults: { name: 'Campaign Status' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: onlyOperationFields(getStatus),
	};

	methods = { listSearch: { searchCampaigns } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, getStatus);
	}
}
