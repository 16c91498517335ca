import { isTransient } from '../shared/api/errors';
import type { Additions } from '../shared/api/endpoints';
import { BoundedMap } from '../shared/boundedMap';
import type { CampaignView } from '../shared/campaign';
import type { Clock } from '../shared/clock';

/** Campaigns of a run that are kept. Others are read again. */
const MAX_CAMPAIGNS = 1_000;

/** How old a result may be for an item that waits. Items with the same wait continue one after the other. */
const MAX_AGE_IN_WAIT_MS = 1_000;

type CampaignRequest = { campaignId: number; additions: Additions; isWaiting: boolean };

type Read = { view: Promise<CampaignView>; at: number };

/** The requests of a run. Items with the same campaign share a request, so that 100,000 of them don't send 100,000. */
export class CampaignReads {
	private readonly reads = new BoundedMap<Read>(MAX_CAMPAIGNS);

	constructor(private readonly clock: Pick<Clock, 'elapsed'>) {}

	/** Sends a request, or returns the result of an earlier one. A failure that may be temporary isn't kept. */
	async read(
		{ campaignId, additions, isWaiting }: CampaignRequest,
		send: () => Promise<CampaignView>,
	): Promise<CampaignView> {
		const key = JSON.stringify([campaignId, additions]);
		const maxAge = isWaiting ? MAX_AGE_IN_WAIT_MS : Infinity;
		const now = this.clock.elapsed();
		const earlier = this.reads.get(key);
		const isUsable = earlier !== undefined && now - earlier.at <= maxAge;
		const read = isUsable ? earlier : { view: send(), at: now };
		if (!isUsable) this.reads.set(key, read);
		return await read.view.catch((error: unknown) => {
			if (isTransient(error) && this.reads.get(key) === read) this.reads.delete(key);
			throw error;
		});
	}
}
