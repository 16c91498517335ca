import { engineHarness } from '../../../engine';
import { eventually } from '../../../n8n/until';
import { dialects, fixtures } from '../../../simulator';
import { readingTests } from './readingHarness';

const { uploads, campaigns } = fixtures;

const { service, publish } = readingTests(engineHarness(), dialects.plain);

describe.each([
	['campaign', {}],
	['contact lists', { callsOf: 'lists', contactListIds: String(uploads.running) }],
])('a completed contact list, Calls Of: %s', (_, parameters) => {
	it('is read again if its queues change, also after the workflow was published again', async () => {
		const trigger = await publish(parameters);
		await trigger.addEnded();
		await eventually(() => trigger.started.length === 1);
		await trigger.finish(uploads.running);
		await trigger.publishAgain({ checkEvery: 2 });
		const [first, second] = service().state.campaigns.get(campaigns.active)?.uploads ?? [];
		for (const queue of [first, second].flatMap((list) => list?.queues ?? [])) queue.totalQueued++;
		const redial = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(redial));
		expect(trigger.emissions).toBe(2);
	});

	it('is read again if a callback adds a call to it', async () => {
		const trigger = await publish(parameters);
		await trigger.addEnded();
		await eventually(() => trigger.started.length === 1);
		await trigger.finish(uploads.running);
		const callback = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(callback));
		await trigger.finish(uploads.running);
		const requests = trigger.requestsForCalls;
		await trigger.read(2);
		expect(trigger.requestsForCalls).toBe(requests);
		expect(trigger.emissions).toBe(2);
	});

	it('is read again if a callback adds a call to it, also if the campaign once had more calls than its lists', async () => {
		const trigger = await publish(parameters);
		const calls = [trigger.addCall(), trigger.addCall()].sort();
		trigger.showInList(calls, false);
		await trigger.read(2);
		trigger.showInList(calls, true);
		for (const callId of calls) await service().endCall(callId);
		await eventually(() => trigger.started.length === 2);
		expect(trigger.started).toEqual(calls);
		await trigger.finish(uploads.running);
		const callback = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(callback));
		expect(trigger.emissions).toBe(3);
	});

	it.each([true, false])(
		'is read until a long call has ended that the call list shows only then, if the campaign counts it: %s',
		async (isCounted) => {
			const trigger = await publish(parameters);
			const long = trigger.addCall();
			trigger.showInList([long], false);
			if (!isCounted) trigger.countInCampaign(long, false);
			const short = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
			await eventually(() => trigger.started.includes(short));
			service().completeUpload(uploads.running);
			await trigger.read(3);
			trigger.showInList([long], true);
			trigger.countInCampaign(long, true);
			await service().endCall(long);
			await eventually(() => trigger.started.includes(long));
			expect(trigger.emissions).toBe(2);
		},
	);
});
