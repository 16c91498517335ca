import type { ApiClient } from '../../shared/api/client';
import { InvalidInput } from '../../shared/api/errors';
import { formOf } from '../../shared/modelForms';
import { readCampaign, type CampaignView } from '../../shared/campaign';
import type { PushOutcome } from './pushTypes';
import type { PreparedRows } from './prepareRows';

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

/** The outcome of a dry run. */
export async function performDryRun(
	client: ApiClient,
	campaignId: number,
	received: number,
	{ rows, rejectedRows }: PreparedRows,
	skipPushedBefore: boolean,
): Promise<PushOutcome> {
	const { status } = await openCampaign(client, campaignId);
	return {
		received,
		pushed: [],
		rejectedRows,
		ready: rows,
		readyIsUpperBound: skipPushedBefore,
		campaignStatus: status,
	};
}
