/** *Ask and Wait*: what is asked, what counts as an answer, and the same as a tool and as human review. */
import { Container } from '@n8n/di';
import { InstanceSettings, validateUrlSignature } from 'n8n-core';
import type { IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import type { JsonObject, JsonValue } from '../../../nodes/core/values/json';
import {
	engineTool,
	makeWorkflow,
	newExecutionData,
	output,
	PACKAGE,
	records,
	retryFailed,
} from '../../engine';
import { fixtures } from '../../simulator';
import { CONTINUE, faultOf, HOURS, NIGHT } from './placeCallHarness';
import { HOUR, people, waitHarness } from './waitHarness';

const KEY = 'answer_to_question';
const captured = (value: JsonValue): JsonObject => ({ data_captured: { [KEY]: value } });
const question = {
	operation: 'sendAndWait',
	message: '=May we ship to {{ $json.phone }}?',
	yesValues: 'yes, true, Go ahead, हाँ, Ók',
	noValues: 'no, false, नहीं',
};
const byReading = { options: { waitForCompletion: 'reading' } };
const INCLUDE = { options: { includeInputFields: true } };
const NO_APPROVAL =
	'This is not an approval. Do not use the tool unless the user asks for it again.';

const { harness, node, waiting, service, placed, ...wait } = waitHarness();
const { isNow, timeFlies, runOrPause } = wait;
const askNode = async (parameters: INodeParameters = {}) =>
	await node({ ...question, ...parameters });
const awake = () => jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);
/** All calls end with a yes at once. */
const everyoneSaysYes = () => {
	awake();
	service().setAutoComplete({ afterMs: 0, outcome: captured('yes') });
};
/** The stored items of the waiting execution. */
const storedItems = (run: IRun) => {
	const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
	return entry?.data.main?.[0]?.map(({ json }) => json) ?? [];
};

it("asks by a data point with n8n's signed resume URL, and waits up to two hours", async () => {
	isNow(1_000_000);
	const { run, calls, arrive } = await waiting(question, 2);
	expect(run.status).toBe('waiting');
	expect(run.waitTill).toEqual(new Date(1_000_000 + 2 * HOUR + 60_000));
	for (const [index, { request }] of service().placedCalls().entries()) {
		const description = `May we ship to ${people(2)[index]?.phone}?`;
		const point = { key: KEY, description, required: true, output_format: 'yes or no' };
		expect(request?.data_extraction).toEqual([point]);
	}
	const address = new URL(service().placedCalls()[0]?.webhookUrl ?? '');
	expect(address.pathname).toMatch(/^\/webhook-waiting\/[^/]+\/id-Node$/);
	const signature = address.searchParams.get('signature') ?? '';
	const { hmacSignatureSecret } = Container.get(InstanceSettings);
	expect(validateUrlSignature(signature, address, hmacSignatureSecret)).toBe(true);
	const [first = '', second = ''] = calls;
	await service().endCall(first, captured(' GO ahead '));
	expect((await arrive({ call_id: first })).items).toBeUndefined();
	await service().endCall(second, captured('no'));
	const { items } = await arrive({ call_id: second });
	expect(items?.[0]).toMatchObject({
		...{ status: 'picked', timed_out: false, phone_key: '919000000000', call_id: first },
		...{ answer: 'yes', captured_answer: ' GO ahead ', data: { approved: true } },
		explanation: 'The person said yes (" GO ahead ").',
		asked: {
			question: 'May we ship to 9000000000?',
			yes: ['yes', 'true', 'Go ahead', 'हाँ', 'Ók'],
			no: ['no', 'false', 'नहीं'],
		},
	});
	expect(items?.[1]).toMatchObject({ answer: 'no', data: { approved: false } });
});

