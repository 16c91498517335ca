import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { recentCampaigns } from '../../core/campaigns/campaign';
import { clock } from '../clock';
import { locatorField, searchEntries } from './locatorFields';

/** The document has no request that lists campaigns. */
export const campaignField = locatorField(
	{ displayName: 'Campaign', name: 'campaignId' },
	{
		searchListMethod: 'searchCampaigns',
		placeholder: 'Select a campaign...',
		hint: "The list has the campaigns of recent calls. Enter a new campaign with 'By ID'.",
	},
	'42',
);

/** Fills the 'Campaign' list with the campaigns of recent calls that match the typed filter. */
export async function searchCampaigns(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	return await searchEntries(this, filter, async (account) => {
		const campaigns = await recentCampaigns(account, clock);
		// n8n stores the name with the workflow, so it has nothing that changes, such as the status.
		return campaigns.map(({ id, name }) => ({ name: name || `Campaign ${id}`, value: id }));
	});
}
