import { fixtures } from '../../simulator';
import type { ContractCase } from '../contractCase';

const { campaigns, uploads, agents } = fixtures;
const requests = [`GET /v1/campaigns/${campaigns.active}/status`];
const list = (id: number, completed: boolean) => ({
	campaign_upload_id: id,
	file_name: `leads_${id}.csv`,
	agent_uuid: agents.full,
	created_at: expect.any(String),
	queues: [{ agent_uuid: agents.full, total_queued: 20, completed }],
});

export const campaignStatus: ContractCase[] = [
	{
		title: 'returns the whole response, including undocumented fields',
		parameters: { campaignId: campaigns.active, output: 'raw' },
		requests,
		output: (dialect) => [
			{
				campaign: {
					id: campaigns.active,
					name: 'Morning Leads',
					status: 'Active',
					is_retry_enabled: true,
					retry_threshold: 3,
					retry_delay: 1800,
					created_at: expect.any(String),
					...dialect.campaigns.extraFields,
				},
				calls: {
					total: 38,
					by_status: { picked: 30, not_picked: 1, failed: 7 },
				},
				uploads: [list(uploads.completed, true), list(uploads.running, false)],
			},
		],
	},
	{
		title: 'recognizes an unknown campaign at any status',
		parameters: { campaignId: 999 },
		requests: ['GET /v1/campaigns/999/status'],
		rejection: "The service doesn't know this campaign",
	},
];
