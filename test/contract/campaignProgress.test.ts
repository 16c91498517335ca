import { pollContext, makeWorkflow, nodeTypes } from '../engine';
import { fixtures } from '../simulator';
import { describeContract } from './contractRing';
import { neverSeen, schemaMismatches } from './schema';

const { campaigns, uploads } = fixtures;

describeContract((ring) => {
	const follow = (campaignId: number) => {
		const node = ring.node('campaignProgressTrigger', {
			campaignId: String(campaignId),
			events: ['status_changed', 'queue_completed', 'call_counts_changed'],
			pollTimes: { item: [{ mode: 'everyMinute' }] },
		});
		const workflow = makeWorkflow([node]);
		const type = nodeTypes.getByNameAndVersion(node.type, 1);
		return async () => {
			const found = await type.poll?.call(pollContext(ring.credentials, workflow, node));
			return (found?.[0] ?? []).map(({ json }) => json);
		};
	};

	test('what happened since the last look, once', async () => {
		const look = follow(campaigns.active);
		expect(await look()).toEqual([]);
		expect(await look()).toEqual([]);

		const simulator = ring.simulator();
		simulator.completeUpload(uploads.running);
		simulator.changeCampaign(campaigns.active, 'Paused');
		const calls = [...simulator.state.calls.values()];
		const failed = calls.find(({ outcome }) => outcome.status === 'failed');
		if (failed) failed.outcome.status = 'picked';

		const events = await look();
		expect(events).toMatchObject([
			{ event: 'status_changed', from: 'Active', to: 'Paused' },
			{
				event: 'queue_completed',
				campaign_upload_id: uploads.running,
				queue: { completed: true, total_queued: 20 },
			},
			{
				event: 'call_counts_changed',
				total: { from: 38, to: 38 },
				by_status: { picked: { from: 30, to: 31 }, failed: { from: 7, to: 6 } },
			},
		]);
		for (const event of events) {
			expect(schemaMismatches('CampaignProgressTrigger', null, event)).toEqual([]);
		}
		expect(neverSeen('CampaignProgressTrigger', null, events)).toEqual([]);
		expect(await look()).toEqual([]);
	});

	test('a campaign that is activated', async () => {
		const look = follow(campaigns.draft);
		expect(await look()).toEqual([]);
		ring.simulator().changeCampaign(campaigns.draft, 'Active');
		expect(await look()).toMatchObject([{ event: 'status_changed', from: 'Draft', to: 'Active' }]);
	});

	test('an unknown campaign is told', async () => {
		await expect(follow(999)()).rejects.toThrow('The service does not know this campaign');
	});
});
