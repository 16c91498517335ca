import { output, records } from '../../../engine';
import { dialects, fixtures } from '../../../simulator';
import { waitBy } from '../placeCallHarness';
import { byReading, byWebhook, HOUR, inNoTime, waitHarness } from './waitHarness';

describe.each(Object.values(dialects))('waiting, dialect $name', (dialect) => {
	const { waiting, runOrPause, node, service, isNow, ownAddress } = waitHarness(dialect);

	it('waits until the last call is completed, and resumes once', async () => {
		const { calls, arrive } = await waiting(byWebhook, 3);
		const stillWaiting = { webhookResponse: { received: true } };
		expect((await arrive()).result).toEqual(stillWaiting);
		for (const [index, callId] of calls.entries()) {
			await service().endCall(callId);
			const arrival = await arrive(dialect.webhook.body(callId, { call_id: callId }));
			if (index < 2) expect(arrival.result).toEqual(stillWaiting);
			else {
				expect(arrival.items).toMatchObject(
					calls.map((call_id, at) => ({
						call_id,
						phone_key: `91${9_000_000_000 + at}`,
						status: 'picked',
						timed_out: false,
					})),
				);
				expect(arrival.result?.workflowData?.[0]).toMatchObject([
					{ pairedItem: { item: 0 } },
					{ pairedItem: { item: 1 } },
					{ pairedItem: { item: 2 } },
				]);
			}
		}
	});

	it('ends at the time limit with the known state', async () => {
		isNow(1_000_000);
		const { calls, callId: first, arrive } = await waiting(byWebhook, 2);
		await service().endCall(first);
		isNow(1_000_000 + HOUR);
		const { items } = await arrive();
		expect(items).toMatchObject([
			{ call_id: first, status: 'picked', timed_out: false },
			{ call_id: calls[1], timed_out: true },
		]);
		expect(items?.[1]).not.toHaveProperty('waits_until');
		expect(items?.[1]).not.toHaveProperty('not_read');
	});

	it('by reading: a call in progress at the time limit has timed_out beside its status', async () => {
		const placeCall = await node(byReading);
		const run = await inNoTime(async () => await runOrPause(placeCall, 1));
		const [item = {}] = records(run);
		// After the outcome, if the record has one.
		expect(Object.keys(item).indexOf('timed_out')).toBeLessThan(3);
		expect(item.timed_out).toBe(true);
	});

	it('a call with a listed status is completed, also after a ping', async () => {
		const { callId, arrive } = await waiting(
			waitBy('webhook', {}, { finishedStatuses: 'failed, voicemail' }),
		);
		await service().endCall(callId, {
			status: 'voicemail',
			call_ended_by: null,
			call_ended_reason: null,
			call_ended_reason_message: null,
			summary: null,
			post_call_analysis: null,
		});
		const { items } = await arrive({ poll: true });
		expect(items).toMatchObject([{ call_id: callId, status: 'voicemail', timed_out: false }]);
	});

	it('does not wait if no call was placed', async () => {
		ownAddress();
		const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.noAnalysis };
		const placeCall = await node({ ...byWebhook, agentUuid }, { onError: 'continueRegularOutput' });
		const run = await runOrPause(placeCall, 1);
		expect(run.status).toBe('success');
		expect(output(run, 'Node')[0]?.json).toMatchObject({
			error: expect.stringContaining('no post-call analysis'),
			message: expect.stringContaining('By Reading the Call'),
		});
	});
});
