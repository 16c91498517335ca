/** *Ask and Wait*: what is asked, what counts as an answer, and the same as a tool. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import type { JsonObject, JsonValue } from '../../../nodes/core/values/json';
import { engineTool, makeWorkflow, newExecutionData, records, retryFailed } from '../../engine';
import { CONTINUE, HOURS, NIGHT } from './placeCallHarness';
import { people, waitHarness } from './waitHarness';

const KEY = 'answer_to_question';
const captured = (value: JsonValue): JsonObject => ({ data_captured: { [KEY]: value } });
const question = {
	operation: 'askAndWait',
	question: '=May we ship to {{ $json.phone }}?',
	yesValues: 'yes, true, Go ahead, हाँ, Ók',
	noValues: 'no, false, नहीं',
};

const { harness, node, run, service, placed, isNow, timeFlies, waitedFor } = waitHarness();
const askNode = async (parameters: INodeParameters = {}) =>
	await node({ ...question, ...parameters });
/** All calls end with a yes at once. */
const everyoneSaysYes = () => {
	timeFlies();
	service().setAutoComplete({ afterMs: 0, outcome: captured('yes') });
};
/** The output, if the first person says this. */
const answers = async (
	outcome: JsonObject,
	rows: IDataObject[] = people(1),
	parameters: INodeParameters = {},
) =>
	await waitedFor(
		{ ...question, ...parameters },
		async ([callId = '']) => await service().endCall(callId, outcome),
		rows,
	);

