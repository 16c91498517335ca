import { isTransient } from '../shared/api/errors';
import type { Additions } from '../shared/api/endpoints';
import { BoundedMap } from '../shared/boundedMap';
import type { CampaignView } from '../shared/campaign';

/** Campaigns of a run that are kept. Others are read again. */
const MAX_CAMPAIGNS = 1_000;

type CampaignRequest = { campaignId: number; additions: Additions };

/** The requests of a run. Items with the same campaign share a request, so that 100,000 of them don't send 100,000. */
export class CampaignReads {
	private readonly reads = new BoundedMap<Promise<CampaignView>>(MAX_CAMPAIGNS);

	/** Sends a request, or returns the result of an earlier one. A failure that may be temporary isn't kept. */
	async read(request: CampaignRequest, send: () => Promise<CampaignView>): Promise<CampaignView> {
		const key = JSON.stringify([request.campaignId, request.additions]);
		const read = this.reads.get(key) ?? send();
		this.reads.set(key, read);
		return await read.catch((error: unknown) => {
			if (isTransient(error) && this.reads.get(key) === read) this.reads.delete(key);
			throw error;
		});
	}
}
