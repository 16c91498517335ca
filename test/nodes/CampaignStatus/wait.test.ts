import { setTimeout as realSleep } from 'node:timers/promises';
import nock from 'nock';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { startNode, mockTime, service } from '../../engine';
import { eventually, untilIdle } from '../../n8n/until';
import { nodeHarness } from '../nodeHarness';

/** The total of all sleeps. */
let seconds = 0;
let lastSleep: Promise<void>;

const parameters = {
	campaignId: '={{ $json.id }}',
	waitUntilCompleted: true,
	waitInterval: 20,
	waitLimit: 1,
};
const harness = nodeHarness('campaignStatus', parameters);
const { records, errorOf } = harness;
const status = (id: number, completed: boolean, times = 1) =>
	service()
		.get(`/v1/campaigns/${id}/status`)
		.times(times)
		.reply(200, {
			success: true,
			data: {
				campaign: { id, status: 'Active' },
				uploads: [{ campaign_upload_id: 5, queues: [{ completed }] }],
			},
		});

beforeEach(() => {
	seconds = 0;
	// A second passes in ten turns of the event loop, so that a response arrives within seconds.
	jest.spyOn(clock, 'sleep').mockImplementation(async (milliseconds) => {
		seconds += milliseconds / 1000;
		const passing = async () => {
			for (let turn = 0; turn < milliseconds / 100; turn++) await realSleep(1);
		};
		lastSleep = passing();
		await lastSleep;
	});
	const begun = Date.now();
	mockTime(() => begun + seconds * 1000);
});
afterEach(() => jest.restoreAllMocks());

test('reads at intervals until the queues are completed', async () => {
	status(1, false, 2);
	status(1, true);
	expect(await records({}, { items: [{ id: 1 }] })).toMatchObject([{ wait_outcome: 'completed' }]);
	expect(seconds).toBe(40);
});

test('returns the current status at the time limit', async () => {
	status(1, false, 4);
	expect(await records({}, { items: [{ id: 1 }] })).toMatchObject([
		{
			campaign_id: 1,
			wait_outcome: 'timed_out',
			wait_note: "The time limit passed after 1 minute. These contact lists aren't completed: 5.",
		},
	]);
	expect(seconds).toBe(60);
});

test('stops at the time limit if set', async () => {
	status(1, false, 4);
	expect(await errorOf({ onTimeLimit: 'stop' }, { items: [{ id: 1 }] })).toMatchObject({
		message: "The campaign wasn't completed within the time limit",
		description: expect.stringContaining("contact lists aren't completed: 5"),
	});
});

test('items wait at the same time', async () => {
	status(1, false);
	status(2, false);
	status(1, true);
	status(2, true);
	const items = [{ id: 1 }, { id: 2 }];
	expect(await records({}, { items })).toMatchObject([
		{ campaign_id: 1, wait_outcome: 'completed' },
		{ campaign_id: 2, wait_outcome: 'completed' },
	]);
	// Both waits advance the same clock.
	expect(seconds).toBeLessThan(40);
});

test('items that wait for the same campaign share its requests', async () => {
	status(1, false);
	status(1, true);
	const items = [{ id: 1 }, { id: 1 }];
	const completed = { campaign_id: 1, wait_outcome: 'completed' };
	expect(await records({}, { items })).toMatchObject([completed, completed]);
});

test('an item that stops the run ends the wait of the others', async () => {
	status(1, false);
	service()
		.get('/v1/campaigns/2/status')
		.reply(404, { success: false, error: "Couldn't find Campaign" });
	expect(await errorOf({}, { items: [{ id: 1 }, { id: 2 }] })).toMatchObject({
		message: "The service doesn't know this campaign [item 1]",
	});
	expect(seconds).toBeLessThanOrEqual(20);
});

test('under Continue On Fail, the others keep waiting', async () => {
	status(1, false);
	status(1, true);
	service()
		.get('/v1/campaigns/2/status')
		.reply(404, { success: false, error: "Couldn't find Campaign" });
	const overrides = { onError: 'continueRegularOutput' } as const;
	expect(await records({}, { items: [{ id: 1 }, { id: 2 }], overrides })).toMatchObject([
		{ wait_outcome: 'completed' },
		{ error: "The service doesn't know this campaign [item 1]" },
	]);
});

test('Stop ends the wait and cancels the execution', async () => {
	status(1, false);
	const again = status(1, false);
	const input = [{ json: { id: 1 } }];
	const execution = startNode(
		harness.credentials,
		harness.node('campaignStatus', { parameters }),
		input,
	);
	await eventually(() => seconds > 0);
	execution.cancel();
	expect((await execution).status).toBe('canceled');
	const slept = seconds;
	await lastSleep;
	await untilIdle();
	// The interval of 20 seconds is a series of shorter sleeps, and the next one doesn't begin.
	expect(slept).toBeLessThan(20);
	expect(seconds).toBe(slept);
	expect(again.isDone()).toBe(false);
	nock.cleanAll();
});
