import type { INodeExecutionData } from 'n8n-workflow';
import { READS_AT_ONCE } from '../shared/api/limits';
import { parseCampaignId } from '../shared/api/parseIds';
import { readCampaign, simplifyCampaign } from '../shared/campaign';
import { MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { readAdditions, readConcurrency } from '../shared/n8n/forms/options';
import { readOutput, sized } from '../shared/n8n/forms/outputFields';
import { asItems, forEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { CampaignReads } from './campaignReads';

/** Reads each item's campaign. */
export async function readStatuses({
	context,
	parameters,
	account,
}: OperationRun): Promise<INodeExecutionData[]> {
	const reads = new CampaignReads();
	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const { client } = await account();
		const form = parameters.at(index);
		const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
		const output = readOutput(form);
		const additions = readAdditions(form.collection('developerSettings'));
		const view = await reads.read(
			{ campaignId, additions },
			async () => await readCampaign(client, campaignId, additions),
		);
		const sizes = { raw: view.record, simplified: simplifyCampaign(view) };
		// Items share the response, and a node that changes one item in place must not change the others.
		return asItems(structuredClone(sized(output, sizes)));
	};
	return await forEachItem(context, statusOf, {
		concurrency: readConcurrency(parameters, READS_AT_ONCE),
	});
}