it('counts only a captured value of a completed call as an answer', async () => {
	const open = {
		...{ call_ended_by: null, call_ended_reason: null, call_ended_reason_message: null },
		...{ summary: null, post_call_analysis: null },
	};
	const neither = (value: string) =>
		`${value} was captured, which counts neither as yes nor as no.`;
	const noAnswer = (status: string) =>
		`The call is completed (status "${status}"), but has no captured answer.`;
	const missed = (status: string) => `The person wasn't reached (status "${status}").`;
	const isOpen = "The call wasn't completed when the wait ended.";

	const EMPTY: JsonValue[] = [' ', {}, [], [null], { said: '' }, null];
	const answers: Array<[outcome: JsonObject, answer: string, explanation: string]> = [
		[captured('yes'), 'yes', 'The person said yes ("yes").'],
		[captured('हाँ'), 'yes', 'The person said yes ("हाँ").'],
		// Without one of its marks.
		[captured('ह'), 'unclear', neither('"ह"')],
		// A decomposed letter.
		[captured('\u200eO\u0301K'), 'yes', 'The person said yes ("\u200eO\u0301K").'],
		[captured(true), 'yes', 'The person said yes ("true").'],
		[captured('No'), 'no', 'The person said no ("No").'],
		[captured(false), 'no', 'The person said no ("false").'],
		[captured('yes, but'), 'unclear', neither('"yes, but"')],
		[captured(['yes']), 'unclear', neither('"["yes"]"')],
		[captured({ ok: 'yes' }), 'unclear', neither('"{"ok":"yes"}"')],
		...EMPTY.map((empty): [JsonObject, string, string] => [
			captured(empty),
			'unclear',
			noAnswer('picked'),
		]),
		[{ data_captured: { other: 'yes' } }, 'unclear', noAnswer('picked')],
		[{ status: null, data_captured: null }, 'unclear', noAnswer('null')],
		[{ status: 'busy', data_captured: null }, 'unclear', noAnswer('busy')],
		[{ status: 'not_picked', data_captured: null }, 'not_reached', missed('not_picked')],
		[{ ...captured('yes'), status: 'not_picked' }, 'not_reached', missed('not_picked')],
		[{ ...open, status: 'failed', data_captured: null }, 'not_reached', missed('failed')],
		[{ ...open, ...captured('yes') }, 'unclear', isOpen],
		[{ ...open, data_captured: null }, 'unclear', isOpen],
	];
	isNow(1_000_000);
	const { calls, arrive } = await waiting(question, answers.length);
	for (const [index, [outcome]] of answers.entries())
		await service().endCall(calls[index] ?? '', outcome);
	isNow(1_000_000 + 2 * HOUR);
	expect((await arrive({ poll: true })).items).toMatchObject(
		answers.map(([, answer, explanation]) => {
			const approved = answer === 'yes';
			const chatInput = approved ? explanation : `${explanation} ${NO_APPROVAL}`;
			return { answer, explanation, data: { approved, chatInput } };
		}),
	);
});

describe('the times', () => {
	const ASKED = '1969-12-31T19:16:40-05:00';
	const picked = '2026-11-20T12:00:09Z';

	it.each<[JsonValue, JsonObject, JsonValue]>([
		['yes', {}, picked],
		['no', {}, picked],
		['no', { call_picked_at: null }, null],
		['maybe', {}, null],
		['yes', { status: 'not_picked' }, null],
	])('of the question and of the answer %j with %j are returned', async (value, more, answered) => {
		isNow(1_000_000);
		const row = { ...people(1)[0], asked_at: 'of the row', answered_at: 'of the row' };
		const { run, callId, arrive } = await waiting({ ...question, ...INCLUDE }, [row]);
		expect(storedItems(run)).toMatchObject([{ asked_at: ASKED, answered_at: null }]);
		isNow(2_000_000);
		await service().endCall(callId, { call_picked_at: picked, ...captured(value), ...more });
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ asked_at: ASKED, answered_at: answered }]);
	});

	it('of a call that an earlier attempt placed stay those of that attempt', async () => {
		isNow(1_000_000);
		everyoneSaysYes();
		service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
		const ask = await askNode(byReading);
		const failed = await runOrPause(ask, 2);
		isNow(2_000_000);
		const again = await retryFailed(failed, makeWorkflow([ask]));
		const later = '1969-12-31T19:33:20-05:00';
		expect(records(again)).toMatchObject([{ asked_at: ASKED }, { asked_at: later }]);
	});
});

