import { ExecuteContext, WorkflowExecute } from 'n8n-core';
import omit from 'lodash/omit';
import nock from 'nock';
import { createRunExecutionData, sleep, WAIT_INDEFINITELY } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineTool,
	inlineTool,
	makeAdditionalData,
	nodeTypes,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	runWorkflow,
	storedCopy,
} from '../../engine';
import { until } from '../../n8n/until';
import { dialects, fixtures, startSimulator, type Dialect, type Simulator } from '../../simulator';
import { faultOf, placeCallHarness, waitBy } from './placeCallHarness';
import { N8N, people, waitingExecutions } from './waitingExecutions';

const harness = placeCallHarness();
const HOUR = 3_600_000;
const byWebhook = waitBy('webhook');
const byReading = waitBy('reading');
const KNOCKS = /^\/webhook-waiting\/[^/]+\/id-Node/;

/** A service with this dialect, and Place Call. The test controls the clock. */
function waitHarness(dialect: Dialect) {
	let simulator: Simulator;
	let now: jest.SpyInstance<number, []>;
	let waits: number[];

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		waits = [];
		now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'elapsed').mockImplementation(() => clock.now());
		// No automatic pings: each test sends its own.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			waits.push(ms);
			await new Promise(() => {});
		});
	});
	afterEach(() => {
		jest.restoreAllMocks();
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	return {
		...waitingExecutions(harness, () => simulator),
		service: () => simulator,
		placed: () => simulator.placedCalls().map(({ callId }) => callId),
		isNow: (time: number) => now.mockReturnValue(time),
		/** The waits beside the waiting execution. */
		waits: () => waits,
		/** From now on, a wait ends immediately and advances the clock. */
		timeFlies: (sleeping: (ms: number) => Promise<void> = async () => await Promise.resolve()) => {
			let time = clock.now();
			now.mockImplementation(() => time);
			jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
				waits.push(ms);
				await sleeping(ms);
				time += ms;
			});
			return { pass: (ms: number) => (time += ms) };
		},
		/** n8n's responses to the pings of the resume URL. */
		knocksAnswered: (...answers: number[]) => {
			const pings: unknown[] = [];
			nock(N8N)
				.post(KNOCKS)
				.times(answers.length)
				.reply((_uri, body) => {
					pings.push(body);
					return [answers[pings.length - 1], {}];
				});
			const last = async () =>
				await until('the last knock', async () => pings.length === answers.length);
			return { pings, last };
		},
	};
}

