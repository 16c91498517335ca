import uniq from 'lodash/uniq';
import pLimit from 'p-limit';
import type { ApiClient } from '../service/client';
import { READS_AT_ONCE } from '../service/limits';
import { readPages } from '../service/paging';
import type { Account } from '../profile/serviceProfile';
import { readCampaign } from './campaign';
import type { Clock } from '../values/clock';
import { plainText } from '../values/values';
import { callList, hasStart } from '../calls/callList';

/** Calls to look at. More would keep the user waiting. */
const MAX_CALLS = 200;
const MAX_CAMPAIGNS = 30;
const RECENT_MS = 90 * 24 * 3_600_000;

/** `name` is empty if the campaign's status can't be read. */
type RecentCampaign = { id: string; name: string };

/**
 * The campaigns of recent calls, by `campaign_id` of the call list ("List Calls") and the names of "Campaign Status". The
 * document has no request that lists campaigns. If the profile has no start date, the campaigns of the
 * first calls that the service lists.
 *
 * @throws InvalidInput if the call list needs more of the profile
 * @throws OutcomeUnknown if the response has no list of calls
 */
export async function recentCampaigns(account: Account, clock: Clock): Promise<RecentCampaign[]> {
	const { client } = account;
	const from = new Date(clock.now() - RECENT_MS).toISOString();
	const filters = hasStart(account) ? { from } : {};
	const list = callList(account, { filters, limit: MAX_CALLS });
	const { entries: calls } = await readPages(list, MAX_CALLS);
	const ids = uniq(calls.map(({ campaign_id: id }) => plainText(id)).filter((id) => id !== ''));
	const parallel = pLimit(READS_AT_ONCE);
	return await Promise.all(
		ids.slice(0, MAX_CAMPAIGNS).map(async (id) => await parallel(async () => named(client, id))),
	);
}

/** A campaign without a readable status can still be selected. */
async function named(client: ApiClient, id: string): Promise<RecentCampaign> {
	const view = await readCampaign(client, Number(id)).catch(() => undefined);
	return { id, name: plainText(view?.campaign.name) };
}
