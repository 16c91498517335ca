import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { searchCampaigns, enteredOr, searchAgents } from '../host/forms/locatorFields';
import { searchStatuses } from '../host/forms/statusField';
import { CREDENTIAL } from '../host/http/credential';
import { runPoll } from './check';
import { pollCalls } from './pollCalls';
import { campaignCallsFields } from './properties';

export class CampaignCallsTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Campaign Calls Trigger',
		name: 'campaignCallsTrigger',
		icon: {
			light: 'file:../icons/list.svg',
			dark: 'file:../icons/list.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: `={{ $parameter["callsOf"] === "campaign" ? "calls of campaign " + ${enteredOr('campaignId', '…')} : "all completed calls" }}`,
		description: 'Starts the workflow when calls of a campaign are completed',
		builderHint: {
			searchHint:
				'Checks the calls of a campaign or of the account regularly, and starts the workflow with those that were completed. Needs no public URL.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.pushCampaignContacts',
					relationHint: 'Pushes the contacts that are called',
				},
				{
					nodeType: 'n8n-nodes-voice-chat-agent.callCompletedTrigger',
					relationHint: 'Starts the workflow for calls of Place Call, by webhook',
				},
			],
		},
		defaults: { name: 'Campaign Calls Trigger' },
		polling: true,
		triggerPanel: {
			header: 'Get completed calls',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, click "Fetch Test Event". The node returns a completed call, if possible an answered one with captured values.<br /><br /><b>When your workflow is ready</b>, publish it. n8n then checks the calls regularly and starts the workflow with those that were completed.',
				active:
					'<b>To test it</b>, click "Fetch Test Event". The node returns a completed call, if possible an answered one with captured values.<br /><br /><b>While the workflow is published</b>, n8n also checks the calls regularly and starts the workflow with those that were completed.',
			},
			activationHint: 'Publish the workflow to check the calls regularly.',
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: campaignCallsFields,
	};

	methods = { listSearch: { searchAgents, searchCampaigns, searchStatuses } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await runPoll(this, pollCalls);
	}
}
