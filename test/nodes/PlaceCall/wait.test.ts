/** *Wait for Completion*: for what the node waits, how long, and the output when it ends. */
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import sum from 'lodash/sum';
import { plainText } from '../../../nodes/core/values/values';
import {
	makeWorkflow,
	oneNodeWorkflow,
	records,
	retryFailed,
	runDataOf,
	startExecution,
	startNode,
	stoppedResult,
} from '../../engine';
import { until } from '../../n8n/until';
import { CONTINUE, HOURS, itemsOf } from './placeCallHarness';
import { ASK, HOUR, people, WAIT, waitHarness } from './waitHarness';

const { harness, waitedFor, run, node, withFields, service, placed, isNow, waits, timeFlies } =
	waitHarness();

const end = async (calls: string[]) =>
	await Promise.all(calls.map(async (callId) => await service().endCall(callId)));
const endFirst = async (calls: string[]) => await end(calls.slice(0, 1));

it('ends when all calls have ended, with their records in order', async () => {
	const items = await waitedFor(WAIT, end, 3);
	expect(items).toMatchObject(
		people(3).map(({ phone }, index) => ({
			...{ call_id: placed()[index], phone_key: `91${phone}` },
			...{ outcome: 'Answered', timed_out: false },
		})),
	);
	expect(sum(waits())).toBe(5_000);
});

it.each([
	[60, 65],
	[10, 15],
])('ends after %i minutes with what is known, and %i rounds', async (waitMinutes, rounds) => {
	const items = await waitedFor({ options: { waitMinutes } }, endFirst, 2);
	expect(sum(waits())).toBe(waitMinutes * 60_000);
	// At growing intervals, and a last time at the limit. The first call has ended in the first round.
	expect(service().requests.filter(({ method }) => method === 'GET')).toHaveLength(rounds + 1);
	expect(items).toMatchObject([
		{ call_id: placed()[0], outcome: 'Answered', timed_out: false },
		{ call_id: placed()[1], timed_out: true },
	]);
	const open = items[1] ?? {};
	expect(open).not.toHaveProperty('not_read');
	// As from every node that returns calls.
	expect(Object.keys(open).slice(0, 3)).toEqual(['person_name', 'phone_number', 'outcome']);
});

it.each([0, -1, 61])('does not begin with the time limit %d, and places no call', async (limit) => {
	expect(await harness.refusal({ options: { waitMinutes: limit } })).toBe(
		`'Wait for Completion (Minutes)' must be more than 0 and at most 60 (got ${limit}). For results that take longer, start another workflow with Call Completed Trigger.`,
	);
});

describe('a call that is scheduled for later', () => {
	/** A Thursday, after the calling hours. */
	const NIGHT = Date.parse('2099-01-01T22:00:00+05:30');
	const LATER = { when: 'dateTime', scheduledAt: '2099-01-01T23:00:00+05:30' };

	it.each([
		['by its time', LATER, LATER.scheduledAt],
		['by Calling Hours', HOURS, '2099-01-02T09:00:00+05:30'],
	])('%s is returned as scheduled, and not waited for', async (_how, parameters, time) => {
		isNow(NIGHT);
		const [item] = records(await run(await node({ ...WAIT, ...parameters }), 1));
		expect(item).toMatchObject({ placed: true, call_id: placed()[0] });
		expect(Date.parse(plainText(item?.scheduled_for))).toBe(Date.parse(time));
		expect(item).not.toHaveProperty('timed_out');
		expect(waits()).toEqual([]);
	});

	it('is read by a retry when it has begun', async () => {
		isNow(NIGHT);
		service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
		const placeCall = await node({ ...WAIT, ...LATER });
		const failed = await run(placeCall, 2);
		expect([failed.status, placed().length]).toEqual(['error', 1]);
		isNow(Date.parse(LATER.scheduledAt) + 60_000);
		timeFlies(async () => await end(placed()));
		const again = await retryFailed(failed, makeWorkflow([await node(WAIT)]));
		expect(records(again)).toMatchObject([{ timed_out: false }, { timed_out: false }]);
		expect(placed()).toHaveLength(2);
	});
});

