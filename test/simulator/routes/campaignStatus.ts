import { campaignNotFound, ok } from '../http/responses';
import type { Route } from '../http/route';
import type { JsonObject } from '../json';
import type { Campaign, Upload } from '../state/types';
import type { SimulatorState } from '../world';

export function campaignStatusRoutes(world: SimulatorState): Route[] {
	const { state, dialect } = world;
	return [
		{
			method: 'GET',
			path: '/v1/campaigns/:id/status',
			handle: ({ params }) => {
				const campaign = state.campaigns.get(Number(params.id));
				if (!campaign) return campaignNotFound(dialect);
				return ok({
					campaign: campaignOf(campaign, world),
					calls: callCounts(campaign.id, world),
					uploads: campaign.uploads.map(uploadOf),
				});
			},
		},
	];
}

function campaignOf(campaign: Campaign, { dialect }: SimulatorState): JsonObject {
	return {
		id: campaign.id,
		name: campaign.name,
		status: campaign.status,
		is_retry_enabled: campaign.isRetryEnabled,
		retry_threshold: campaign.retryThreshold,
		retry_delay: dialect.campaigns.retryDelay,
		created_at: campaign.createdAt,
		...dialect.campaigns.extraFields,
	};
}

/** Counts attempts, not contacts. */
function callCounts(campaignId: number, { state, dialect }: SimulatorState): JsonObject {
	const byStatus: Record<string, number> = {};
	let total = 0;
	for (const call of state.calls.values()) {
		if (call.campaignId !== campaignId) continue;
		total++;
		const known = call.outcome.status;
		const status = typeof known === 'string' ? known : (dialect.calls.inFlight[0] ?? 'pending');
		byStatus[status] = (byStatus[status] ?? 0) + 1;
	}
	return { total, by_status: byStatus };
}

function uploadOf(upload: Upload): JsonObject {
	return {
		campaign_upload_id: upload.id,
		file_name: upload.fileName,
		agent_uuid: upload.agentUuid,
		created_at: upload.createdAt,
		queues: upload.queues.map((queue) => ({
			agent_uuid: queue.agentUuid,
			total_queued: queue.totalQueued,
			completed: queue.completed,
		})),
	};
}
