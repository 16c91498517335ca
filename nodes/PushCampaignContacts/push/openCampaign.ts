import type { ApiClient } from '../../shared/api/client';
import { InvalidInput } from '../../shared/api/errors';
import { formOf } from '../../shared/modelForms';
import { readCampaign, type CampaignView } from '../../shared/campaign';

const ARCHIVED = 'Archived';

/**
 * Reads the campaign before anything is sent, to detect a wrong token, URL, or campaign.
 *
 * @throws if the service would reject every request
 */
export async function openCampaign(client: ApiClient, campaignId: number): Promise<CampaignView> {
	const view = await readCampaign(client, campaignId);
	if (view.status !== ARCHIVED) return view;
	throw new InvalidInput('The campaign is archived, so nothing was sent', {
		onScreen: "Choose another campaign in 'Campaign'.",
		forModel: `Choose another campaign. ${formOf('Campaign')}`,
	});
}
