import type { INodeExecutionData } from 'n8n-workflow';
import type { Additions } from '../../core/service/endpoints';
import { isTransient } from '../../core/service/errors';
import { READS_AT_ONCE } from '../../core/service/limits';
import { parseCampaignId } from '../../core/service/parseIds';
import { BoundedMap } from '../../core/values/boundedMap';
import { type CampaignView, readCampaign, simplifyCampaign } from '../../core/campaigns/campaign';
import { campaignField } from '../../host/forms/campaignField';
import {
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readAdditions,
	readConcurrency,
} from '../../host/forms/options';
import { outputFields, readOutput, selectOutput } from '../../host/forms/outputFields';
import { asItems, forEachItem } from '../../host/run/itemLoop';
import type { OnlyOperation, OperationRun } from '../../host/run/operations';

/** Campaigns of a run that are kept. Others are read again. */
const MAX_CAMPAIGNS = 1_000;

export const getStatus: OnlyOperation = {
	fields: [
		{ ...campaignField, description: 'The campaign whose progress to get' },
		...outputFields(
			'simplified',
			'One flat record with calls by status, contacts, lists, connect rate, and attempts per contact',
			'status, connect_rate',
		),
		developerSettings(
			additionalQueryParameters,
			concurrencyField(READS_AT_ONCE, 'How many campaigns to read at the same time'),
		),
	],
	isReadOnly: true,
	toolDescription:
		'Gets the progress of a calling campaign: its status, its contact lists, and their call counts. Calls nobody and changes nothing.',

	async execute(run) {
		return [await readStatuses(run)];
	},
};

/** Reads each item's campaign. Items with the same campaign share a request, so that 100,000 of them don't send 100,000. */
async function readStatuses(run: OperationRun): Promise<INodeExecutionData[]> {
	const { parameters, account } = run;
	const reads = new BoundedMap<Promise<CampaignView>>(MAX_CAMPAIGNS);
	const readOnce = async (campaignId: number, additions: Additions): Promise<CampaignView> => {
		const { client } = await account();
		const key = JSON.stringify([campaignId, additions]);
		const read = reads.get(key) ?? readCampaign(client, campaignId, additions);
		reads.set(key, read);
		return await read.catch((error: unknown) => {
			// It may be temporary.
			if (isTransient(error) && reads.get(key) === read) reads.delete(key);
			throw error;
		});
	};
	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const form = parameters.at(index);
		const campaignId = parseCampaignId(form.text('campaignId'));
		const output = readOutput(form);
		const view = await readOnce(campaignId, readAdditions(form.collection('developerSettings')));
		const sizes = { raw: view.record, simplified: simplifyCampaign(view) };
		// Items share the response, and a node that changes one item in place must not change the others.
		return asItems(structuredClone(selectOutput(output, sizes)));
	};
	return await forEachItem(run, statusOf, {
		concurrency: readConcurrency(parameters, READS_AT_ONCE),
	});
}
