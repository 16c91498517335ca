import { ExecuteContext } from 'n8n-core';
import { WAIT_INDEFINITELY } from 'n8n-workflow';
import {
	nodeTypes,
	oneNodeWorkflow,
	resume,
	retryFailed,
	runDataOf,
	runWorkflow,
	startExecution,
	startNode,
	stoppedResult,
	storedCopy,
	records,
} from '../../../engine';
import { until } from '../../../n8n/until';
import { dialects } from '../../../simulator';
import { waitBy } from '../placeCallHarness';
import { people } from '../waitingExecutions';
import { byReading, byWebhook, HOUR, waitHarness } from './waitHarness';

// The dialect makes no difference for these.
const STOPPED = 'A time limit of n8n was reached, or someone stopped the execution.';

describe('pausing an execution', () => {
	const { waiting, node, service, placed, isNow, ownAddress, waits } = waitHarness(dialects.plain);

	it('sends the resume URL of the execution with each call, and waits', async () => {
		isNow(1_000_000);
		const { placeCall, run } = await waiting(byWebhook, 3);
		expect(run.status).toBe('waiting');
		expect(run.waitTill).toEqual(new Date(1_000_000 + HOUR + 60_000));
		for (const { webhookUrl } of service().placedCalls()) {
			const { pathname } = new URL(webhookUrl ?? '');
			expect(pathname).toMatch(/^\/webhook-waiting\/[^/]+\/id-Node$/);
		}
		// n8n finds the webhook of a waiting execution by this flag and the end of the path.
		const { type, typeVersion } = placeCall;
		const [wakeUp] = nodeTypes.getByNameAndVersion(type, typeVersion).description.webhooks ?? [];
		expect(wakeUp).toMatchObject({
			restartWebhook: true,
			isFullPath: true,
			path: '={{ $nodeId }}',
		});
		const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
		expect(entry?.data.main?.[0]?.map(({ json }) => json)).toEqual(
			placed().map((call_id, index) => ({
				...people(3)[index],
				call_id,
				placed: true,
				phone_key: `91${9_000_000_000 + index}`,
				timed_out: true,
				not_read: expect.stringContaining('Get Call'),
				waits_until: new Date(1_000_000 + HOUR).toISOString(),
			})),
		);
		// The output of the previous node is unchanged.
		expect(records(run, 'Start')).toEqual(people(3));
		expect(waits()).toEqual([500]);
	});

	it('sends the resume URL instead of Webhook URL', async () => {
		await waiting({
			...byWebhook,
			options: { ...byWebhook.options, webhookUrl: 'https://a.example/b' },
		});
		const [url] = service()
			.placedCalls()
			.map(({ webhookUrl }) => webhookUrl);
		expect(url).toMatch(/^http:\/\/localhost:5678\/webhook-waiting\//);
	});

	it('a second run of the node is independent of the wait', async () => {
		ownAddress();
		ownAddress();
		// The same person would be called once.
		const phoneNumber = '={{ Number($json.phone) + $runIndex }}';
		const { workflow, start } = oneNodeWorkflow(await node({ ...byWebhook, phoneNumber }));
		// Two paths lead to the node, so it runs twice.
		const ways = workflow.connectionsBySourceNode.Start?.main?.[0] ?? [];
		ways.push(...ways);
		const input = people(1).map((json) => ({ json }));
		const first = await runWorkflow(workflow, start, input);
		expect([first.status, placed().length]).toEqual(['waiting', 1]);
		const second = await resume(workflow, storedCopy(first.data));
		expect([second.status, placed().length]).toEqual(['waiting', 2]);
	});

	it('stopped while calls are placed, the execution ends and does not wait', async () => {
		ownAddress();
		const placeCall = await node(byWebhook, { onError: 'continueRegularOutput' });
		const { workflow, start } = oneNodeWorkflow(placeCall, ['After']);
		// Far more than a slow machine places between two looks.
		const count = 1_000;
		const input = people(count).map((json) => ({ json }));
		const data = runDataOf(start, input);
		const running = startExecution(workflow, data);
		await until('the first calls', async () => await Promise.resolve(placed().length > 2));
		running.cancel();
		await stoppedResult(running);
		expect(placed().length).toBeLessThan(count);
		expect([(await running).status, data.waitTill]).toEqual(['canceled', undefined]);
	});

	it.each([
		[1, 'The call was placed. Read it'],
		[2, '2 calls were placed. Read them'],
	] as const)(
		'stopped while it waits by reading, the error has the IDs of %i calls',
		async (count, what) => {
			const input = people(count).map((json) => ({ json }));
			const execution = startNode(await node(byReading), input);
			await until('the wait', async () => await Promise.resolve(waits().length > 0));
			execution.cancel();
			const { error } = await stoppedResult(execution);
			expect(placed()).toHaveLength(count);
			expect([error?.message, error?.description]).toEqual([
				'The execution was canceled',
				`${STOPPED} ${what} with Get Call: ${placed().join(', ')}.`,
			]);
		},
	);

	it('stopped while it waits by reading, with On Error: Continue, each item says what happened to its own call', async () => {
		const input = [...people(2), { phone: '123' }].map((json) => ({ json }));
		const placeCall = await node(byReading, { onError: 'continueRegularOutput' });
		const execution = startNode(placeCall, input);
		await until('the wait', async () => await Promise.resolve(waits().length > 0));
		execution.cancel();
		const { data } = await stoppedResult(execution);
		const items = data?.main?.[0]?.map(({ json }) => json);
		const [first = '', second = ''] = placed();
		const stopped = (callId: string, row: number) => ({
			call_id: callId,
			error: `The execution was canceled [row ${row}]`,
			message: `${STOPPED} The call was placed. Read it with Get Call: ${callId}.`,
		});
		expect(items).toMatchObject([
			stopped(first, 1),
			stopped(second, 2),
			{ error: expect.stringContaining('123'), details: { outcome: 'not_sent' } },
		]);
	});

	it.each([1e12, 1e308])(
		'waits as long as n8n can if the time limit is longer (%s minutes)',
		async (waitMinutes) => {
			const { run } = await waiting(waitBy('webhook', { waitMinutes }));
			expect(run.data.resultData.error).toBeUndefined();
			expect(run.status).toBe('waiting');
			expect(run.waitTill).toEqual(WAIT_INDEFINITELY);
		},
	);

	it('if n8n cannot store the wait, the next attempt gets the original items', async () => {
		ownAddress();
		const toSleep = jest
			.spyOn(ExecuteContext.prototype, 'putExecutionToWait')
			.mockRejectedValueOnce(new Error('the database is away'));
		const twice = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const { run, calls } = await waiting(byWebhook, 2, twice);
		expect(toSleep).toHaveBeenCalledTimes(2);
		expect(run.status).toBe('waiting');
		expect(calls).toHaveLength(2);
	});

	it.each([undefined, { scheduled_at_epoch: '4070944800' }])(
		'starts the time limit when the last call is due, also if the response has %j',
		async (epoch) => {
			isNow(Date.parse('2026-11-20T10:00:00Z'));
			const at = '2099-01-01T10:00:00+00:00';
			if (epoch !== undefined) {
				const data = { call_id: 'call-1', scheduled_at: at, ...epoch };
				service().faults.respond('/v1/call', 200, { body: { success: true, data } });
			}
			const { run } = await waiting({ ...byWebhook, when: 'dateTime', scheduledAt: at });
			expect(run.waitTill).toEqual(new Date(Date.parse(at) + HOUR + 60_000));
		},
	);

	it('when stopped during the wait and retried, it passes on the calls and places none again', async () => {
		const { placeCall, run } = await waiting(byWebhook, 2);
		const { workflow } = oneNodeWorkflow(placeCall, ['After']);
		const again = await retryFailed(run, workflow);
		const not_read = expect.stringContaining('the execution was stopped and retried');
		expect(records(again, 'After')).toMatchObject(
			placed().map((call_id) => ({ call_id, not_read })),
		);
		expect(placed()).toHaveLength(2);
	});
});
