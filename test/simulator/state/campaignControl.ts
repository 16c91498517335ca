import { randomUUID } from 'node:crypto';
import type { Dialect } from '../dialects';
import type { State } from './store';
import type { CampaignStatus } from './types';

/** Activates, pauses, or archives a campaign, from the states that the dialect permits. */
export function changeCampaign(
	state: State,
	{ campaigns }: Dialect,
	id: number,
	status: Exclude<CampaignStatus, 'Draft'>,
): void {
	const campaign = state.campaigns.get(id);
	if (!campaign || !campaigns.lifecycle[status].includes(campaign.status)) {
		throw new Error(`Campaign ${id} cannot become ${status}`);
	}
	campaign.status = status;
}

/** Marks the queues of a contact list as completed. */
export function completeUpload(state: State, uploadId: number): void {
	const uploads = [...state.campaigns.values()].flatMap((campaign) => campaign.uploads);
	const upload = uploads.find(({ id }) => id === uploadId);
	if (!upload) throw new Error(`The simulator holds no contact list ${uploadId}`);
	for (const queue of upload.queues) queue.completed = true;
}

/** Adds an attempt of the campaign, as the calling engine would. */
export function addAttempt(state: State, campaignId: number, status: string): string {
	const model = [...state.calls.values()].find((call) => call.campaignId === campaignId);
	if (!model) throw new Error(`Campaign ${campaignId} has no calls to take after`);
	const callId = randomUUID();
	const outcome = { ...model.outcome, status };
	state.calls.set(callId, { ...model, callId, request: null, outcome, deliveries: [] });
	return callId;
}
