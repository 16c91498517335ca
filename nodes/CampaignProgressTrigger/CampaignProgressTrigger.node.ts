import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { CREDENTIAL, CREDENTIAL_TEST } from '../shared/n8n/credential';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { asItems } from '../shared/n8n/itemLoop';
import { toNodeError } from '../shared/n8n/nodeErrors';
import { pollCampaign } from './pollCampaign';
import { progressFields } from './properties';

export class CampaignProgressTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Campaign Progress Trigger',
		name: 'campaignProgressTrigger',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: '={{ "campaign " + $parameter["campaignId"] }}',
		description: 'Starts the workflow when a calling campaign moves on',
		defaults: { name: 'Campaign Progress Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true, testedBy: CREDENTIAL_TEST }],
		properties: progressFields,
	};

	methods = { credentialTest: { voiceChatAgentApiTest } };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		try {
			const events = await pollCampaign(this);
			return events.length > 0 ? [asItems(events)] : null;
		} catch (error) {
			throw toNodeError(this.getNode(), error);
		}
	}
}
