import { notFound, ok, type Handler } from '../http/route';

export const campaignStatus: Handler = (sim, { params }) => {
	const { state, dialect } = sim;
	const campaign = state.campaigns.get(Number(params.id));
	if (!campaign) return notFound(sim, 'campaignNotFound');
	// Attempts, not contacts.
	const attempts = [...state.calls.values()].filter((call) => call.campaignId === campaign.id);
	const inFlight = dialect.calls.inFlight[0] ?? 'pending';
	const byStatus: Record<string, number> = {};
	for (const { outcome } of attempts) {
		const status = typeof outcome.status === 'string' ? outcome.status : inFlight;
		byStatus[status] = (byStatus[status] ?? 0) + 1;
	}
	return ok({
		campaign: {
			id: campaign.id,
			name: campaign.name,
			status: campaign.status,
			is_retry_enabled: true,
			retry_threshold: 3,
			retry_delay: 1800,
			created_at: campaign.createdAt,
			...dialect.campaigns.extraFields,
		},
		calls: { total: attempts.length, by_status: byStatus },
		uploads: campaign.uploads.map(({ id, fileName, agentUuid, createdAt, queues }) => ({
			campaign_upload_id: id,
			file_name: fileName,
			agent_uuid: agentUuid,
			created_at: createdAt,
			queues: queues.map((queue) => ({
				agent_uuid: queue.agentUuid,
				total_queued: queue.totalQueued,
				completed: queue.completed,
			})),
		})),
	});
};
