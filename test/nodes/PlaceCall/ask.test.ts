import { Container } from '@n8n/di';
import { InstanceSettings, validateUrlSignature } from 'n8n-core';
import type { IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	newExecutionData,
	engineTool,
	hintsOf,
	makeWorkflow,
	oneNodeWorkflow,
	output,
	PACKAGE,
	retryFailed,
	runWorkflow,
	records,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';
import { faultOf, HOURS, NIGHT } from './placeCallHarness';
import { HOUR, waitHarness } from './wait/waitHarness';
import { people } from './waitingExecutions';

const KEY = 'answer_to_question';
const question = {
	operation: 'sendAndWait',
	message: '=May we ship to {{ $json.phone }}?',
	yesValues: 'yes, go ahead',
	noValues: 'no',
};
const byReading = { waitForCompletion: 'reading' };

describe('asking and waiting', () => {
	const { node, waiting, service, placed, isNow, timeFlies } = waitHarness(dialects.plain);
	const askNode = async (parameters: INodeParameters = {}, over: Partial<INode> = {}) =>
		await node({ ...question, ...parameters }, over);
	const bodies = () =>
		service()
			.placedCalls()
			.map(({ request }) => request);
	const awake = () => jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);

	/** The stored items of the waiting execution. */
	const storedItems = (run: IRun) => {
		const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
		return entry?.data.main?.[0]?.map(({ json }) => json);
	};

	it("asks by a data point with n8n's signed resume URL, waits up to two hours, and resumes with each answer", async () => {
		isNow(1_000_000);
		const { run, calls, arrive } = await waiting(question, 4);
		expect(run.status).toBe('waiting');
		expect(run.waitTill).toEqual(new Date(1_000_000 + 2 * HOUR + 60_000));
		expect(bodies().map((body) => body?.data_extraction)).toEqual(
			people(4).map(({ phone }) => [
				{
					...{ key: KEY, description: `May we ship to ${phone}?`, required: true },
					output_format: 'yes or no',
				},
			]),
		);
		const address = new URL(service().placedCalls()[0]?.webhookUrl ?? '');
		expect(address.pathname).toMatch(/^\/webhook-waiting\/[^/]+\/id-Node$/);
		const signature = address.searchParams.get('signature') ?? '';
		const { hmacSignatureSecret } = Container.get(InstanceSettings);
		expect(validateUrlSignature(signature, address, hmacSignatureSecret)).toBe(true);
		const [first = '', second = '', third = '', fourth = ''] = calls;
		await service().endCall(first, { data_captured: { [KEY]: 'Go ahead' } });
		await service().endCall(second, { data_captured: { [KEY]: ' NO' } });
		await service().endCall(third, { status: 'not_picked', data_captured: null });
		await service().endCall(fourth, { data_captured: { other: 'yes' } });
		const { items } = await arrive({ call_id: fourth });
		expect(items).toMatchObject([
			{ call_id: first, answer: 'yes', captured_answer: 'Go ahead', data: { approved: true } },
			{ call_id: second, answer: 'no', captured_answer: ' NO', data: { approved: false } },
			{ call_id: third, answer: 'not_reached', data: { approved: false } },
			{ call_id: fourth, answer: 'unclear', data: { approved: false } },
		]);
		expect(items?.[0]).toMatchObject({
			status: 'picked',
			timed_out: false,
			phone_key: '919000000000',
			explanation: 'The person said yes ("Go ahead").',
			asked: { question: 'May we ship to 9000000000?', yes: ['yes', 'go ahead'], no: ['no'] },
		});
	});

	it("isn't a yes if n8n's own limit ends the wait, whatever was captured", async () => {
		const { callId, untilLimit } = await waiting(question);
		await service().endCall(callId, { data_captured: { [KEY]: 'yes' } });
		expect(await untilLimit()).toMatchObject([
			{
				call_id: callId,
				answer: 'unclear',
				explanation: expect.stringContaining('Read the call with Get Call'),
				data: { approved: false },
			},
		]);
	});

	it('fields of the item are included, but not used as evidence', async () => {
		const earlier = { data_captured: { [KEY]: 'yes' }, status: 'picked', asked: 'x', row: 7 };
		const rows = [{ ...people(1)[0], ...earlier }];
		const options = { includeInputFields: true };
		const { run, callId, arrive } = await waiting({ ...question, options }, rows);
		expect(storedItems(run)).toMatchObject([{ answer: 'unclear', row: 7 }]);
		await service().endCall(callId, { data_captured: null });
		const { items } = await arrive({ call_id: callId });
		expect(items).toMatchObject([{ row: 7, answer: 'unclear', data: { approved: false } }]);
	});

	it('items with the same number and question are one call, and all get its answer; another question is not asked', async () => {
		const sheet = ['Shall we start?', 'Shall we start?', 'Is it late?'].map((text, row) => ({
			...people(1)[0],
			...{ row, text, phone_number: `of row ${row}` },
		}));
		const { calls, callId, arrive } = await waiting(
			{ ...question, message: '={{ $json.text }}' },
			sheet,
		);
		expect(calls).toHaveLength(1);
		await service().endCall(callId, { data_captured: { [KEY]: 'yes' } });
		const { items } = await arrive({ call_id: callId });
		const yes = { answer: 'yes', call_id: callId, data: { approved: true } };
		expect(items).toMatchObject([
			{ row: 0, phone_number: 'of row 0', placed: true, ...yes },
			{ row: 1, phone_number: 'of row 1', placed: false, duplicate_of: 0, ...yes },
			{
				...{ row: 2, placed: false, duplicate_of: 0, answer: 'not_reached' },
				explanation: 'No call was placed (duplicate_number).',
			},
		]);
	});

	it.each([
		['the same question has its answer', 'Shall we?', 'yes'],
		['another question is not asked', '={{ $runIndex }}?', 'not_reached'],
	])('of two branches that ask a person, %s', async (_what, message, answer) => {
		awake();
		service().setAutoComplete({ afterMs: 0, outcome: { data_captured: { [KEY]: 'yes' } } });
		const ask = await askNode({ message, options: byReading });
		const { workflow, start } = oneNodeWorkflow(ask);
		const ways = workflow.connectionsBySourceNode.Start?.main?.[0] ?? [];
		ways.push(...ways);
		const { data } = await runWorkflow(workflow, start, [{ json: { phone: '9000000000' } }]);
		const answers = (data.resultData.runData.Node ?? []).map(
			(run) => run.data?.main?.[0]?.[0]?.json,
		);
		expect(answers).toMatchObject([
			{ placed: true, answer: 'yes' },
			{ placed: false, not_placed_reason: 'duplicate_number', answer },
		]);
		expect(service().callsTo('9000000000')).toBe(1);
	});

	it("a failed question isn't a yes of an earlier question of its row", async () => {
		const earlier = { answer: 'yes', captured_answer: 'yes', data: { approved: true } };
		const options = { includeInputFields: true };
		const row = { ...earlier, phone: '12', row: 7 };
		const { run } = await waiting({ ...question, options }, [row], {
			onError: 'continueRegularOutput',
		});
		const error: unknown = expect.stringContaining("'Phone Number'");
		expect(records(run)).toMatchObject([{ answer: 'unclear', error, row: 7 }]);
		expect(records(run)[0]).not.toHaveProperty('data');
	});

	it("a person outside the calling hours isn't reached, also if the row has an error", async () => {
		isNow(Date.parse(NIGHT));
		const hours = { ...HOURS, outsideCallingHours: 'notPlaced' };
		const row = { ...people(1)[0], error: 'of the row' };
		const { run } = await waiting({ ...question, ...hours }, [row]);
		expect(records(run)).toMatchObject([{ answer: 'not_reached', error: 'of the row' }]);
	});

	it("no question is asked twice by Retry, and a yes to the old question isn't a yes to a changed one", async () => {
		awake();
		service().setAutoComplete({ afterMs: 0, outcome: { data_captured: { [KEY]: 'yes' } } });
		const ask = await askNode({ options: byReading });
		const { workflow, start } = oneNodeWorkflow(ask);
		service().faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
		const input = [{ json: { phone: '9000000000' } }, { json: { phone: '9000000001' } }];
		const failed = await runWorkflow(workflow, start, input);
		expect(failed.data.resultData.error).toBeDefined();
		const changed = await askNode({ options: byReading, message: 'Shall we?' });
		const again = await retryFailed(failed, makeWorkflow([changed]));
		expect(records(again)).toMatchObject([
			{
				answer: 'unclear',
				captured_answer: 'yes',
				explanation:
					'"yes" was captured, but the question was changed after this call, which asked "May we ship to 9000000000?".',
				data: { approved: false },
				asked: { question: 'May we ship to 9000000000?', changed_to: 'Shall we?' },
			},
			{ answer: 'yes', data: { approved: true }, asked: { question: 'Shall we?' } },
		]);
		expect(service().callsTo('9000000000')).toBe(1);
		// n8n's own hint says that only the first item is used.
		expect(hintsOf(again)).toEqual(['2 items: 2 called.']);
	});

	it('a tool returns in time, and the repeated request waits longer without another call', async () => {
		isNow(1_000_000);
		timeFlies();
		const data = newExecutionData();
		// A tool can't wait for the webhook.
		const options = { waitForCompletion: 'webhook' };
		const one = await askNode({ phoneNumber: '9000000000', message: 'May I?', options });
		const ask = engineTool(one, { data });
		const early = await ask();
		expect(clock.now() - 1_000_000).toBe(45_000);
		expect(early).toMatchObject({
			next_step: 'Repeat this request to wait longer. No second call is placed.',
			result: { answer: 'unclear', timed_out: true },
		});
		const [callId = ''] = placed();
		await service().completeCall(callId, { data_captured: { [KEY]: 'yes' } });
		expect(await ask()).toMatchObject({
			outcome: 'already_done',
			next_step: 'Continue with the result.',
			result: { call_id: callId, answer: 'yes', timed_out: false },
		});
		expect(placed()).toEqual([callId]);
	});

	it('as a tool, asks the same question of two rows once, and tells the other row so', async () => {
		awake();
		service().setAutoComplete({ afterMs: 0, outcome: { data_captured: { [KEY]: 'yes' } } });
		const data = newExecutionData();
		const message = '={{ $json.question }}';
		const one = await askNode({ phoneNumber: '9000000000', message });
		const rows = ['May I?', 'May I?', 'May he?'].map((question, order) => ({ question, order }));
		const results = [];
		for (const row of rows) results.push(await engineTool(one, { data, rows, row })());
		expect(results).toMatchObject([
			{ outcome: 'done', result: { answer: 'yes' } },
			{
				outcome: 'not_sent',
				what_happened: expect.stringContaining('has called the number for another row'),
				result: null,
			},
			{ outcome: 'done', result: { answer: 'yes' } },
		]);
		expect(placed()).toHaveLength(2);
	});

	describe('as human review of a tool', () => {
		const reviewed = { ...question, phoneNumber: '9000000000', message: 'May I?' };
		const type = `${PACKAGE}.placeCallHitlTool`;
		const wish: IDataObject = { tool: 'Refund', toolParameters: {}, data: { approved: true } };

		it("waits, and isn't a yes before the answer, whatever the model sends, also if it's included", async () => {
			const { run, callId, arrive } = await waiting(
				{ ...reviewed, options: { includeInputFields: true } },
				[{ ...wish, approved: true, chatInput: 'Go on.' }],
				{ type },
			);
			expect(run.status).toBe('waiting');
			await service().endCall(callId, { data_captured: { [KEY]: 'no' } });
			const { items } = await arrive({ call_id: callId });
			for (const item of [storedItems(run)?.[0], items?.[0]]) {
				expect(item).toMatchObject({ tool: 'Refund', data: { approved: false } });
				expect(item).not.toHaveProperty('approved');
				expect(item).not.toHaveProperty('chatInput');
			}
		});

		it.each<[string, Partial<INode>]>([
			['as it is', {}],
			['with On Error: Continue', { onError: 'continueRegularOutput' }],
		])(
			'%s, the model gets the reason why the person was not asked, which n8n would not pass on',
			async (_how, over) => {
				const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.noNumber };
				const { run } = await waiting({ ...reviewed, agentUuid }, [wish], { type, ...over });
				expect(run.status).toBe('success');
				const chatInput = expect.stringContaining('The agent has no outbound number');
				expect(output(run, 'Node')).toMatchObject([
					{
						json: {
							answer: 'unclear',
							captured_answer: null,
							data: { approved: false, chatInput },
						},
					},
				]);
			},
		);

		it("the model isn't told that nobody was called if that's unknown", async () => {
			service().faults.inject({ kind: 'status', status: 500, times: 1 });
			const { run } = await waiting(reviewed, [wish], { type });
			expect(records(run)).toMatchObject([
				{
					explanation: expect.stringContaining('so the outcome is unknown'),
					data: { approved: false },
				},
			]);
		});

		it('stops the workflow if set', async () => {
			const over = { type, onError: 'stopWorkflow' } as const;
			const { run } = await waiting({ ...reviewed, yesValues: '={{ "" }}' }, [wish], over);
			expect(faultOf(run).message).toContain(
				"'Counts as Yes' and 'Counts as No' must have different values",
			);
		});
	});
});