it.each([
	['={{ ["yes", " ok ", 7, ""] }}', ['yes', 'ok', '7']],
	['={{ 1 }}', ['1']],
	['yes\nok', ['yes', 'ok']],
])("'Counts as Yes' may be %j: %j", async (yesValues, yes) => {
	const { run } = await waiting({ ...question, yesValues });
	expect(storedItems(run)).toMatchObject([{ asked: { yes } }]);
});

it("isn't a yes if n8n's own limit ends the wait, whatever was captured", async () => {
	const { callId, untilLimit } = await waiting(question);
	await service().endCall(callId, captured('yes'));
	const explanation = expect.stringMatching(/^The answer is unknown\. .* with Get Call\.$/);
	expect(await untilLimit()).toMatchObject([
		{ call_id: callId, answer: 'unclear', explanation, data: { approved: false } },
	]);
});

describe('fields of the row', () => {
	it('are included, but not used as evidence', async () => {
		const earlier = { ...captured('yes'), status: 'picked', asked: 'x', row: 7 };
		const rows = [{ ...people(1)[0], ...earlier }];
		const { run, callId, arrive } = await waiting({ ...question, ...INCLUDE }, rows);
		expect(storedItems(run)).toMatchObject([{ answer: 'unclear', row: 7 }]);
		await service().endCall(callId, { data_captured: null });
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ row: 7, answer: 'unclear', data: { approved: false } }]);
	});

	it("aren't the answer of a failed question", async () => {
		const earlier = {
			...{ answer: 'yes', explanation: 'The person said yes', captured_answer: 'yes' },
			data: { approved: true },
		};
		const rows = [7, 8].map((row) => ({ ...earlier, phone: '12', row, row_number: row }));
		const { run } = await waiting({ ...question, ...INCLUDE }, rows, CONTINUE);
		const emptied = { explanation: '', captured_answer: '' };
		const failed = {
			answer: 'unclear',
			...emptied,
			error: expect.stringContaining("'Phone Number'"),
		};
		expect(records(run)).toMatchObject(rows.map(({ row }) => ({ ...failed, row })));
		for (const record of records(run)) expect(record).not.toHaveProperty('data');
	});

	it('of a failed question go to the error output with it', async () => {
		const rows = [{ phone: '12', row: 7 }];
		const { run } = await waiting(question, rows, { onError: 'continueErrorOutput' });
		const [task] = run.data.resultData.runData.Node ?? [];
		const outputs = task?.data?.main?.map((items) => items?.map(({ json }) => json));
		const error = expect.stringContaining("'Phone Number'");
		expect(outputs).toEqual([[], [expect.objectContaining({ ...rows[0], error })]]);
	});

	it("don't count as an error if nobody was called because of the calling hours", async () => {
		isNow(Date.parse(NIGHT));
		const hours = { ...HOURS, outsideCallingHours: 'notPlaced' };
		const row = { ...people(1)[0], error: 'of the row' };
		const { run } = await waiting({ ...question, ...hours }, [row]);
		const explanation = 'No call was placed (outside_calling_hours).';
		const notReached = { answer: 'not_reached', explanation, data: { approved: false } };
		expect(records(run)).toMatchObject([{ ...notReached, error: 'of the row' }]);
	});
});

