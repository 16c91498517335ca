import type { CampaignView } from '../shared/campaign';
import { waitUntilCompleted } from './campaignWait';
import { OutcomeUnknown } from '../shared/api/errors';
import type { Clock } from '../shared/api/http';
import type { JsonObject } from '../shared/api/types';
import type { Wait } from './readWait';

/**
 * Reads once, or waits with one short read an interval. n8n can put an execution to sleep in its
 * database, but wakes it without running the node again, so that nothing would look whether the
 * campaign is done.
 */
export async function statusWithin(
	read: () => Promise<CampaignView>,
	wait: Wait | undefined,
	clock: Clock,
): Promise<{ view: CampaignView; told: JsonObject }> {
	if (wait === undefined) return { view: await read(), told: {} };
	const { view, end } = await waitUntilCompleted(read, wait, clock);
	if (end.outcome === 'timed_out' && wait.stopAtLimit) {
		throw new OutcomeUnknown(
			'The campaign was not completed within the time limit',
			`${end.note} It goes on by itself; run this item again to wait longer, or raise Time Limit.`,
		);
	}
	return { view, told: { wait_outcome: end.outcome, wait_note: end.note } };
}
