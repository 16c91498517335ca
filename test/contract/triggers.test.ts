import { makeWorkflow, nodeTypes, pollContext, webhookTrigger } from '../engine';
import { fixtures } from '../simulator';
import { UNUSUAL } from '../simulator/state/fixtures';
import { describeContract, expectSchema } from './contractHarness';

const { calls, campaigns, uploads } = fixtures;
const include = ['transcript', 'recording'];
const pollTimes = { item: [{ mode: 'everyMinute' }] };

describeContract((harness, dialect) => {
	/** A trigger that polls. Returns the output of each poll. */
	async function polling(type: string, parameters: object) {
		const node = await harness.node(type, { parameters: { ...parameters, pollTimes } });
		const workflow = makeWorkflow([node]);
		return async () => {
			const context = pollContext(workflow, node);
			const output = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
			return (output?.[0] ?? []).map(({ json }) => json);
		};
	}

	test('Call Completed Trigger returns the record of the service, whatever the payload', async () => {
		const node = await harness.node('callCompletedTrigger', { parameters: { include } });
		const trigger = webhookTrigger(node);
		const records = [];
		for (const call_id of [calls.finished, calls.notPicked, calls.unusual]) {
			const body = dialect.webhook.body(call_id, { call_id, status: 'forged' });
			records.push(...(await trigger.deliver({ body })).items);
		}
		expect(records).toMatchObject([
			{
				call_id: calls.finished,
				phone_key: '919876500001',
				status: 'picked',
				recording: { expires_in_seconds: 900 },
			},
			{ call_id: calls.notPicked, status: 'not_picked', transcript: [], recording: null },
			{ call_id: calls.unusual, status: UNUSUAL.status },
		]);
		expectSchema({ node: 'callCompletedTrigger', version: 2 }, records);
	});

	test('Campaign Calls Trigger returns the record of each completed call', async () => {
		const poll = await polling('campaignCallsTrigger', {
			campaignId: String(campaigns.active),
			startFrom: 'date',
			startDate: '2020-01-01T00:00:00Z',
			include,
		});
		const records = await poll();
		expect(records.length).toBeGreaterThan(10);
		expect(records.find(({ call_id: id }) => id === calls.finished)).toMatchObject({
			phone_key: '919876500001',
			status: 'picked',
			recording: { expires_in_seconds: 900 },
		});
		expectSchema({ node: 'campaignCallsTrigger' }, records);
	});

	test('Campaign Progress Trigger returns each change since the last poll once', async () => {
		const poll = await polling('campaignProgressTrigger', {
			campaignId: String(campaigns.active),
			events: ['status_changed', 'queue_completed', 'call_counts_changed'],
		});
		expect(await poll()).toEqual([]);
		expect(await poll()).toEqual([]);

		const simulator = harness.simulator();
		simulator.completeUpload(uploads.running);
		simulator.changeCampaign(campaigns.active, 'Paused');
		const all = [...simulator.state.calls.values()];
		const failed = all.find(({ outcome }) => outcome.status === 'failed');
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
		expectSchema({ node: 'campaignProgressTrigger' }, events);
		expect(await poll()).toEqual([]);
	});
});
