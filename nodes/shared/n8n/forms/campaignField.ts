import type { ILoadOptionsFunctions, INodeListSearchResult, INodeProperties } from 'n8n-workflow';
import { recentCampaigns, type RecentCampaign } from '../../calls/recentCampaigns';
import { clock } from '../http/accountClient';
import { searchEntries } from './listSearch';

/** The campaign, selected from those of recent calls or entered by ID. The document has no request that lists campaigns. */
export const campaignField: INodeProperties = {
	displayName: 'Campaign',
	name: 'campaignId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Select a campaign...',
			hint: "The list has the campaigns of recent calls. Enter a new campaign with 'By ID'.",
			typeOptions: { searchListMethod: 'searchCampaigns', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. 42',
		},
	],
};

/** Fills the 'Campaign' list with the campaigns of recent calls that match the typed filter. */
export async function searchCampaigns(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	return await searchEntries(this, filter, async ({ client, apiMapping }) => {
		const campaigns = await recentCampaigns(client, apiMapping, clock);
		return campaigns.map((campaign) => ({ name: labelOf(campaign), value: campaign.id }));
	});
}

function labelOf({ id, name, status }: RecentCampaign): string {
	const label = name === '' ? `Campaign ${id}` : name;
	return status === '' ? label : `${label} (${status})`;
}
