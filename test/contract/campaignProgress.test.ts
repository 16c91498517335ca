import { makeWorkflow, nodeTypes, pollContext } from '../engine';
import { FieldsSeen, schemaFaults } from '../schema/schemas';
import { fixtures } from '../simulator';
import { describeContract } from './contractHarness';

const { campaigns, uploads } = fixtures;
const type = 'campaignProgressTrigger';

describeContract((harness) => {
	async function follow(campaignId: number) {
		const parameters = {
			campaignId: String(campaignId),
			events: ['status_changed', 'queue_completed', 'call_counts_changed'],
			pollTimes: { item: [{ mode: 'everyMinute' }] },
		};
		const node = await harness.node(type, { parameters });
		const workflow = makeWorkflow([node]);
		const trigger = nodeTypes.getByNameAndVersion(node.type, 1);
		return async () => {
			const output = await trigger.poll?.call(pollContext(harness.credentials, workflow, node));
			return (output?.[0] ?? []).map(({ json }) => json);
		};
	}

	test('returns each change since the last poll once', async () => {
		const poll = await follow(campaigns.active);
		expect(await poll()).toEqual([]);
		expect(await poll()).toEqual([]);

		const simulator = harness.simulator();
		simulator.completeUpload(uploads.running);
		simulator.changeCampaign(campaigns.active, 'Paused');
		const calls = [...simulator.state.calls.values()];
		const failed = calls.find(({ outcome }) => outcome.status === 'failed');
		if (failed) failed.outcome.status = 'picked';

		const events = await poll();
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
		expect(events.flatMap((event) => schemaFaults({ node: type }, event))).toEqual([]);
		const seen = new FieldsSeen();
		for (const event of events) seen.add(type, event);
		expect(seen.missing({ node: type }, type)).toEqual([]);
		expect(await poll()).toEqual([]);
	});

	test('returns a change from Draft to Active', async () => {
		const poll = await follow(campaigns.draft);
		expect(await poll()).toEqual([]);
		harness.simulator().changeCampaign(campaigns.draft, 'Active');
		expect(await poll()).toMatchObject([{ event: 'status_changed', from: 'Draft', to: 'Active' }]);
	});

	test('an unknown campaign is reported', async () => {
		const look = await follow(999);
		await expect(look()).rejects.toThrow("The service doesn't know this campaign");
	});
});
