import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { searchAgents } from '../shared/n8n/agentList';
import { CREDENTIAL, CREDENTIAL_TEST } from '../shared/n8n/credential';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { hintsFor } from '../shared/service/campaignFeed/hints';
import { feedFields } from './feedFields';
import { pushedItems, rejectedItems, summaryItem } from './outputs';
import { usualPresentation } from './readSettings';
import { runFeed } from './runFeed';
import { couldNotBegin, feedStopped, stoppedItem } from './stopped';

export class PushCampaignContacts implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Push Campaign Contacts',
		name: 'pushCampaignContacts',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['output'],
		version: 1,
		subtitle: '={{ "campaign " + $parameter["campaignId"] }}',
		description: 'Add rows of a spreadsheet or database to a calling campaign, any number at once',
		defaults: { name: 'Push Campaign Contacts' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [
			{ type: NodeConnectionTypes.Main, displayName: 'Pushed' },
			{ type: NodeConnectionTypes.Main, displayName: 'Rejected' },
		],
		credentials: [{ name: CREDENTIAL, required: true, testedBy: CREDENTIAL_TEST }],
		properties: feedFields,
	};

	methods = {
		credentialTest: { voiceChatAgentApiTest },
		listSearch: { searchAgents },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { outcome, presentation } = await runFeed(this).catch((error: unknown) => {
			const begun = couldNotBegin(this, error);
			if (this.continueOnFail()) return { outcome: begun, presentation: usualPresentation };
			throw feedStopped(this, error, begun);
		});
		if (outcome.stopped !== undefined && !this.continueOnFail()) {
			throw feedStopped(this, outcome.stopped, outcome);
		}

		const { inSummary, withDuplicates } = presentation;
		const pushed = inSummary ? [summaryItem(outcome)] : pushedItems(outcome);
		this.addExecutionHints(...hintsFor(outcome).map((message) => ({ message })));
		return [
			[...stoppedItem(this, outcome), ...pushed],
			rejectedItems(this, outcome, withDuplicates),
		];
	}
}