it('tells from the captured value whether the person has opted out', async () => {
	const opts = ['yes', 'perhaps', 'no'];
	const capture = async (calls: string[]) => {
		for (const [index, callId] of calls.entries()) {
			await service().endCall(callId, { data_captured: { dnc: opts[index] ?? null } });
		}
	};
	const items = await waitedFor(WAIT, capture, 3, await withFields({ optOutKey: 'dnc' }));
	expect(items).toMatchObject([true, null, false].map((opted_out) => ({ opted_out })));
});

it.each([null, ''])('a row keeps its name if the call has %p', async (caller_name) => {
	const unnamed = async ([callId = '']: string[]) =>
		await service().endCall(callId, { caller_name });
	const rows = [{ ...people(1)[0], person_name: 'Asha Rao' }];
	expect(await waitedFor(WAIT, unnamed, rows)).toMatchObject([
		{ person_name: 'Asha Rao', outcome: 'Answered' },
	]);
});

it('ends with a listed status', async () => {
	const none = { call_ended_by: null, call_ended_reason: null, summary: null };
	const more = { call_ended_reason_message: null, post_call_analysis: null };
	const endWithStatus = async ([callId = '']: string[]) =>
		await service().endCall(callId, { status: 'voicemail', ...none, ...more });
	const credential = await withFields({ finishedStatuses: 'failed, voicemail' });
	const items = await waitedFor(WAIT, endWithStatus, 1, credential);
	expect(items).toMatchObject([{ outcome: 'Voicemail', timed_out: false }]);
});

const answered = { outcome: 'Answered', timed_out: false };
const phone = '9000000000';

it('an item with the number of another one, or of one in another branch, is a duplicate without an outcome', async () => {
	timeFlies(async () => await end(placed()));
	const { items } = await harness.inTwoBranches(await node(WAIT), { phone }, { phone });
	const other = { placed: false, not_placed_reason: 'duplicate_number', call_id: null };
	const duplicate = { phone, ...other, duplicate_of: 0, phone_key: `91${phone}` };
	const ofBranch = { ...duplicate, duplicate_of: null };
	expect(items.slice(1)).toEqual([duplicate, ofBranch, ofBranch]);
	expect(placed()).toHaveLength(1);
});

it('an item has its place and its row, without the fields of an earlier call, for which it does not wait', async () => {
	const stale = {
		...{ not_read: 'earlier', timed_out: 'earlier' },
		captured_day: 'earlier',
	};
	const earlier = { ...stale, status: 'to call', call_id: 'earlier', outcome: 'earlier', tag: 'x' };
	const rows = [
		{ phone: '', row_number: 2, ...earlier },
		{ phone, row_number: 3, ...earlier },
	];
	const endUntagged = async ([callId = '']: string[]) =>
		await service().endCall(callId, { tag: null });
	const items = await waitedFor(WAIT, endUntagged, rows, CONTINUE);
	const called = { phone, row_number: 3, outcome: 'Answered', status: 'to call', tag: null };
	expect(items).toMatchObject([{ error: "'Phone Number' is empty [row_number 2]" }, called]);
	const fields = ['error', 'message', 'details', 'placed', 'phone', 'row_number', 'status', 'tag'];
	expect(Object.keys(items[0] ?? {})).toEqual(fields);
	expect(pick(items[1], Object.keys(omit(stale, 'timed_out')))).toEqual({});
	expect(items[1]).toMatchObject({ timed_out: false, call_id: placed()[0] });
});

it('with Execute Once, only the executed item is returned', async () => {
	const items = await waitedFor({ ...WAIT, phoneNumber: phone }, end, 3, { executeOnce: true });
	expect(placed()).toHaveLength(1);
	expect(items).toEqual([expect.objectContaining({ call_id: placed()[0], timed_out: false })]);
});

