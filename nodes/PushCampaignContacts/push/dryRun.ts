import type { ApiClient } from '../../shared/api/client';
import { getCampaignStatus } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { InvalidInput } from '../../shared/api/errors';
import { forEveryone } from '../../shared/api/modelAdvice';
import { viewCampaign, type CampaignView } from '../../shared/campaign';
import type { PushOutcome } from './pushTypes';
import type { PreparedRows } from './prepareRows';

const ARCHIVED = 'Archived';

/**
 * The campaign, read before anything is sent, so that a token, a campaign or an address that is not
 * right shows itself now.
 *
 * @throws where a push would be turned down as a whole
 */
export async function openCampaign(client: ApiClient, campaignId: number): Promise<CampaignView> {
	const view = viewCampaign(recordOf(await getCampaignStatus(client, campaignId)));
	if (view.status !== ARCHIVED) return view;
	throw new InvalidInput(
		'The campaign is archived, and an archived campaign takes no contacts',
		forEveryone('Choose another campaign in Campaign ID. Nothing was sent.'),
	);
}

/** What would be sent. */
export async function performDryRun(
	client: ApiClient,
	campaignId: number,
	received: number,
	{ rows, rejectedRows }: PreparedRows,
	skipPushedBefore: boolean,
): Promise<PushOutcome> {
	const { status } = await openCampaign(client, campaignId);
	const inOrder = [...rejectedRows].sort((one, other) => one.index - other.index);
	return {
		received,
		pushed: [],
		rejectedRows: inOrder,
		ready: rows,
		readyIsUpperBound: skipPushedBefore,
		campaignStatus: status,
	};
}
