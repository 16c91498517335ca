import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { CREDENTIAL } from '../host/http/credential';
import { searchCampaigns } from '../host/forms/campaignField';
import { enteredOr } from '../host/forms/locatorFields';
import { runPoll } from '../host/triggers/poll';
import { pollCampaign, progressFields } from './pollCampaign';

export class CampaignProgressTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Campaign Progress Trigger',
		name: 'campaignProgressTrigger',
		icon: {
			light: 'file:../icons/list.svg',
			dark: 'file:../icons/list.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: `={{ "progress of campaign " + ${enteredOr('campaignId', '…')} }}`,
		description: 'Starts the workflow when a calling campaign makes progress',
		builderHint: {
			searchHint:
				'Checks a calling campaign regularly and starts the workflow when it makes progress or its contact lists are completed.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-voice-chat-agent.campaignStatus',
					relationHint: 'Reads the progress once',
				},
			],
		},
		defaults: { name: 'Campaign Progress Trigger' },
		polling: true,
		triggerPanel: {
			header: 'Follow a campaign',
			executionsHelp: {
				inactive:
					'<b>To test it</b>, click "Fetch Test Event". The node returns the current state of the campaign.<br /><br /><b>When your workflow is ready</b>, publish it. n8n then checks the campaign regularly and starts the workflow when the campaign makes progress.',
				active:
					'<b>To test it</b>, click "Fetch Test Event". The node returns the current state of the campaign.<br /><br /><b>While the workflow is published</b>, n8n also checks the campaign regularly and starts the workflow when the campaign makes progress.',
			},
			activationHint: 'Publish the workflow to check the campaign regularly.',
		},
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: progressFields,
	};

	methods = { listSearch: { searchCampaigns } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await runPoll(this, pollCampaign);
	}
}
