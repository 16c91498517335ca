import memoize from 'lodash/memoize';
import type { INodeExecutionData } from 'n8n-workflow';
import type { Additions } from '../../core/service/endpoints';
import { READS_AT_ONCE } from '../../core/service/limits';
import { parseCampaignId } from '../../core/service/parseIds';
import { readCampaign, simplifyCampaign } from '../../core/campaigns/campaign';
import { campaignField } from '../../host/forms/locatorFields';
import {
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readAdditions,
	readConcurrency,
} from '../../host/forms/options';
import { outputFields, readOutput, selectOutput } from '../../host/forms/outputFields';
import { asItems, forEachItem } from '../../host/run/itemLoop';
import type { OnlyOperation, OperationRun } from '../../host/run/operations';

export const getStatus: OnlyOperation = {
	fields: [
		{ ...campaignField, description: 'The campaign whose progress to get' },
		...outputFields(
			'simplified',
			'One flat record with calls by status, contacts, lists, connect rate, and attempts per contact',
			'status, connect_rate',
		),
		optionsCollection(
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
	const readOnce = memoize(
		async (campaignId: number, additions: Additions) =>
			await readCampaign((await account()).client, campaignId, additions),
		(...campaign) => JSON.stringify(campaign),
	);
	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const form = parameters.at(index);
		const campaignId = parseCampaignId(form.text('campaignId'));
		const output = readOutput(form);
		const view = await readOnce(campaignId, readAdditions(form.collection('options')));
		const sizes = { raw: view.record, simplified: simplifyCampaign(view) };
		// Items share the response, and a node that changes one item in place must not change the others.
		return asItems(structuredClone(selectOutput(output, sizes)));
	};
	return await forEachItem(run, statusOf, {
		concurrency: readConcurrency(parameters, READS_AT_ONCE),
	});
}
