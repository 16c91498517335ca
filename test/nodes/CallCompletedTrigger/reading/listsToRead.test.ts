import { engineHarness } from '../../../engine';
import { eventually } from '../../../n8n/until';
import { dialects, fixtures } from '../../../simulator';
import { type ReadingHarness, readingTests } from './readingHarness';

const { uploads, campaigns } = fixtures;

const { service, publish } = readingTests(engineHarness(), dialects.plain);

/** Completes the list and waits until it isn't read anymore. */
async function finish(trigger: ReadingHarness): Promise<void> {
	service().completeUpload(uploads.running);
	await eventually(() => trigger.finishedLists.includes(String(uploads.running)));
}

describe.each([
	['campaign', {}],
	['contact lists', { callsOf: 'lists', contactListIds: String(uploads.running) }],
])('a completed contact list, Calls Of: %s', (_, parameters) => {
	it('is read again if its queues change, also after the workflow was published again', async () => {
		const trigger = await publish(parameters);
		await trigger.addEnded();
		await eventually(() => trigger.started.length === 1);
		await finish(trigger);
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
		await finish(trigger);
		const callback = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(callback));
		await finish(trigger);
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
		await finish(trigger);
		const callback = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(callback));
		expect(trigger.emissions).toBe(3);
	});
});
