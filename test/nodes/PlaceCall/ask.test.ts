import { Container } from '@n8n/di';
import { InstanceSettings, validateUrlSignature } from 'n8n-core';
import nock from 'nock';
import type { IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	anExecution,
	engineTool,
	makeWorkflow,
	oneNodeWorkflow,
	output,
	PACKAGE,
	resume,
	retryFailed,
	runWorkflow,
} from '../../engine';
import { until } from '../../n8n/until';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';
import { faultOf, placeCallHarness } from './placeCallHarness';
import { N8N, people, waitingExecutions } from './waitingExecutions';

const harness = placeCallHarness();
const KEY = 'answer_to_question';
const HOUR = 3_600_000;
const question = {
	operation: 'sendAndWait',
	message: '=May we ship to {{ $json.phone }}?',
	yesValues: 'yes, go ahead',
	noValues: 'no',
};
const byReading = { wait: { settings: { waitForCompletion: 'reading' } } };

describe.each(Object.values(dialects))('asking and waiting, dialect $name', (dialect) => {
	let simulator: Simulator;
	let now: jest.SpyInstance<number, []>;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	beforeEach(() => {
		now = jest.spyOn(clock, 'now');
		jest.spyOn(clock, 'elapsed').mockImplementation(() => clock.now());
		// Nobody knocks by itself: each test says who comes when.
		jest.spyOn(clock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
	});
	afterEach(() => {
		jest.restoreAllMocks();
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const { node, ownAddress, sleepOver, arrive } = waitingExecutions(harness, () => simulator);
	const askNode = async (parameters: INodeParameters = {}, over: Partial<INode> = {}) =>
		await node({ ...question, ...parameters }, over);
	const placed = () => simulator.placedCalls().map(({ callId }) => callId);
	const bodies = () => simulator.placedCalls().map(({ request }) => request);
	const awake = () => jest.spyOn(clock, 'sleep').mockResolvedValue(undefined);

	/** What the execution holds while it sleeps. */
	const asleep = (run: IRun) => {
		const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
		return entry?.data.main?.[0]?.map(({ json }) => json);
	};

	it('asks by a data point, sleeps up to two hours, and wakes with the answer of each', async () => {
		now.mockReturnValue(1_000_000);
		ownAddress();
		const ask = await askNode();
		const run = await sleepOver(ask, 4);
		expect(run.status).toBe('waiting');
		expect(run.waitTill).toEqual(new Date(1_000_000 + 2 * HOUR + 60_000));
		expect(bodies().map((body) => body?.data_extraction)).toEqual(
			people(4).map(({ phone }) => [
				{ key: KEY, description: `May we ship to ${phone}?`, required: true },
			]),
		);
		const [first = '', second = '', third = '', fourth = ''] = placed();
		await simulator.endCall(first, { data_captured: { [KEY]: 'Go ahead' } });
		await simulator.endCall(second, { data_captured: { [KEY]: ' NO' } });
		await simulator.endCall(third, { status: 'not_picked', data_captured: null });
		await simulator.endCall(fourth, { data_captured: { other: 'yes' } });
		const { items } = await arrive(ask, run, { call_id: fourth });
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

	it('gives each call the signed address that n8n asks for', async () => {
		ownAddress();
		await sleepOver(await askNode(), 1);
		const address = new URL(simulator.placedCalls()[0]?.webhookUrl ?? '');
		expect(address.pathname).toMatch(/^\/webhook-waiting\/[^/]+\/id-Node$/);
		const signature = address.searchParams.get('signature') ?? '';
		const { hmacSignatureSecret } = Container.get(InstanceSettings);
		expect(validateUrlSignature(signature, address, hmacSignatureSecret)).toBe(true);
	});

	it('is no yes where n8n itself ends the sleep, whatever the call holds by then', async () => {
		ownAddress();
		const ask = await askNode();
		const run = await sleepOver(ask, 1);
		const [callId = ''] = placed();
		await simulator.endCall(callId, { data_captured: { [KEY]: 'yes' } });
		const { workflow } = oneNodeWorkflow(ask, ['After']);
		const ended = await resume(harness.credentials, workflow, structuredClone(run.data));
		expect(output(ended, 'After').map(({ json }) => json)).toMatchObject([
			{
				call_id: callId,
				answer: 'unclear',
				explanation: expect.stringContaining('Read the call with Get Call'),
				data: { approved: false },
			},
		]);
	});

	it('at the limit a call that goes on is no yes', async () => {
		now.mockReturnValue(1_000_000);
		ownAddress();
		const ask = await askNode();
		const run = await sleepOver(ask, 1);
		now.mockReturnValue(1_000_000 + 2 * HOUR);
		const { items } = await arrive(ask, run);
		expect(items).toMatchObject([
			{ answer: 'unclear', timed_out: true, data: { approved: false } },
		]);
	});

	it('fields of the item are no evidence, though they come along', async () => {
		ownAddress();
		const options = { includeInputFields: true };
		const ask = await askNode({ options });
		const earlier = { data_captured: { [KEY]: 'yes' }, status: 'picked', asked: 'x', row: 7 };
		const run = await sleepOver(ask, [{ ...people(1)[0], ...earlier }]);
		expect(asleep(run)).toMatchObject([{ answer: 'unclear', row: 7 }]);
		const [callId = ''] = placed();
		await simulator.endCall(callId, { data_captured: null });
		const { items } = await arrive(ask, run, { call_id: callId });
		expect(items).toMatchObject([{ row: 7, answer: 'unclear', data: { approved: false } }]);
	});

	it('a call that asks nothing has no answer, though its item came from a call that did', async () => {
		ownAddress();
		const wait = { settings: { waitForCompletion: 'webhook' } };
		const call = await node({ options: { includeInputFields: true, wait } });
		const asked = { yes: ['yes'], no: [], not_reached: [], answer_field_in_record: 'summary' };
		const rows = [{ ...people(1)[0], asked: { ...asked, response_type: 'approval' } }];
		const run = await sleepOver(call, rows);
		const [callId = ''] = placed();
		await simulator.endCall(callId, { summary: 'yes' });
		const { items } = await arrive(call, run, { call_id: callId });
		expect(items?.[0]).toMatchObject({ call_id: callId, summary: 'yes' });
		expect(items?.[0]).not.toHaveProperty('answer');
	});

	it('knocks no more when n8n shows the page of a wait that has ended', async () => {
		let time = 1_000_000;
		now.mockImplementation(() => time);
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			time += ms;
			await Promise.resolve();
		});
		ownAddress();
		const answers: Array<[number, object | string]> = [
			[409, {}],
			[200, { received: true, pending: 1 }],
			[200, { received: true, pending: 1 }],
			[200, '<html>No action required</html>'],
		];
		let knocks = 0;
		nock(N8N)
			.post(/^\/webhook-waiting\/[^/]+\/id-Node/)
			.times(20)
			.optionally()
			.reply(() => answers[knocks++] ?? [500, {}]);
		await sleepOver(await askNode(), 1);
		await until('the page', async () => Promise.resolve(knocks === answers.length));
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(knocks).toBe(answers.length);
		nock.cleanAll();
	});

	it('calls nobody where n8n does not reach its own address', async () => {
		nock(N8N)
			.get(/^\/webhook-waiting\//)
			.reply(502);
		const run = await sleepOver(await askNode(), 1);
		expect(faultOf(run).message).toContain("n8n can't reach its own webhook URL");
		expect(placed()).toEqual([]);
	});

	it('what is missing in the question is told before anyone is called', async () => {
		ownAddress();
		const run = await sleepOver(await askNode({ yesValues: '={{ "" }}' }), 2);
		expect(faultOf(run).message).toContain("'Counts as Yes' or 'Counts as No' is empty");
		expect(placed()).toEqual([]);
	});

	it('asks with all that a call can have', async () => {
		awake();
		simulator.setAutoComplete({ afterMs: 0, outcome: { data_captured: { ok: true } } });
		const ask = await askNode({
			yesValues: 'true',
			noValues: 'false',
			dataExtraction: { points: [{ description: 'When?', key: 'when' }] },
			additionalDataFields: { fields: [{ name: 'order', value: 'A-1042' }] },
			callConfigOverrides: { maxCallDurationSeconds: 90 },
			options: {
				...byReading,
				personName: 'Asha Rao',
				initialGreeting: 'Hello!',
				answerField: 'ok',
				answerFormat: 'true or false',
			},
		});
		const run = await sleepOver(ask, 1);
		expect(bodies()).toMatchObject([
			{
				person_name: 'Asha Rao',
				initial_greeting: 'Hello!',
				additional_data: { order: 'A-1042' },
				call_config_overrides: { max_call_duration_seconds: 90 },
				data_extraction: [
					{ description: 'When?', key: 'when' },
					{ key: 'ok', output_format: 'true or false', required: true },
				],
			},
		]);
		expect(output(run, 'After')[0]?.json).toMatchObject({ answer: 'yes', captured_answer: true });
	});

	describe('nobody is asked twice', () => {
		it('by Retry On Fail', async () => {
			awake();
			simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' } });
			const ask = await askNode(
				{ options: byReading },
				{ retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
			);
			const run = await sleepOver(ask, 1);
			expect(faultOf(run).message).toContain('9000000000');
			expect(placed()).toHaveLength(1);
		});

		it('by Retry in the list of executions, and a yes to what was asked then is none to what is asked now', async () => {
			awake();
			simulator.setAutoComplete({ afterMs: 0, outcome: { data_captured: { [KEY]: 'yes' } } });
			const ask = await askNode({ options: byReading });
			const { workflow, start } = oneNodeWorkflow(ask);
			simulator.faults.inject({ kind: 'status', status: 400, times: 1, skip: 1 });
			const input = [{ json: { phone: '9000000000' } }, { json: { phone: '9000000001' } }];
			const failed = await runWorkflow(harness.credentials, workflow, start, input);
			expect(failed.data.resultData.error).toBeDefined();
			const changed = await askNode({ options: byReading, message: 'Shall we?' });
			const again = await retryFailed(harness.credentials, failed, makeWorkflow([changed]));
			expect(output(again, 'Node').map(({ json }) => json)).toMatchObject([
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
			expect(simulator.callsTo('9000000000')).toBe(1);
		});
	});

	describe('as a tool of an agent', () => {
		it('cannot sleep, so it reads the call until it is over', async () => {
			awake();
			simulator.setAutoComplete({ afterMs: 0, outcome: { data_captured: { [KEY]: 'no' } } });
			const told = await engineTool(
				harness.credentials,
				await askNode({ phoneNumber: '9000000000' }),
			)();
			expect(told).toMatchObject({
				outcome: 'done',
				result: { answer: 'no', data: { approved: false } },
			});
		});
	});

	it('a tool answers in time; the same wish again waits further, and nobody is called again', async () => {
		let time = 1_000_000;
		now.mockImplementation(() => time);
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
			time += ms;
			await Promise.resolve();
		});
		const data = anExecution();
		const ask = engineTool(
			harness.credentials,
			await askNode({ phoneNumber: '9000000000', message: 'May I?' }),
			{ data },
		);
		const early = await ask();
		expect(time - 1_000_000).toBe(45_000);
		expect(early).toMatchObject({
			next_step: 'Repeat this request to wait longer. No second call is placed.',
			result: { answer: 'unclear', timed_out: true },
		});
		const [callId = ''] = placed();
		await simulator.completeCall(callId, { data_captured: { [KEY]: 'yes' } });
		expect(await ask()).toMatchObject({
			outcome: 'already_done',
			next_step: 'Continue with the result.',
			id: callId,
			result: { answer: 'yes', timed_out: false },
		});
		expect(placed()).toEqual([callId]);
	});

	describe('as human review of a tool', () => {
		const review = async (parameters: INodeParameters, over: Partial<INode> = {}) =>
			await askNode(
				{ phoneNumber: '9000000000', message: 'May I?', ...parameters },
				{ type: `${PACKAGE}.placeCallHitlTool`, ...over },
			);
		const wish: IDataObject = { tool: 'Refund', toolParameters: {}, data: { approved: true } };

		it('sleeps, and is no yes meanwhile, whatever the model passes', async () => {
			ownAddress();
			const ask = await review({});
			const run = await sleepOver(ask, [wish]);
			expect(run.status).toBe('waiting');
			expect(asleep(run)).toMatchObject([{ answer: 'unclear', data: { approved: false } }]);
			const [callId = ''] = placed();
			await simulator.endCall(callId, { data_captured: { [KEY]: 'yes' } });
			const { items } = await arrive(ask, run, { call_id: callId });
			expect(items).toMatchObject([{ answer: 'yes', data: { approved: true } }]);
		});

		it('is no yes by what the model writes into its wish, though the wish comes along', async () => {
			ownAddress();
			const ask = await review({ options: { includeInputFields: true } });
			const run = await sleepOver(ask, [{ ...wish, approved: true, chatInput: 'Go on.' }]);
			const [callId = ''] = placed();
			await simulator.endCall(callId, { data_captured: { [KEY]: 'no' } });
			const { items } = await arrive(ask, run, { call_id: callId });
			for (const item of [asleep(run)?.[0], items?.[0]]) {
				expect(item).toMatchObject({ tool: 'Refund', data: { approved: false } });
				expect(item).not.toHaveProperty('approved');
				expect(item).not.toHaveProperty('chatInput');
			}
		});

		it.each(['as it is', 'with On Error: Continue'])(
			'%s, the model is told what keeps the person from being asked, which n8n would not do',
			async (how) => {
				ownAddress();
				const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.noNumber };
				const over: Partial<INode> = how === 'as it is' ? {} : { onError: 'continueRegularOutput' };
				const run = await sleepOver(await review({ agentUuid }, over), [wish]);
				expect(run.status).toBe('success');
				const [item] = output(run, 'Node');
				expect(item?.json).toMatchObject({
					answer: 'unclear',
					captured_answer: null,
					data: {
						approved: false,
						chatInput: expect.stringContaining('The agent has no outbound number'),
					},
				});
			},
		);

		it('stops the workflow where that is chosen', async () => {
			ownAddress();
			const ask = await review({ yesValues: '={{ "" }}' }, { onError: 'stopWorkflow' });
			const run = await sleepOver(ask, [wish]);
			expect(faultOf(run).message).toContain("'Counts as Yes' or 'Counts as No' is empty");
		});
	});
});
