/** *Wait for Completion*: what it needs, how it pauses the execution, and the output when it ends. */
import { ExecuteContext } from 'n8n-core';
import { WAIT_INDEFINITELY, type INodeParameters } from 'n8n-workflow';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import sum from 'lodash/sum';
import nock from 'nock';
import {
	inTwoBranches,
	nodeTypes,
	oneNodeWorkflow,
	records,
	resume,
	retryFailed,
	runDataOf,
	runWorkflow,
	startExecution,
	startNode,
	stoppedResult,
	storedCopy,
} from '../../engine';
import { until } from '../../n8n/until';
import { fixtures } from '../../simulator';
import { CONTINUE, itemsOf, waitBy } from './placeCallHarness';
import { byReading, byWebhook, HOUR, MODES, N8N, people, waitHarness } from './waitHarness';

const ASK = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };
const modes = MODES.map((mode) => ({ mode }));

describe('waiting', () => {
	const { harness, waitedFor, waiting, ...wait } = waitHarness();
	const { node, service, placed, isNow, ownAddress, waits, timeFlies } = wait;
	const endLast = async (calls: string[]) => await service().endCall(calls.at(-1) ?? '');

	describe.each(modes)('by $mode', ({ mode }) => {
		it('ends when all calls are completed, with their records in order', async () => {
			const all: string[] = [];
			const end = async (calls: string[]) => {
				all.push(...calls);
				await Promise.all(calls.map(async (callId) => await service().endCall(callId)));
			};
			const items = await waitedFor(mode, end, { rows: 3 });
			expect(items).toMatchObject(
				people(3).map(({ phone }, index) => ({
					...{ call_id: all[index], phone_key: `91${phone}` },
					...{ status: 'picked', timed_out: false },
				})),
			);
		});

		it('ends at the time limit with the known state', async () => {
			isNow(1_000_000);
			const all: string[] = [];
			const endFirst = async (calls: string[]) => {
				all.push(...calls);
				await service().endCall(calls[0] ?? '');
				isNow(1_000_000 + HOUR);
			};
			const items = await waitedFor(mode, endFirst, { rows: 2 });
			expect(items).toMatchObject([
				{ call_id: all[0], status: 'picked', timed_out: false },
				{ call_id: all[1], timed_out: true },
			]);
			const open = items?.[1] ?? {};
			expect(open).not.toHaveProperty('not_read');
			// After the outcome, if the record has one.
			expect(Object.keys(open).indexOf('timed_out')).toBeLessThan(3);
		});

		it('tells from the captured value whether the person has opted out', async () => {
			const opts = ['yes', 'perhaps', 'no'];
			const end = async (calls: string[]) => {
				for (const [index, callId] of calls.entries()) {
					await service().endCall(callId, { data_captured: { dnc: opts[index] ?? null } });
				}
			};
			const rows = people(4).map((person, index) => (index === 3 ? { ...people(1)[0] } : person));
			const items = await waitedFor(mode, end, { rows, options: { optOutKey: 'dnc' } });
			// The last row has the number of the first one.
			expect(items).toMatchObject([true, null, false, true].map((opted_out) => ({ opted_out })));
		});

		it('ends with a listed status', async () => {
			const none = { call_ended_by: null, call_ended_reason: null, summary: null };
			const more = { call_ended_reason_message: null, post_call_analysis: null };
			const end = async ([callId = '']: string[]) =>
				await service().endCall(callId, { status: 'voicemail', ...none, ...more });
			const options = { finishedStatuses: 'failed, voicemail' };
			const items = await waitedFor(mode, end, { options });
			expect(items).toMatchObject([{ status: 'voicemail', timed_out: false }]);
		});

		const answered = { answered: true, timed_out: false };
		const phone = '9000000000';

		it('an item with the number of another one has the outcome of its call, also if its row has a field error', async () => {
			const same = '+91 90000 00000';
			const rows = [
				{ phone },
				{ phone: same },
				{ phone: same, error: 'of the user' },
				{ phone: '', duplicate_of: 0 },
			];
			const items = await waitedFor(mode, endLast, { rows, over: CONTINUE });
			const duplicate = { ...answered, call_id: null, placed: false, duplicate_of: 0 };
			expect(items).toMatchObject([
				{ ...answered, placed: true },
				duplicate,
				{ ...duplicate, error: 'of the user' },
				{ error: "'Phone Number' is empty [row 4]" },
			]);
			expect(items?.[3]).not.toHaveProperty('answered');
		});

		it('an item has its place and its row, without the fields of an earlier call, for which it does not wait', async () => {
			const stale = {
				...{ not_read: 'earlier', timed_out: 'earlier' },
				...{ captured_day: 'earlier', analysis_mood: 'earlier' },
			};
			const earlier = { ...stale, status: 'to call', call_id: 'earlier', outcome: 'earlier' };
			const rows = [
				{ phone: '', row_number: 2, ...earlier },
				{ phone, row_number: 3, ...earlier },
			];
			const items = (await waitedFor(mode, endLast, { rows, over: CONTINUE })) ?? [];
			const called = { phone, row_number: 3, outcome: 'Answered', status: 'picked' };
			expect(items).toMatchObject([{ error: "'Phone Number' is empty [row_number 2]" }, called]);
			const fields = ['phone', 'row_number', 'status', 'placed', 'error', 'message', 'details'];
			expect(Object.keys(items[0] ?? {})).toEqual(fields);
			expect(pick(items[1], Object.keys(omit(stale, 'timed_out')))).toEqual({});
			expect(items[1]).toMatchObject({ timed_out: false, call_id: placed()[0] });
		});

		it('with Execute Once, only the executed item is returned', async () => {
			const once = { parameters: { phoneNumber: phone }, over: { executeOnce: true } };
			const items = await waitedFor(mode, endLast, { rows: 3, ...once });
			expect(placed()).toHaveLength(1);
			expect(items).toEqual([expect.objectContaining({ call_id: placed()[0], timed_out: false })]);
		});
	});

	it('by webhook, resumes once, when the last call is reported', async () => {
		const { calls, arrive } = await waiting(byWebhook, 3);
		const report = async (callId: string) => {
			await service().endCall(callId);
			return await arrive({ call_id: callId });
		};
		const stillWaiting = { webhookResponse: { received: true } };
		const [first = '', second = '', third = ''] = calls;
		expect((await arrive()).result).toEqual(stillWaiting);
		expect((await report(first)).result).toEqual(stillWaiting);
		expect((await report(second)).result).toEqual(stillWaiting);
		const paired = [0, 1, 2].map((item) => ({ pairedItem: { item } }));
		expect((await report(third)).result?.workflowData?.[0]).toMatchObject(paired);
	});

	describe("n8n's custom data of the execution, by which a person finds it again,", () => {
		const outcomes = [{}, { status: 'not_picked' }, {}];
		const end = async (calls: string[]) => {
			for (const [index, callId] of calls.entries()) {
				await service().endCall(callId, outcomes[index]);
			}
		};

		it('by webhook, has the calls during the wait, and then their outcomes', async () => {
			const { run, calls, arrive } = await waiting(byWebhook, 3);
			const ids = { call_id: calls.join(', ') };
			expect(run.data.resultData.metadata).toEqual(ids);
			await end(calls.slice(0, 2));
			expect((await arrive({ poll: true })).customData).toEqual(ids);
			await end(calls);
			const both = { ...ids, outcome: 'Answered, Not answered' };
			expect((await arrive({ poll: true })).customData).toEqual(both);
		});

		it('by reading, has the outcomes of the calls that have ended', async () => {
			timeFlies(async () => await end(placed().slice(0, 1)));
			const run = await wait.runOrPause(await node(byReading), 2);
			const ids = { call_id: placed().join(', ') };
			expect(run.data.resultData.metadata).toEqual({ ...ids, outcome: 'Answered' });
		});
	});

	describe('does not begin, and no call is placed', () => {
		const respond = (reply: (address: nock.Interceptor) => nock.Scope) =>
			reply(nock(N8N).get(/^\/webhook-waiting\//));
		const refused = Object.assign(new Error('rejected'), { code: 'ECONNREFUSED' });

		it.each<[string, INodeParameters, (address: nock.Interceptor) => nock.Scope]>([
			['by webhook', byWebhook, (address) => address.replyWithError(refused)],
			['for an answer', ASK, (address) => address.replyWithError(refused)],
			['with another server there', byWebhook, (address) => address.reply(200, {})],
			['with a proxy there', byWebhook, (address) => address.reply(502, {})],
		])("if n8n can't reach its own webhook URL: %s", async (_what, parameters, reply) => {
			respond(reply);
			const refusal = await harness.refusal(parameters);
			expect(refusal).toContain("n8n can't reach its own webhook URL, so no call was placed");
			expect(refusal).toContain("choose 'By Reading the Call' in 'Wait for Completion'");
		});

		it.each([0, -1])('with the time limit %d', async (waitMinutes) => {
			expect(await harness.refusal(waitBy('webhook', { waitMinutes }))).toBe(
				`'Time Limit (Minutes)' must be more than 0 (got ${waitMinutes}). Enter a number above 0.`,
			);
		});

		it('by webhook with an agent without post-call analysis', async () => {
			const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.noAnalysis };
			const { run } = await waiting({ ...byWebhook, agentUuid }, 1, CONTINUE);
			expect(run.status).toBe('success');
			expect(records(run)[0]).toMatchObject({
				error: expect.stringContaining('no post-call analysis'),
				message: expect.stringContaining('By Reading the Call'),
			});
		});
	});

	it('sends the resume URL of the execution with each call instead of Webhook URL, and pauses with the calls', async () => {
		isNow(1_000_000);
		const options = { webhookUrl: 'https://a.example/b' };
		const { placeCall, run } = await waiting({ ...byWebhook, options }, 3);
		expect(run.status).toBe('waiting');
		expect(run.waitTill).toEqual(new Date(1_000_000 + HOUR + 60_000));
		for (const { webhookUrl } of service().placedCalls())
			expect(webhookUrl).toMatch(/^http:\/\/localhost:5678\/webhook-waiting\/[^/]+\/id-Node\?/);
		// With its suffix, a late report doesn't resume a wait of another node.
		const { type, typeVersion } = placeCall;
		const [wakeUp] = nodeTypes.getByNameAndVersion(type, typeVersion).description.webhooks ?? [];
		const byNode = { restartWebhook: true, isFullPath: true, path: '={{ $nodeId }}' };
		expect(wakeUp).toMatchObject(byNode);
		const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
		expect(entry?.data.main?.[0]?.map(({ json }) => json)).toEqual(
			people(3).map((row, index) => ({
				...row,
				call_id: placed()[index],
				placed: true,
				phone_key: `91${row.phone}`,
				timed_out: true,
				not_read: expect.stringContaining('Get Call'),
			})),
		);
		// The output of the previous node is unchanged.
		expect(records(run, 'Start')).toEqual(people(3));
		expect(waits()).toEqual([500]);
	});

	it('a second run of the node is independent of the wait', async () => {
		ownAddress();
		ownAddress();
		// The same person would be called once.
		const phoneNumber = '={{ Number($json.phone) + $runIndex }}';
		const { workflow, start } = inTwoBranches(await node({ ...byWebhook, phoneNumber }));
		const first = await runWorkflow(workflow, start, itemsOf(people(1)));
		expect([first.status, placed().length]).toEqual(['waiting', 1]);
		const second = await resume(workflow, storedCopy(first.data));
		expect([second.status, placed().length]).toEqual(['waiting', 2]);
	});

	describe('an item with the number of another branch', () => {
		const phone = '9000000000';
		const rows = [{ phone }, { phone }];
		const answered = { outcome: 'Answered', answered: true, timed_out: false };
		const other = { placed: false, not_placed_reason: 'duplicate_number', call_id: null };
		/** The output of the second of two runs, which waits by webhook after n8n's own limit has ended the first wait. */
		const afterFirst = async (parameters: INodeParameters, name = 'Node') => {
			ownAddress();
			ownAddress();
			const placeCall = await node({ ...byWebhook, ...parameters }, { name });
			const { workflow, start } = inTwoBranches(placeCall);
			const first = await runWorkflow(workflow, start, itemsOf(rows));
			const second = await resume(workflow, storedCopy(first.data));
			expect([second.status, placed().length]).toEqual(['waiting', 1]);
			await service().endCall(placed()[0] ?? '', { data_captured: { answer_to_question: 'yes' } });
			const { items } = await wait.deliver(placeCall, second, { body: { poll: true } });
			return { items, atLimit: await resume(workflow, storedCopy(second.data)) };
		};

		it.each(['Node', `It's {{ "one" }}`])(
			'by webhook, has the outcome of its call, in the node %s',
			async (name) => {
				const { items, atLimit } = await afterFirst({}, name);
				const ofBranch = { ...other, duplicate_of: null, ...answered };
				expect(items).toMatchObject([ofBranch, ofBranch]);
				expect(items?.[0]).not.toHaveProperty('status');
				const not_read = expect.stringContaining('Get Call');
				const unread = { ...other, timed_out: true, not_read };
				expect(records(atLimit, name).slice(-2)).toMatchObject([unread, unread]);
			},
		);

		it('of a question has its answer and the time at which it was asked', async () => {
			isNow(1_000_000);
			const { items, atLimit } = await afterFirst(ASK);
			const asked_at = '1969-12-31T19:16:40-05:00';
			const yes = { call_id: placed()[0], answer: 'yes', asked_at, status: 'picked' };
			expect(items).toMatchObject([yes, yes]);
			const explanation = expect.stringMatching(/^The answer is unknown\./);
			const unknown = {
				call_id: placed()[0],
				asked_at,
				answer: 'unclear',
				explanation,
				placed: false,
			};
			expect(records(atLimit).slice(-2)).toMatchObject([unknown, unknown]);
		});
	});

	it.each([1e12, 1e308])(
		'lasts as long as n8n can if the time limit is longer (%s minutes)',
		async (waitMinutes) => {
			const { run } = await waiting(waitBy('webhook', { waitMinutes }));
			expect([run.status, run.waitTill]).toEqual(['waiting', WAIT_INDEFINITELY]);
		},
	);

	it.each([undefined, { scheduled_at_epoch: '4070944800' }])(
		'has a time limit from when the last call is due, also if the response has %j',
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

	it('for a call whose call_id is a number adds its record to the first response', async () => {
		timeFlies();
		const data = { call_id: 12345, scheduled_at: '10:00' };
		service().faults.respond('/v1/call', 200, { body: { success: true, data } });
		const record = { call_id: 12345, status: 'failed' };
		service().faults.respond('/v1/call/12345', 200, { body: { success: true, data: record } });
		const run = await wait.runOrPause(await node(byReading), 1);
		expect(records(run)).toMatchObject([{ ...record, timed_out: false, scheduled_at: '10:00' }]);
	});

	it.each([
		['an invalid first row', [{ phone: '12' }, ...people(1)]],
		['an empty cell for an error', [{ ...people(1)[0], error: '' }]],
	])('by reading, all attempts of Retry On Fail with %s wait once', async (_what, rows) => {
		timeFlies();
		const thrice = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const run = await wait.runOrPause(await node(byReading, { ...CONTINUE, ...thrice }), rows);
		expect(records(run).at(-1)).toMatchObject({ placed: true, timed_out: true });
		expect(sum(waits())).toBe(HOUR);
		expect(placed()).toHaveLength(1);
	});

	it('if n8n cannot store the wait, the next attempt gets the original items', async () => {
		ownAddress();
		const toSleep = jest
			.spyOn(ExecuteContext.prototype, 'putExecutionToWait')
			.mockRejectedValueOnce(new Error('the database is away'));
		const twice = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { run, calls } = await waiting(byWebhook, 2, twice);
		expect(toSleep).toHaveBeenCalledTimes(2);
		expect(run.status).toBe('waiting');
		expect(calls).toHaveLength(2);
	});

	it.each([
		['an error of an earlier execution', 'No'],
		['an empty cell for it', ''],
	])(
		'with Retry On Fail, n8n runs the node again for a row with %s, which calls nobody',
		async (_what, error) => {
			const toSleep = jest.spyOn(ExecuteContext.prototype, 'putExecutionToWait');
			const row = { phone: '9000000000', row_number: 7, placed: false, error, details: '' };
			const twice = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
			nock(N8N)
				.persist()
				.get(/^\/webhook-waiting\//)
				.reply(409, {});
			const run = await wait.runOrPause(await node(byWebhook, { ...CONTINUE, ...twice }), [row]);
			expect(run.status).toBe('waiting');
			expect(toSleep).toHaveBeenCalledTimes(2);
			expect(placed()).toHaveLength(1);
		},
	);

	describe('when the execution is stopped', () => {
		const STOPPED = 'A time limit of n8n was reached, or someone stopped the execution.';
		const stopped = async (over: object, rows: Array<{ phone: string }>) => {
			const execution = startNode(await node(byReading, over), itemsOf(rows));
			await until('the wait', async () => await Promise.resolve(waits().length > 0));
			execution.cancel();
			return await stoppedResult(execution);
		};

		it.each([
			[1, 'The call was placed. Read it'],
			[2, '2 calls were placed. Read them'],
		])('by reading, the error has the IDs of %i calls', async (count, what) => {
			const { error } = await stopped({}, people(count));
			expect(placed()).toHaveLength(count);
			expect([error?.message, error?.description]).toEqual([
				'The execution was canceled',
				`${STOPPED} ${what} with Get Call: ${placed().join(', ')}.`,
			]);
		});

		it.each(['continueRegularOutput', 'continueErrorOutput'])(
			'by reading with On Error: %s, it ends as at the time limit, with the reason, because a retry may continue after the node',
			async (onError) => {
				const { data } = await stopped({ onError }, people(2));
				const [items] = data?.main ?? [];
				const not_read = `${STOPPED} The call may still be in progress. Read it with Get Call.`;
				expect(items?.map(({ json }) => json)).toMatchObject(
					placed().map((call_id) => ({ call_id, placed: true, timed_out: true, not_read })),
				);
			},
		);

		it('while calls are placed, it ends and does not wait', async () => {
			ownAddress();
			const { workflow, start } = oneNodeWorkflow(await node(byWebhook, CONTINUE), ['After']);
			// Far more than a slow machine places between two looks.
			const count = 400;
			const data = runDataOf(start, itemsOf(people(count)));
			const running = startExecution(workflow, data);
			await until('the first calls', async () => await Promise.resolve(placed().length > 2));
			running.cancel();
			await stoppedResult(running);
			expect(placed().length).toBeLessThan(count);
			expect([(await running).status, data.waitTill]).toEqual(['canceled', undefined]);
		});

		it('and retried, it passes on the calls and places none again', async () => {
			const { placeCall, run } = await waiting(byWebhook, 2);
			const { workflow } = oneNodeWorkflow(placeCall, ['After']);
			const again = await retryFailed(run, workflow);
			const not_read = expect.stringContaining('the execution was stopped and retried');
			const passedOn = { placed: true, timed_out: true, not_read };
			expect(records(again, 'After')).toEqual(
				people(2).map(({ phone }, index) => ({
					...{ phone, phone_key: `91${phone}`, call_id: placed()[index] },
					...passedOn,
				})),
			);
			expect(placed()).toHaveLength(2);
		});
	});
});
