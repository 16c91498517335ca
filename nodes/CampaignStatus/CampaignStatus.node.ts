import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import pLimit from 'p-limit';
import { readAdditions } from '../shared/n8n/additions';
import { cancellableSleep } from '../shared/n8n/cancel';
import { readConcurrency } from '../shared/n8n/concurrency';
import { clock, connectOnce } from '../shared/n8n/connect';
import { CREDENTIAL, CREDENTIAL_TEST } from '../shared/n8n/credential';
import { voiceChatAgentApiTest } from '../shared/n8n/credentialTest';
import { asItems, forEachItem } from '../shared/n8n/itemLoop';
import { Parameters } from '../shared/n8n/parameters';
import { simplifyCampaign, viewCampaign } from '../shared/service/campaignView';
import { getCampaignStatus } from '../shared/service/endpoints';
import { recordOf } from '../shared/service/envelope';
import { parseCampaignId } from '../shared/service/identifiers';
import { readWait } from './readWait';
import { READS_AT_ONCE, statusFields } from './statusFields';
import { waitFor } from './waitFor';

export class CampaignStatus implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Voice Agent: Campaign Status',
		name: 'campaignStatus',
		icon: {
			light: 'file:../shared/icons/voiceChatAgent.svg',
			dark: 'file:../shared/icons/voiceChatAgent.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle: '={{ "campaign " + $parameter["campaignId"] }}',
		description: 'See how far a calling campaign has come, or wait until it is completed',
		defaults: { name: 'Campaign Status' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true, testedBy: CREDENTIAL_TEST }],
		properties: statusFields,
	};

	methods = { credentialTest: { voiceChatAgentApiTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const parameters = new Parameters(this);
		const connection = connectOnce(this);
		const waitingClock = { ...clock, sleep: cancellableSleep(this) };
		// Items that wait do so side by side; only their reads are held back.
		const limit = pLimit(readConcurrency(parameters, READS_AT_ONCE));

		const readOne = async (index: number) => {
			const { service } = await connection();
			const campaignId = parseCampaignId(parameters.value('campaignId', index));
			const wait = readWait(parameters, index);
			const additions = readAdditions(parameters.record('options', index));
			const read = async () =>
				await limit(async () =>
					viewCampaign(recordOf(await getCampaignStatus(service, campaignId, additions))),
				);
			const { view, told } =
				wait === undefined
					? { view: await read(), told: {} }
					: await waitFor(read, wait, waitingClock);
			const simplify = parameters.boolean('simplify', index);
			return asItems({ ...(simplify ? simplifyCampaign(view) : view.record), ...told });
		};
		const concurrency = Math.max(1, this.getInputData().length);
		return [await forEachItem(this, readOne, { concurrency })];
	}
}