it("n8n's custom data of the execution, by which a person finds it again, has the calls, and the outcomes of those that have ended", async () => {
	timeFlies(async () => await endFirst(placed()));
	const waited = await run(await node(WAIT), 2);
	const ids = { call_id: placed().join(', ') };
	expect(waited.data.resultData.metadata).toEqual({ ...ids, outcome: 'Answered' });
});

it("a call is placed with 'Webhook URL', which the wait doesn't need", async () => {
	const webhookUrl = 'https://a.example/b';
	await waitedFor({ options: { ...WAIT.options, webhookUrl } }, end);
	expect(service().placedCalls()).toMatchObject([{ webhookUrl }]);
});

it('for a call whose call_id is a number adds its record to the first response', async () => {
	timeFlies();
	const data = { call_id: 12345, language: 'hi' };
	service().faults.respond('/v1/call', 200, { body: { success: true, data } });
	const record = { call_id: 12345, status: 'failed' };
	service().faults.respond('/v1/call/12345', 200, { body: { success: true, data: record } });
	const items = records(await run(await node(WAIT), 1));
	expect(items).toMatchObject([
		{ call_id: 12345, outcome: 'Failed', timed_out: false, language: 'hi' },
	]);
});

it("a call that can't be read any more keeps what was read before", async () => {
	timeFlies(async () => {
		if (service().requests.some(({ method }) => method === 'GET'))
			service().faults.inject({ kind: 'status', status: 500, match: { method: 'GET' } });
	});
	const [item] = records(await run(await node(WAIT), 1));
	expect(item).toMatchObject({ timed_out: true, agent_name: expect.any(String) });
	expect(item?.not_read).toContain('500');
});

it('a retry reads the calls of the first attempt, and calls nobody again', async () => {
	timeFlies(async () => await end(placed()));
	service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
	const placeCall = await node(WAIT);
	const failed = await run(placeCall, 2);
	expect([failed.status, waits()]).toEqual(['error', []]);
	const again = await retryFailed(failed, makeWorkflow([placeCall]));
	expect(records(again)).toMatchObject(
		people(2).map(({ phone: number }, index) => ({
			...{ phone: number, call_id: placed()[index], ...answered },
		})),
	);
	expect(placed()).toHaveLength(2);
});

describe('when the execution is stopped', () => {
	const STOPPED = 'A time limit of n8n was reached, or someone stopped the execution.';
	const stopped = async (over: object, rows: Array<{ phone: string }>) => {
		const execution = startNode(await node(WAIT, over), itemsOf(rows));
		await until('the wait', async () => await Promise.resolve(waits().length > 0));
		execution.cancel();
		return await stoppedResult(execution);
	};

	it.each([
		[1, 'The call was placed. Read it'],
		[2, '2 calls were placed. Read them'],
	])('the error has the IDs of %i calls', async (count, what) => {
		const { error } = await stopped({}, people(count));
		expect(placed()).toHaveLength(count);
		expect([error?.message, error?.description]).toEqual([
			'The execution was canceled',
			`${STOPPED} ${what} with Get Call: ${placed().join(', ')}.`,
		]);
	});

	it.each(['continueRegularOutput', 'continueErrorOutput'])(
		'with On Error: %s, it ends as at the time limit, with the reason, because a retry may continue after the node',
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
		const { workflow, start } = oneNodeWorkflow(await node(WAIT, CONTINUE), ['After']);
		// Far more than a slow machine places between two looks.
		const count = 400;
		const running = startExecution(workflow, runDataOf(start, itemsOf(people(count))));
		await until('the first calls', async () => await Promise.resolve(placed().length > 2));
		running.cancel();
		await stoppedResult(running);
		expect(placed().length).toBeLessThan(count);
		expect((await running).status).toBe('canceled');
	});
});

it('Ask and Wait waits an hour, or as long as its option says', async () => {
	await waitedFor(ASK, async () => {});
	expect(sum(waits())).toBe(HOUR);
	waits().length = 0;
	await waitedFor({ ...ASK, options: { waitMinutes: 2 } }, async () => {}, people(2).slice(1));
	expect(sum(waits())).toBe(120_000);
});