it('asks by a data point, and returns the captured answers', async () => {
	const items = await waitedFor(
		question,
		async ([first = '', second = '']) => {
			await service().endCall(first, captured(' GO ahead '));
			await service().endCall(second, captured('no'));
		},
		2,
	);
	for (const [index, { request }] of service().placedCalls().entries()) {
		const description = `May we ship to ${people(2)[index]?.phone}?`;
		const point = { key: KEY, description, required: true, output_format: 'yes or no' };
		expect(request?.data_extraction).toEqual([point]);
	}
	expect(items[0]).toMatchObject({
		...{ outcome: 'Answered', timed_out: false, phone_key: '919000000000', call_id: placed()[0] },
		...{ answer: 'yes', captured_answer: ' GO ahead ', asked: 'May we ship to 9000000000?' },
		explanation: 'The person said yes (" GO ahead ").',
	});
	expect(items[1]).toMatchObject({ answer: 'no' });
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
	const cases: Array<[outcome: JsonObject, answer: string, explanation: string]> = [
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
	const end = async (calls: string[]) => {
		for (const [index, [outcome]] of cases.entries())
			await service().endCall(calls[index] ?? '', outcome);
	};
	expect(await waitedFor(question, end, cases.length)).toMatchObject(
		cases.map(([, answer, explanation]) => ({ answer, explanation })),
	);
});

it.each([
	['={{ ["yes", " ok ", 7, ""] }}', 7],
	['={{ 1 }}', 1],
	['yes\nok', 'ok'],
])("'Counts as Yes' may be %j: %j", async (yesValues, value) => {
	const items = await answers(captured(value), people(1), { yesValues });
	expect(items).toMatchObject([{ answer: 'yes' }]);
});

it("isn't a yes if the call can't be read at the end, whatever was captured", async () => {
	const end = async ([callId = '']: string[]) => {
		await service().endCall(callId, captured('yes'));
		service().faults.inject({ kind: 'status', status: 500, match: { method: 'GET' } });
	};
	const explanation = expect.stringMatching(/^The answer is unknown\. /);
	const unknown = { answer: 'unclear', explanation, timed_out: true };
	expect(await waitedFor(question, end)).toMatchObject([unknown]);
});

describe('outside the calling hours', () => {
	it('nobody is asked, and the output says from when it is possible', async () => {
		isNow(Date.parse(NIGHT));
		const row = { ...people(1)[0], error: 'of the row' };
		const items = records(await run(await askNode(HOURS), [row]));
		const explanation =
			'No call was placed (outside_calling_hours). Ask again from 2026-11-23T09:00:00+05:30.';
		expect(items).toMatchObject([
			{ answer: 'not_reached', explanation, placed: false, error: 'of the row' },
		]);
		expect(placed()).toEqual([]);
	});
});

describe('fields of the row', () => {
	it('are included, but not used as evidence', async () => {
		const earlier = { ...captured('yes'), status: 'picked', asked: 'x', row: 7 };
		const items = await answers({ data_captured: null }, [{ ...people(1)[0], ...earlier }]);
		expect(items).toMatchObject([{ row: 7, answer: 'unclear' }]);
	});

	it("aren't the answer of a failed question", async () => {
		const earlier = { answer: 'yes', explanation: 'The person said yes', captured_answer: 'yes' };
		const rows = [7, 8].map((row) => ({ ...earlier, phone: '12', row, row_number: row }));
		const items = records(await run(await node(question, CONTINUE), rows));
		const error = expect.stringContaining("'Phone Number'");
		const failed = { answer: 'unclear', explanation: '', captured_answer: '', error };
		expect(items).toMatchObject(rows.map(({ row }) => ({ ...failed, row })));
	});

	it('of a failed question go to the error output with it', async () => {
		const rows = [{ phone: '12', row: 7 }];
		const ran = await run(await node(question, { onError: 'continueErrorOutput' }), rows);
		const [task] = ran.data.resultData.runData.Node ?? [];
		const outputs = task?.data?.main?.map((items) => items?.map(({ json }) => json));
		const error = expect.stringContaining("'Phone Number'");
		expect(outputs).toEqual([[], [expect.objectContaining({ ...rows[0], error })]]);
	});
});

describe('the same person', () => {
	it('is asked once, and the other rows get no answer, also to the same question', async () => {
		const sheet = ['Shall we start?', 'Shall we start?', 'Is it late?'].map((text, row) => ({
			...people(1)[0],
			...{ row, text, phone_number: `of row ${row}` },
		}));
		const items = await answers(captured('yes'), sheet, { question: '={{ $json.text }}' });
		expect(placed()).toHaveLength(1);
		const explanation = 'No call was placed (duplicate_number).';
		const duplicate = { placed: false, duplicate_of: 0, answer: 'not_reached', explanation };
		expect(items).toMatchObject([
			{ row: 0, phone_number: 'of row 0', placed: true, answer: 'yes' },
			{ row: 1, phone_number: 'of row 1', ...duplicate },
			{ row: 2, ...duplicate },
		]);
	});

	it("isn't asked again in another branch, also not the same question", async () => {
		everyoneSaysYes();
		const { items } = await harness.inTwoBranches(await askNode(), { phone: '9000000000' });
		expect(items).toMatchObject([
			{ placed: true, answer: 'yes' },
			{
				...{ placed: false, not_placed_reason: 'duplicate_number' },
				...{ answer: 'not_reached' },
			},
		]);
		expect(service().callsTo('9000000000')).toBe(1);
	});

	it("isn't asked again by Retry, and a yes to the old question isn't a yes to a changed one", async () => {
		everyoneSaysYes();
		service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
		const failed = await run(await askNode(), 2);
		expect(failed.data.resultData.error).toBeDefined();
		const changed = await askNode({ question: 'Shall we?' });
		const again = await retryFailed(failed, makeWorkflow([changed]));
		const old = 'May we ship to 9000000000?';
		expect(records(again)).toMatchObject([
			{
				...{ answer: 'unclear', captured_answer: 'yes', asked: old },
				explanation: `"yes" was captured, but the question was changed after this call, which asked "${old}".`,
			},
			{ answer: 'yes', asked: 'Shall we?' },
		]);
		expect(service().callsTo('9000000000')).toBe(1);
	});
});

describe('as a tool', () => {
	const phoneNumber = '9000000000';

	it('returns in time, and the repeated request waits longer without another call', async () => {
		isNow(1_000_000);
		timeFlies();
		const one = await askNode({ phoneNumber, question: 'May I?' });
		const ask = engineTool(one, { data: newExecutionData() });
		expect(await ask()).toMatchObject({
			next_step: expect.stringContaining(
				'Repeat this request to wait longer. No second call is placed.',
			),
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
		const one = await askNode({ phoneNumber, question: '={{ $json.question }}' });
		const rows = ['May I?', 'May I?', 'May he?'].map((text, order) => ({ question: text, order }));
		const ask = async (row = 0, runIndex = 0) =>
			await engineTool(one, { data, rows, row: rows[row] ?? {}, run: runIndex })();
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
