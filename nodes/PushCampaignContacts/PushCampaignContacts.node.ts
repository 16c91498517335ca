import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchCampaigns, enteredOr, searchAgents } from '../host/forms/locatorFields';
import { CREDENTIAL } from '../host/http/credential';
import { onlyOperationFields } from '../host/run/operations';
import { runNode } from '../host/run/runNode';
import { push } from './operations/push.operation';

export class PushCampaignContacts implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Push Campaign Contacts',
		name: 'pushCampaignContacts',
		icon: {
			light: 'file:../icons/list.svg',
			dark: 'file:../icons/list.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: `={{ ({ release: "release to campaign ", wait: "add to campaign " }[$parameter["whatToDo"]] ?? "check for campaign ") + ${enteredOr('campaignId', '…')} }}`,
		description:
			'Add contacts from a spreadsheet, database, or CSV file to a calling campaign, up to 1,000,000 at a time',
		builderHint: {
			searchHint:
				'Adds contacts, such as rows of a spreadsheet or CSV file, to a calling campaign. Campaigns only call Indian mobile numbers. Nobody is called unless whatToDo is release, and nothing is sent with check, the default. A workflow can push the same sheet every morning: numbers that it has pushed to the campaign before are skipped. The first output has the pushed rows, or with check the ready ones, the second one those to look after, and the third one those that were skipped, because they are duplicates, on the do-not-disturb list, or were sent before, or may have been. All have push_status and, if they have a usable number, phone_key, which the call triggers return, too. Those that were not pushed have rejection_reason.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.campaignStatus',
					relationHint: 'Reads the progress of the campaign',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.campaignCallsTrigger',
					relationHint:
						'Starts a second workflow with the outcome of each call, such as to write it into the row with the same phone_key whose push_status is not duplicate',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.dnd',
					relationHint:
						'Marks people who opted out with on_dnd, so that a Filter node can remove them before the push',
				},
			],
		},
		defaults: { name: 'Push Campaign Contacts' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		// An expression in 'What to Do' isn't evaluated here, because it may need an execution.
		outputs: `={{ [$rawParameter["whatToDo"] === "check" ? "Ready" : "Pushed", "Rejected", "Skipped"].map((displayName) => ({ type: "main", displayName })) }}`,
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: onlyOperationFields(push),
	};

	methods = { listSearch: { searchAgents, searchCampaigns } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runNode(this, push);
	}
}