describe.each(Object.values(dialects))('waiting, dialect $name', (dialect) => {
	const { waiting, sleepOver, node, service, placed, isNow, ownAddress } = waitHarness(dialect);

	it('waits until the last call is completed, and resumes once', async () => {
		const { calls, arrive } = await waiting(byWebhook, 3);
		expect((await arrive()).response.body).toEqual({ received: true, pending: 3 });
		for (const [index, callId] of calls.entries()) {
			await service().endCall(callId);
			const arrival = await arrive(dialect.webhook.body(callId, { call_id: callId }));
			expect(arrival.response).toMatchObject({
				statusCode: 200,
				body: { received: true, pending: 2 - index },
			});
			if (index < 2) expect(arrival.result).toEqual({ noWebhookResponse: true });
			else {
				// The response was sent before.
				expect(arrival.result?.noWebhookResponse).toBe(true);
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
		expect((await arrive()).result).toEqual({ noWebhookResponse: true });
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

	it('ends at the time limit, even if the system clock was set back', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		expect((await arrive()).items).toBeUndefined();
		jest.spyOn(clock, 'elapsed').mockReturnValue(1_000_000 + HOUR);
		expect((await arrive()).items).toMatchObject([{ call_id: callId, timed_out: true }]);
	});

	it('a call with a listed status is completed, also after a ping', async () => {
		const { callId, arrive } = await waiting(
			waitBy('webhook', { finishedStatuses: 'failed, voicemail' }),
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
		const run = await sleepOver(placeCall, 1);
		expect(run.status).toBe('success');
		expect(output(run, 'Node')[0]?.json).toMatchObject({
			error: expect.stringContaining('no post-call analysis'),
			message: expect.stringContaining('By Reading the Call'),
		});
	});

	it('reads until each call has a finished status', async () => {
		const placeCall = await node(byReading);
		service().setAutoComplete({ afterMs: 'beforeResponse' });
		const run = await inNoTime(async () => await sleepOver(placeCall, 3));
		expect(run.status).toBe('success');
		expect(output(run, 'Node').map(({ json }) => json)).toMatchObject(
			placed().map((call_id) => ({ call_id, status: 'picked', timed_out: false })),
		);
	});

	it('reading ends for a busy line, whose record only has an end reason', async () => {
		const placeCall = await node(byReading);
		service().setAutoComplete({
			afterMs: 'beforeResponse',
			outcome: {
				status: 'busy',
				call_ended_reason: 'busy',
				call_picked_at: null,
				summary: null,
				post_call_analysis: null,
			},
		});
		const run = await inNoTime(async () => await sleepOver(placeCall, 1));
		expect(output(run, 'Node')[0]?.json).toMatchObject({ status: 'busy', timed_out: false });
	});

	it('reading ends at the time limit with the known state', async () => {
		const placeCall = await node(waitBy('reading', { waitLimitUnit: 'minutes' }));
		const run = await inNoTime(async () => await sleepOver(placeCall, 2));
		expect(output(run, 'Node').map(({ json }) => json)).toMatchObject(
			placed().map((call_id) => ({ call_id, timed_out: true })),
		);
	});
});

// The dialect makes no difference for these.
describe('waiting', () => {
	const shared = waitHarness(dialects.plain);
	const { waiting, sleepOver, node, service, placed, isNow, ownAddress, waits } = shared;
	const { timeFlies, knocksAnswered } = shared;

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
				call_id,
				phone_key: `91${9_000_000_000 + index}`,
				timed_out: true,
				not_read: expect.stringContaining('Get Call'),
				waits_until: new Date(1_000_000 + HOUR).toISOString(),
			})),
		);
		// The output of the previous node is unchanged.
		expect(output(run, 'Start').map(({ json }) => json)).toEqual(people(3));
		expect(waits()).toEqual([500]);
	});

	it('a call with a listed status is completed when its webhook arrives', async () => {
		const { run, callId, arrive } = await waiting(
			waitBy('webhook', { finishedStatuses: 'no_line' }),
		);
		expect(run.status).toBe('waiting');
		const call = service().state.calls.get(callId);
		if (call !== undefined) call.outcome.status = 'no_line';
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ call_id: callId, status: 'no_line', timed_out: false }]);
	});

	it('a second run of the node is independent of the wait', async () => {
		ownAddress();
		ownAddress();
		const { workflow, start } = oneNodeWorkflow(await node(byWebhook));
		// Two paths lead to the node, so it runs twice.
		const ways = workflow.connectionsBySourceNode.Start?.main?.[0] ?? [];
		ways.push(...ways);
		const input = people(1).map((json) => ({ json }));
		const first = await runWorkflow(harness.credentials, workflow, start, input);
		expect([first.status, placed().length]).toEqual(['waiting', 1]);
		const second = await resume(harness.credentials, workflow, storedCopy(first.data));
		expect([second.status, placed().length]).toEqual(['waiting', 2]);
	});

	it('stopped while calls are placed, the execution ends and does not wait', async () => {
		ownAddress();
		const placeCall = await node(byWebhook, { onError: 'continueRegularOutput' });
		const { workflow, start } = oneNodeWorkflow(placeCall, ['After']);
		// Far more than a slow machine places between two looks.
		const count = 1_000;
		const input = people(count).map((json) => ({ json }));
		const stack = [{ node: start, data: { main: [input] }, source: null }];
		const data = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
		const additionalData = makeAdditionalData(harness.credentials, 'trigger');
		const execution = new WorkflowExecute(additionalData, 'trigger', data);
		const running = execution.processRunExecutionData(workflow);
		await until('the first calls', async () => await Promise.resolve(placed().length > 2));
		running.cancel();
		const run = await running;
		const nodeRun = () => data.resultData.runData.Node?.[0];
		await until('the end of the node', async () => await Promise.resolve(nodeRun() !== undefined));
		expect(placed().length).toBeLessThan(count);
		expect([run.status, data.waitTill]).toEqual(['canceled', undefined]);
	});

	it('stopped while it waits by reading, the node ends immediately', async () => {
		const { workflow, start } = oneNodeWorkflow(await node(byReading));
		const input = people(1).map((json) => ({ json }));
		const stack = [{ node: start, data: { main: [input] }, source: null }];
		const data = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
		const additionalData = makeAdditionalData(harness.credentials, 'trigger');
		const execution = new WorkflowExecute(additionalData, 'trigger', data);
		const running = execution.processRunExecutionData(workflow);
		await until('the wait', async () => await Promise.resolve(waits().length > 0));
		running.cancel();
		const run = await running;
		const nodeRun = () => data.resultData.runData.Node?.[0];
		await until('the end of the node', async () => await Promise.resolve(nodeRun() !== undefined));
		expect([run.status, placed().length]).toEqual(['canceled', 1]);
	});

	it('finds by a ping the calls that were completed before the wait, and stops pinging', async () => {
		service().setAutoComplete({
			afterMs: 'beforeResponse',
			delivery: { url: 'http://127.0.0.1:9' },
		});
		const { arrive } = await waiting(byWebhook, 2);
		let further = 0;
		nock(N8N)
			.post(KNOCKS)
			.optionally()
			.reply(() => [200, { further: ++further }]);
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		expect((await arrive()).items).toMatchObject([{ timed_out: false }, { timed_out: false }]);
		await sleep(50);
		expect(further).toBe(0);
	});

	it('pings until the execution waits, then occasionally, and finally at the time limit', async () => {
		timeFlies();
		const { pings, last } = knocksAnswered(409, 409, 200, 200, 200, 404);
		await waiting(waitBy('webhook', { waitLimitUnit: 'minutes' }));
		await last();
		// n8n omits an empty object, and an empty body would have no calls.
		for (const body of pings) expect(body).toEqual({ poll: true });
		expect(waits()).toEqual([500, 1_000, 2_000, 15_000, 30_000, 11_501]);
	});

	it('the log entries of the calls stay until n8n has stored the execution', async () => {
		await waiting(byWebhook, 2);
		expect(harness.store.size).toBe(2);
		harness.store.clear();
		timeFlies();
		const { last } = knocksAnswered(409, 200, 404);
		await waiting(byWebhook, 2);
		await last();
		await until('the notes to be gone', async () => {
			return await Promise.resolve(harness.store.size === 0);
		});
	});

	it.each([502, 524, 429, 401, 503])(
		'a %d at its own address does not end its looking',
		async (status) => {
			timeFlies();
			const { last } = knocksAnswered(200, status, status, 409);
			await waiting(byWebhook);
			await last();
			expect(waits()).toEqual([500, 15_000, 30_000, 60_000]);
		},
	);

	it("after a failed last poll, it polls again until n8n's own limit", async () => {
		timeFlies();
		const { last } = knocksAnswered(200, 502, 502, 200);
		await waiting(waitBy('webhook', { waitLimit: 10, waitLimitUnit: 'seconds' }));
		await last();
		expect(waits()).toEqual([500, 9_501, 10_000, 10_000]);
	});

	it.each([1e9, 1e308])(
		'waits as long as n8n can if the time limit is longer (%s days)',
		async (waitLimit) => {
			const { run } = await waiting(waitBy('webhook', { waitLimit, waitLimitUnit: 'days' }));
			expect(run.data.resultData.error).toBeUndefined();
			expect(run.status).toBe('waiting');
			expect(run.waitTill).toEqual(WAIT_INDEFINITELY);
		},
	);

	it('asks the service to try again while calls cannot be read, and remembers the webhook', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		await service().endCall(callId, { status: 'voicemail' });
		service().faults.inject({ kind: 'resetBefore', times: 4 });
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		const rejected = await arrive({ call_id: callId });
		expect(rejected.response).toMatchObject({ statusCode: 503, body: { received: false } });
		expect(rejected.result).toEqual({ noWebhookResponse: true });
		expect((await arrive()).items).toMatchObject([
			{ call_id: callId, status: 'voicemail', timed_out: false },
		]);
	});

	it('rejects a body that is not JSON, without resuming', async () => {
		const { callId, arrive, deliver } = await waiting(byWebhook);
		await service().endCall(callId);
		const { response, result } = await deliver({ rawBody: Buffer.from('x=1') });
		expect(response).toMatchObject({
			statusCode: 400,
			body: { received: false, message: 'The body is not JSON.' },
		});
		expect(result).toEqual({ noWebhookResponse: true });
		expect((await arrive({ call_id: callId })).items).toHaveLength(1);
	});

	it('does not resume after a webhook while the record shows no end, but when the record shows it', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		const resumed: unknown[] = [];
		nock(N8N)
			.post(KNOCKS)
			.times(3)
			.optionally()
			.reply((_uri, body) => [200, resumed.push(body)]);
		timeFlies(async (ms) => {
			// Only the waits for the lagging record continue.
			if (ms >= 15_000) await new Promise(() => {});
			if (ms === 4_000) await service().endCall(callId);
		});
		const early = await arrive({ call_id: callId });
		expect(early.response).toMatchObject({ statusCode: 200, body: { received: true, pending: 1 } });
		expect(early.result).toEqual({ noWebhookResponse: true });
		await until('the node to wake its execution', async () => resumed.length > 0);
		await sleep(50);
		expect(resumed).toEqual([{ poll: true }]);
		const { items } = await arrive({ poll: true });
		expect(items).toMatchObject([{ call_id: callId, status: 'picked', timed_out: false }]);
	});

	it.each([
		['until the time limit has timed out', 60, true],
		['for five minutes counts as completed', 3_600, false],
	])('a reported call whose record lags %s', async (_name, waitLimit, timedOut) => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(
			waitBy('webhook', { waitLimit, waitLimitUnit: 'seconds' }),
		);
		expect((await arrive({ call_id: callId })).items).toBeUndefined();
		isNow(1_000_000 + Math.min(waitLimit, 300) * 1_000);
		const { items } = await arrive({ poll: true });
		expect(items).toMatchObject([{ call_id: callId, timed_out: timedOut }]);
	});

	it('webhooks while calls are pending start only one series of pings per process', async () => {
		const { callId, arrive } = await waiting(byWebhook, 2);
		await service().endCall(callId);
		for (let report = 0; report < 3; report++) {
			const { response } = await arrive({ call_id: callId });
			expect(response.body).toEqual({ received: true, pending: 1 });
		}
		expect(waits().filter((ms) => ms === 15_000)).toHaveLength(1);
	});

	it('webhooks of a lagging call start only one series of reads per process', async () => {
		const { callId, arrive } = await waiting(byWebhook);
		for (let report = 0; report < 3; report++) await arrive({ call_id: callId });
		expect(waits().filter((ms) => ms === 1_000)).toHaveLength(1);
	});

	it('an execution that n8n did not resume in a minute is resumed again', async () => {
		const { callId: call_id, arrive } = await waiting(byWebhook);
		await service().endCall(call_id);
		const { pass } = timeFlies(async () => await new Promise(() => {}));
		const reads = () =>
			service().requests.filter(({ path }) => path === `/v1/call/${call_id}`).length;
		expect((await arrive({ call_id })).items).toHaveLength(1);
		pass(59_999);
		expect((await arrive({ call_id })).items).toBeUndefined();
		pass(1);
		expect((await arrive({ call_id })).items).toHaveLength(1);
		const before = reads();
		pass(60_001);
		expect((await arrive({ call_id })).items).toHaveLength(1);
		expect(reads()).toBe(before + 1);
	});

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

	it('ends at the time limit even if the calls cannot be read, and says so', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		service().faults.inject({ kind: 'status', status: 503 });
		jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
		isNow(1_000_000 + HOUR);
		const { items } = await arrive({ poll: true });
		expect(items).toEqual([
			{
				call_id: callId,
				phone_key: '919000000000',
				timed_out: true,
				not_read: expect.any(String),
			},
		]);
		expect(JSON.stringify(items)).not.toContain('restarted');
	});

	it('an unreadable credential asks the service to try again before the time limit, and ends the wait at the limit', async () => {
		isNow(1_000_000);
		const { callId, arrive } = await waiting(byWebhook);
		jest
			.spyOn(harness.credentials, 'getDecrypted')
			.mockRejectedValue(new Error('the vault is shut'));
		isNow(1_000_000 + HOUR - 1);
		expect((await arrive()).response).toMatchObject({
			statusCode: 503,
			body: {
				received: false,
				message: "The call can't be read now. Send the request again later.",
			},
		});
		isNow(1_000_000 + HOUR);
		expect((await arrive()).items).toMatchObject([
			{ call_id: callId, timed_out: true, not_read: expect.stringContaining('the vault is shut') },
		]);
	});

	it('at the time limit, a webhook of one call reads all calls', async () => {
		isNow(1_000_000);
		const { calls, arrive } = await waiting(byWebhook, 2);
		const [first = '', second = ''] = calls;
		expect((await arrive()).items).toBeUndefined();
		await service().endCall(second);
		isNow(1_000_000 + HOUR);
		expect((await arrive({ call_id: first })).items).toMatchObject([
			{ call_id: first, timed_out: true },
			{ call_id: second, timed_out: false },
		]);
	});

	it('a process that has just started reads all calls after the first webhook', async () => {
		const { calls, arrive } = await waiting(byWebhook, 3);
		for (const callId of calls) await service().endCall(callId);
		expect((await arrive({ call_id: calls[2] })).items).toHaveLength(3);
	});

	it('keeps items without a call at their positions', async () => {
		const rows = [{ phone: '9000000000' }, { phone: '' }];
		const { run, callId, arrive } = await waiting(byWebhook, rows, {
			onError: 'continueErrorOutput',
		});
		expect(run.status).toBe('waiting');
		await service().endCall(callId);
		const { items, result } = await arrive({ call_id: callId });
		expect(items).toMatchObject([
			{ call_id: callId, timed_out: false },
			{ error: "'Phone Number' is empty [item 1]" },
		]);
		expect(items?.[1]).not.toHaveProperty('timed_out');
		expect(result?.workflowData?.[0]).toMatchObject([
			{ pairedItem: { item: 0 } },
			{ pairedItem: { item: 1 } },
		]);
	});

	it('an item without a call before the others does not end their wait', async () => {
		const rows = [{ phone: '' }, { phone: '9000000000' }];
		const { arrive } = await waiting(byWebhook, rows, { onError: 'continueErrorOutput' });
		const early = await arrive();
		expect(early.response.body).toEqual({ received: true, pending: 1 });
		expect(early.items).toBeUndefined();
	});

	it.each([
		['a report wakes it', false],
		["n8n's own limit ends its wait", true],
	])('with Execute Once only the executed item is returned, when %s', async (_how, atLimit) => {
		const sleeping = await waiting(byWebhook, 3, { executeOnce: true });
		const { run, calls, callId: call_id } = sleeping;
		expect(calls).toHaveLength(1);
		expect(output(run, 'Start').map(({ json }) => json)).toEqual(people(3));
		await service().endCall(call_id);
		const items = atLimit
			? await sleeping.untilLimit()
			: (await sleeping.arrive({ call_id })).items;
		expect(items).toEqual([expect.objectContaining({ call_id, timed_out: atLimit })]);
	});

	it('starts the time limit when the last call is due', async () => {
		isNow(Date.parse('2026-11-20T10:00:00Z'));
		const at = '2099-01-01T10:00:00+00:00';
		const { run } = await waiting({ ...byWebhook, when: 'dateTime', scheduledAt: at });
		expect(run.waitTill).toEqual(new Date(Date.parse(at) + HOUR + 60_000));
	});

	it('when stopped during the wait and retried, it passes on the calls and places none again', async () => {
		const { placeCall, run } = await waiting(byWebhook, 2);
		const { workflow } = oneNodeWorkflow(placeCall, ['After']);
		const again = await retryFailed(harness.credentials, run, workflow);
		const not_read = expect.stringContaining('the execution was stopped and retried');
		expect(output(again, 'After').map(({ json }) => json)).toMatchObject(
			placed().map((call_id) => ({ call_id, not_read })),
		);
		expect(placed()).toHaveLength(2);
	});

	it("n8n's own limit passes on the calls and places none again", async () => {
		const { untilLimit } = await waiting(byWebhook, 2);
		expect(await untilLimit()).toMatchObject(
			placed().map((call_id) => ({ call_id, timed_out: true })),
		);
		expect(placed()).toHaveLength(2);
	});

	describe('Include Input Fields', () => {
		const options = { includeInputFields: true };
		const rows = people(2).map((row, index) => ({
			...row,
			row_number: index + 2,
			// Output of an earlier call in the sheet.
			status: 'to call',
			call_id: 'of an earlier call',
			timed_out: 'earlier',
			not_read: 'earlier',
			waits_until: 'earlier',
		}));
		const called = (call_id: string | undefined, index: number) => ({
			...omit(rows[index], 'not_read', 'waits_until'),
			call_id,
			phone_key: `91${9_000_000_000 + index}`,
			status: 'picked',
			timed_out: false,
		});

		it('keeps the row while the execution waits, and returns it with the call', async () => {
			const { calls, arrive } = await waiting(waitBy('webhook', {}, options), rows);
			const [first = '', second = ''] = calls;
			await service().endCall(first);
			expect((await arrive({ call_id: first })).items).toBeUndefined();
			await service().endCall(second);
			const { items = [] } = await arrive({ call_id: second });
			expect(items).toMatchObject([called(first, 0), called(second, 1)]);
			for (const item of items) expect(item).not.toHaveProperty('not_read');
			for (const item of items) expect(item).not.toHaveProperty('waits_until');
		});

		it("returns the row at n8n's own limit", async () => {
			const { untilLimit } = await waiting(waitBy('webhook', {}, options), rows);
			expect(await untilLimit()).toMatchObject(
				placed().map((call_id, index) => ({
					call_id,
					row_number: index + 2,
					timed_out: true,
					not_read: expect.stringContaining('Get Call'),
				})),
			);
		});

		it('returns the row with the record', async () => {
			const placeCall = await node(waitBy('reading', {}, options));
			service().setAutoComplete({ afterMs: 'beforeResponse' });
			const run = await inNoTime(async () => await sleepOver(placeCall, rows));
			const [first, second] = placed();
			expect(output(run, 'Node').map(({ json }) => json)).toMatchObject([
				called(first, 0),
				called(second, 1),
			]);
		});

		it('an item without a call does not wait for an earlier call of its row', async () => {
			const { callId, arrive } = await waiting(
				waitBy('webhook', {}, options),
				[{ ...rows[0], phone: '' }, ...rows.slice(1)],
				{ onError: 'continueRegularOutput' },
			);
			await service().endCall(callId);
			const { items = [] } = await arrive({ call_id: callId });
			expect(items).toMatchObject([
				{ error: "'Phone Number' is empty [item 0]" },
				called(callId, 1),
			]);
			expect(Object.keys(items[0] ?? {})).toEqual(['error', 'message', 'details']);
		});
	});
});

