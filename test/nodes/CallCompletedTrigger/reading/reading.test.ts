import { setTimeout as realSleep } from 'node:timers/promises';
import sum from 'lodash/sum';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { engineHarness } from '../../../engine';
import { eventually } from '../../../n8n/until';
import { dialects, fixtures } from '../../../simulator';
import { ReadingHarness, readingTests } from './readingHarness';

const harness = engineHarness();
const { uploads, campaigns } = fixtures;
const HOUR_MS = 3_600_000;

describe.each(Object.values(dialects))('reading, dialect $name', (dialect) => {
	const { service, publish } = readingTests(harness, dialect);

	it('starts the workflow for calls that end after publishing, and not for earlier ones', async () => {
		const trigger = await publish();
		const inProgress = trigger.addCall();
		await trigger.read();
		expect(trigger.started).toEqual([]);
		await service().endCall(inProgress, { summary: 'Interested' });
		const created = await trigger.addEnded({ uploadId: uploads.completed });
		await trigger.read(2);
		expect(trigger.started).toEqual([inProgress, created].sort());
		const [call] = [...trigger.executions.values()].filter(({ call_id: id }) => id === inProgress);
		expect(call).toMatchObject({ status: 'picked', summary: 'Interested' });
		expect(call).toHaveProperty('phone_key');
		expect(trigger.emissions).toBe(2);
	});

	it('a call in progress at publishing starts the workflow when it ends', async () => {
		const early = new Date(Date.now() - HOUR_MS).getTime();
		const before = await ReadingHarness.publish(harness, service());
		const callId = before.addCall({ createdAt: early });
		await before.stop();
		const trigger = await publish();
		await service().endCall(callId);
		await trigger.read();
		expect(trigger.started).toEqual([callId]);
	});

	it('from a date: calls that were created since then start the workflow', async () => {
		const now = Date.now();
		const before = await ReadingHarness.publish(harness, service());
		await before.stop();
		const old = await before.addEnded({ createdAt: now - 3 * HOUR_MS });
		const recent = await before.addEnded({ createdAt: now - HOUR_MS });
		const trigger = await publish({ startFrom: new Date(now - 2 * HOUR_MS).toISOString() });
		await trigger.read();
		expect(trigger.started).toContain(recent);
		expect(trigger.started).not.toContain(old);
	});

	it('calls that ended while n8n was down start the workflow, and those from before do not', async () => {
		const trigger = await publish();
		const first = trigger.addCall();
		await trigger.stop();
		await service().endCall(first);
		await trigger.restart();
		await trigger.read();
		expect(trigger.started).toEqual([first]);
	});

	it('a redial with the same ID is another outcome', async () => {
		const trigger = await publish();
		const callId = trigger.addCall();
		await service().endCall(callId, { status: 'not_picked', retry_count: 0 });
		await trigger.read();
		await service().endCall(callId, { status: 'picked', retry_count: 1 });
		await trigger.read(2);
		expect([...trigger.executions.values()].map(({ status }) => status)).toEqual([
			'not_picked',
			'picked',
		]);
		expect(trigger.emissions).toBe(2);
	});

	it('contact lists: reads only these', async () => {
		const trigger = await publish({ callsOf: 'lists', contactListIds: String(uploads.running) });
		const wanted = await trigger.addEnded({ uploadId: uploads.running });
		await trigger.addEnded({ uploadId: uploads.completed });
		await eventually(() => trigger.started.length > 0);
		await trigger.read();
		expect(trigger.started).toEqual([wanted]);
	});

	it('all calls: the filters of the trigger apply', async () => {
		const trigger = await publish({
			callsOf: 'all',
			filters: { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.us } },
		});
		const other = await trigger.addEnded();
		const own = trigger.addCall();
		const call = service().state.calls.get(own);
		if (call !== undefined) call.agentUuid = fixtures.agents.us;
		await service().endCall(own);
		await eventually(() => trigger.started.length > 0);
		const requests = () =>
			service().requests.filter(({ path }) => path === `/v1/call/${other}`).length;
		await eventually(() => requests() > 0);
		const pages = trigger.requestsForCalls;
		await eventually(() => trigger.requestsForCalls > pages + 20);
		expect(trigger.started).toEqual([own]);
		expect(requests()).toBe(1);
	});

	it.each<[string, number, (trigger: ReadingHarness) => void]>([
		[
			'do not start the workflow with another credential',
			0,
			(trigger) => trigger.selectOtherCredential(),
		],
		['start the workflow with the same credential', 1, () => {}],
	])('all calls: those that ended while it was unpublished %s', async (_do, starts, change) => {
		const trigger = await publish({ callsOf: 'all' });
		await trigger.stop();
		await trigger.addEnded();
		change(trigger);
		await trigger.publishAgain();
		const callId = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await eventually(() => trigger.started.includes(callId));
		expect(trigger.started).toHaveLength(starts + 1);
	});

	it('a finished list is not read again, until its queues or the calls of the campaign change', async () => {
		const trigger = await publish();
		await trigger.finish(uploads.running, uploads.completed);
		const requests = trigger.requestsForCalls;
		await trigger.read(2);
		expect(trigger.requestsForCalls).toBe(requests);
		const callback = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await trigger.read(2);
		expect(trigger.started).toEqual([callback]);
		await trigger.finish(uploads.running, uploads.completed);
		const before = trigger.requestsForCalls;
		const queue = service().state.campaigns.get(campaigns.active)?.uploads[0]?.queues[0];
		if (queue !== undefined) queue.totalQueued++;
		await trigger.read();
		expect(trigger.requestsForCalls).toBeGreaterThan(before);
		expect(trigger.started).toEqual([callback]);
	});

	it.each([
		[20_000, 40_000],
		[100_000, 5_000],
	])(
		'once a minute: after a reading of %i ms, the next one begins %i ms later',
		async (ms, rest) => {
			const trigger = await publish();
			/** By the number of readings that have begun. */
			const slept: number[] = [];
			jest.spyOn(clock, 'elapsed').mockImplementation(() => sum(slept) + trigger.readings * ms);
			jest.spyOn(clock, 'sleep').mockImplementation(async (asleep) => {
				slept[trigger.readings] = (slept[trigger.readings] ?? 0) + asleep;
				await realSleep(1);
			});
			const first = trigger.readings + 1;
			await trigger.read(2);
			expect(slept.slice(first, first + 2)).toEqual([rest, rest]);
		},
	);
});