describe('the same person', () => {
	it('is asked the same question once for all rows, which get its answer and times, and no other question', async () => {
		isNow(1_000_000);
		const sheet = ['Shall we start?', 'Shall we start?', 'Is it late?'].map((text, row) => ({
			...people(1)[0],
			...{ row, text, phone_number: `of row ${row}` },
		}));
		const message = '={{ $json.text }}';
		const { calls, callId, arrive } = await waiting({ ...question, message }, sheet);
		expect(calls).toHaveLength(1);
		const answered_at = '2026-11-20T12:00:09Z';
		await service().endCall(callId, { call_picked_at: answered_at, ...captured('yes') });
		const times = { asked_at: '1969-12-31T19:16:40-05:00', answered_at };
		const yes = { answer: 'yes', call_id: callId, data: { approved: true }, ...times };
		const duplicate = { placed: false, duplicate_of: 0 };
		const explanation = 'No call was placed (duplicate_number).';
		expect((await arrive({ call_id: callId })).items).toMatchObject([
			{ row: 0, phone_number: 'of row 0', placed: true, ...yes },
			{ row: 1, phone_number: 'of row 1', ...duplicate, ...yes },
			{ row: 2, ...duplicate, answer: 'not_reached', explanation, asked_at: null },
		]);
	});

	it.each([
		['the same question has its answer', 'Shall we?', 'yes'],
		['another question is not asked', '={{ $runIndex }}?', 'not_reached'],
	])('of two branches that ask, %s', async (_what, message, answer) => {
		everyoneSaysYes();
		const ask = await askNode({ message, ...byReading });
		const { items } = await harness.inTwoBranches(ask, { phone: '9000000000' });
		expect(items).toMatchObject([
			{ placed: true, answer: 'yes' },
			{ placed: false, not_placed_reason: 'duplicate_number', answer },
		]);
		expect(service().callsTo('9000000000')).toBe(1);
	});

	it("isn't asked again by Retry, and a yes to the old question isn't a yes to a changed one", async () => {
		everyoneSaysYes();
		service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
		const failed = await runOrPause(await askNode(byReading), 2);
		expect(failed.data.resultData.error).toBeDefined();
		const changed = await askNode({ ...byReading, message: 'Shall we?' });
		const again = await retryFailed(failed, makeWorkflow([changed]));
		const old = 'May we ship to 9000000000?';
		expect(records(again)).toMatchObject([
			{
				...{ answer: 'unclear', captured_answer: 'yes', data: { approved: false } },
				explanation: `"yes" was captured, but the question was changed after this call, which asked "${old}".`,
				asked: { question: old, changed_to: 'Shall we?' },
			},
			{ answer: 'yes', data: { approved: true }, asked: { question: 'Shall we?' } },
		]);
		expect(service().callsTo('9000000000')).toBe(1);
	});
});

describe('as a tool', () => {
	const phoneNumber = '9000000000';

	it('returns in time, and the repeated request waits longer without another call', async () => {
		isNow(1_000_000);
		timeFlies();
		// A tool can't wait for the webhook.
		const options = { waitForCompletion: 'webhook' };
		const one = await askNode({ phoneNumber, message: 'May I?', options });
		const ask = engineTool(one, { data: newExecutionData() });
		expect(await ask()).toMatchObject({
			next_step: 'Repeat this request to wait longer. No second call is placed.',
			result: { answer: 'unclear', timed_out: true },
		});
		expect(clock.now() - 1_000_000).toBe(45_000);
		const [callId = ''] = placed();
		await service().completeCall(callId, captured('yes'));
		expect(await ask()).toMatchObject({
			outcome: 'already_done',
			next_step: 'Continue with the result.',
			result: { call_id: callId, answer: 'yes', timed_out: false },
		});
		expect(placed()).toEqual([callId]);
	});

	it('asks a person once in the execution, and tells another row, question, or agent run so', async () => {
		everyoneSaysYes();
		const data = newExecutionData();
		const one = await askNode({ phoneNumber, message: '={{ $json.question }}' });
		const rows = ['May I?', 'May I?', 'May he?'].map((text, order) => ({ question: text, order }));
		const ask = async (row = 0, run = 0) =>
			await engineTool(one, { data, rows, row: rows[row] ?? {}, run })();
		const what_happened =
			"The call wasn't placed, because this number was called before in this execution.";
		const calledBefore = { outcome: 'not_sent', what_happened, result: null };
		expect(await ask()).toMatchObject({ outcome: 'done', result: { answer: 'yes' } });
		for (const other of [ask(1), ask(2), ask(0, 1)])
			expect(await other).toMatchObject(calledBefore);
		expect(await ask()).toMatchObject({ outcome: 'already_done', result: { answer: 'yes' } });
		expect(placed()).toHaveLength(1);
	});
});