/** Advances timers while requests are in flight. */
async function inNoTime<T>(act: () => Promise<T>): Promise<T> {
	jest.useFakeTimers({
		doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'],
	});
	jest.spyOn(clock, 'sleep').mockImplementation(sleep);
	const end = { reached: false };
	try {
		const acting = act().finally(() => (end.reached = true));
		while (!end.reached) {
			await jest.advanceTimersByTimeAsync(1_000);
			await new Promise((resolve) => setImmediate(resolve));
		}
		return await acting;
	} finally {
		jest.useRealTimers();
	}
}

describe('no call is placed', () => {
	it.each([
		['run by the engine', engineTool],
		['called by the agent', inlineTool],
	])('as a tool %s, which cannot sleep', async (_name, route) => {
		const answer = await route(harness.credentials, harness.placeCallNode(byWebhook))();
		expect(answer).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't wait for the completion webhook, so no call was placed.",
			next_step: expect.stringContaining('the person who set up this tool must fix this'),
		});
	});

	it('if n8n cannot reach its own webhook URL', async () => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.replyWithError(Object.assign(new Error('rejected'), { code: 'ECONNREFUSED' }));
		const run = await harness.place(byWebhook);
		const { message, description } = faultOf(run);
		expect(message).toBe("n8n can't reach its own webhook URL, so no call was placed");
		expect(description).toContain('By Reading the Call');
	});

	it('if something else responds at that URL', async () => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.reply(200, {});
		expect(faultOf(await harness.place(byWebhook)).message).toContain('no call was placed');
	});

	it.each([0, -1])('with the time limit %d', async (waitLimit) => {
		const run = await harness.place(waitBy('webhook', { waitLimit }));
		expect(faultOf(run)).toMatchObject({
			message: "'Time Limit' must be more than 0, so no call was placed",
			description: 'Enter a number above 0, and choose its unit.',
		});
	});

	it('with the unit of the time limit as an expression', async () => {
		const run = await harness.place(waitBy('webhook', { waitLimitUnit: '={{ "weeks" }}' }));
		expect(faultOf(run).message).toBe(
			"'Unit' in 'Wait for Completion' can't be an expression (got \"{{ \"weeks\" }}\")",
		);
	});
});