describe('as human review of a tool', () => {
	const type = `${PACKAGE}.placeCallHitlTool`;
	const wish: IDataObject = { tool: 'Refund', toolParameters: {}, data: { approved: true } };
	const review = async (parameters: INodeParameters = {}, row = wish, over: Partial<INode> = {}) =>
		await waiting(
			{ ...question, phoneNumber: '9000000000', message: 'May I?', ...parameters },
			[row],
			{ type, ...over },
		);

	it("waits, and isn't a yes before the answer, whatever the model sends, also if it's included", async () => {
		const row = { ...wish, approved: true, chatInput: 'Go on.' };
		const { run, callId, arrive } = await review(INCLUDE, row);
		expect(run.status).toBe('waiting');
		await service().endCall(callId, captured('no'));
		const { items } = await arrive({ call_id: callId });
		for (const item of [storedItems(run)[0], items?.[0]]) {
			expect(item).toMatchObject({ tool: 'Refund', data: { approved: false } });
			expect(item).not.toHaveProperty('approved');
			expect(item).not.toHaveProperty('chatInput');
		}
	});

	it('asks for each request, also beyond the maximum of calls by tools', async () => {
		everyoneSaysYes();
		const one = await askNode({ phoneNumber: '9000000000', message: 'May I?', ...byReading });
		const ask = engineTool({ ...one, type: `${one.type}Hitl` });
		for (const amount of [1, 2, 3, 4])
			expect(await ask({ ...wish, toolParameters: { amount } })).toMatchObject({ answer: 'yes' });
		expect(placed()).toHaveLength(4);
	});

	it.each<[string, Partial<INode>]>([
		['as it is', {}],
		['with On Error: Continue', CONTINUE],
	])(
		'%s, the model gets the reason why the person was not asked, which n8n would not pass on',
		async (_how, over) => {
			const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.noNumber };
			const { run } = await review({ agentUuid }, wish, over);
			expect(run.status).toBe('success');
			const reason = 'The agent has no outbound number';
			const chatInput = expect.stringMatching(new RegExp(`${reason}.* ${NO_APPROVAL}$`));
			const json = {
				answer: 'unclear',
				captured_answer: null,
				...{ asked_at: null, answered_at: null },
				data: { approved: false, chatInput },
			};
			expect(output(run, 'Node')).toMatchObject([{ json }]);
		},
	);

	it.each([
		['that the owner must correct a number that it did not give', '12', 'the person who set up'],
		[
			'the format of a number that it gave',
			'={{ $tool.parameters.phone }}',
			'Phone Number: digits',
		],
	])('the model is told %s', async (_what, phoneNumber, told) => {
		const { run } = await review({ phoneNumber }, { ...wish, toolParameters: { phone: '12' } });
		expect(records(run)).toMatchObject([{ data: { chatInput: expect.stringContaining(told) } }]);
	});

	it("the model isn't told that nobody was called if that's unknown", async () => {
		service().faults.inject({ kind: 'status', status: 500, times: 1 });
		const explanation = expect.stringContaining('so the outcome is unknown');
		const { run } = await review();
		expect(records(run)).toMatchObject([{ explanation, data: { approved: false } }]);
	});

	it('stops the workflow if set', async () => {
		const { run } = await review({ yesValues: '={{ "" }}' }, wish, { onError: 'stopWorkflow' });
		expect(faultOf(run).message).toContain(
			"'Counts as Yes' and 'Counts as No' must have different values",
		);
	});
});
