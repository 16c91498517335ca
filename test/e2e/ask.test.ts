import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import type { ScriptedModel, Step } from '../n8n/scriptedModel';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import {
	aiAgent,
	callReview,
	callTool,
	callsReviewed,
	chatModel,
	connect,
	CUSTOMER,
	finish,
	modelOf,
	OTHER,
	QUESTION,
	startModel,
	toolsOf,
} from './callingAgent';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';
import { answerQuestions, APPROVER, KEY, statusSchema } from './questions';

/** Starts its own n8n, because the tests stop and kill it. */
describe('Place Call asks a person and waits, in real n8n', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let model: ScriptedModel;
	let credentials: Record<string, Reference>;
	let modelCredentials: Record<string, Reference>;

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(server.baseUrl);
		({ model, modelCredentials } = await startModel(n8n));
		credentials = await credentialFor(n8n, simulator);
	});
	afterEach(() => simulator.reset());
	afterAll(async () => {
		await model.stop();
		await simulator.stop();
		await removeServer(server);
	});

	/** Publishes the workflow. Returns a function that starts it and returns the execution ID. */
	async function publish(workflow: Parameters<N8nDriver['createWorkflow']>[0], path: string) {
		const saved = await n8n.createWorkflow(workflow);
		await n8n.activate(saved);
		return async (body: object): Promise<string> => {
			const known = new Set((await allExecutions(n8n, saved)).map(({ id }) => id));
			expect((await n8n.webhook(path, body)).status).toBe(200);
			return await until('the execution to be listed', async () => {
				return (await allExecutions(n8n, saved)).find(({ id }) => !known.has(id))?.id;
			});
		};
	}

	/** Waits until `count` calls were placed and the execution waits. Returns the call IDs. */
	async function untilAsked(execution: string, count: number): Promise<string[]> {
		await until(`${count} calls, and execution ${execution} to wait`, async () => {
			const { status } = statusSchema.parse(await n8n.request('GET', `/executions/${execution}`));
			return status === 'waiting' && simulator.placedCalls().length === count;
		});
		return simulator.placedCalls().map(({ callId }) => callId);
	}

	async function killAndBoot(): Promise<void> {
		await server.kill();
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
	}

	const answers = async (id: string) => {
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		return (await n8n.output(id, 'Ask')).map(({ json }) => json);
	};

	describe('in a plain workflow', () => {
		async function ask(parameters: INodeParameters = {}) {
			const path = randomUUID();
			const split = node('Split', 'n8n-nodes-base.splitOut', 1, {
				fieldToSplitOut: 'body.people',
			});
			const asking = node(
				'Ask',
				`${PACKAGE}.placeCall`,
				1,
				{
					...QUESTION,
					operation: 'sendAndWait',
					phoneNumber: '={{ $json.phone }}',
					message: '=May we ship to {{ $json.phone }}?',
					...parameters,
				},
				{ credentials },
			);
			const start = webhook(path, { responseMode: 'onReceived' });
			return await publish(chain('ask', start, split, asking), path);
		}

		const people = (count: number) => ({
			people: Array.from({ length: count }, (_, index) => ({ phone: `900000000${index}` })),
		});

		it('asks four people and returns four answers, even if n8n is killed while it waits', async () => {
			const start = await ask();
			const id = await start(people(4));
			const [first = '', second = '', third = '', fourth = ''] = await untilAsked(id, 4);
			expect(simulator.placedCalls()[1]?.request?.data_extraction).toEqual([
				{ key: KEY, description: 'May we ship to 9000000001?', required: true },
			]);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'Yes' } });
			await killAndBoot();
			await simulator.completeCall(second, { data_captured: { [KEY]: 'no' } });
			await simulator.completeCall(third, { status: 'not_picked', data_captured: null });
			await simulator.completeCall(fourth, { data_captured: { [KEY]: 'call me tomorrow' } });
			expect(await answers(id)).toMatchObject([
				{ answer: 'yes', captured_answer: 'Yes', data: { approved: true }, call_id: first },
				{ answer: 'no', captured_answer: 'no', data: { approved: false }, call_id: second },
				{ answer: 'not_reached', data: { approved: false }, call_id: third },
				{ answer: 'unclear', data: { approved: false }, call_id: fourth },
			]);
			expect(simulator.placedCalls()).toHaveLength(4);
		});

		it('returns any answer to an open question', async () => {
			const start = await ask({ responseType: 'freeText' });
			const id = await start(people(1));
			const [callId = ''] = await untilAsked(id, 1);
			await simulator.completeCall(callId, { data_captured: { [KEY]: 'On Friday' } });
			expect(await answers(id)).toMatchObject([
				{ answer: 'answered', captured_answer: 'On Friday', data: { approved: false } },
			]);
		});

		it('does not approve if the call is still in progress at the time limit', async () => {
			const settings = { waitForCompletion: 'webhook', waitLimit: 3, waitLimitUnit: 'seconds' };
			const start = await ask({ options: { wait: { settings } } });
			const id = await start(people(1));
			await untilAsked(id, 1);
			expect(await answers(id)).toMatchObject([
				{ answer: 'unclear', timed_out: true, data: { approved: false } },
			]);
		});

		it('only a URL with the signature of n8n resumes the waiting execution', async () => {
			const start = await ask();
			const id = await start(people(1));
			const [callId = ''] = await untilAsked(id, 1);
			const url = new URL(simulator.placedCalls()[0]?.webhookUrl ?? '');
			expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
			url.searchParams.set('signature', '0'.repeat(64));
			const options = { url: url.toString() };
			const outcome = { data_captured: { [KEY]: 'yes' } };
			const [forged] = await simulator.completeCall(callId, outcome, options);
			expect(forged?.status).toBe(401);
			const [delivered] = await simulator.deliverWebhook(callId);
			expect(delivered?.status).toBe(200);
			expect(await answers(id)).toMatchObject([{ answer: 'yes' }]);
		});
	});

	describe('as human review of a tool', () => {
		/** Webhook → AI Agent, which calls customers after the approver has said yes. */
		async function agentWithReview(
			parameters: INodeParameters = {},
			options: INodeParameters = {},
		) {
			const path = randomUUID();
			const nodes: INode[] = [
				webhook(path, { responseMode: 'onReceived' }),
				aiAgent(),
				chatModel(modelCredentials),
				callReview('Ask', credentials, parameters),
				callTool('Place Call', credentials, options),
			];
			const connections = connect([
				['Webhook', 'Agent'],
				...modelOf('Agent'),
				...toolsOf('Agent', 'Ask'),
				...toolsOf('Ask', 'Place Call'),
			]);
			const start = await publish({ name: `review ${path}`, nodes, connections }, path);
			return async (...script: Step[]): Promise<string> => {
				model.follow(...script, finish);
				return await start({});
			};
		}

		it('asks for approval, waits, and runs the tool after a yes', async () => {
			const start = await agentWithReview();
			const id = await start(callsReviewed('Place_Call', CUSTOMER));
			const [callId = ''] = await untilAsked(id, 1);
			expect(simulator.placedCalls()[0]?.request?.data_extraction).toMatchObject([
				{ description: `May I use Place_Call with ${CUSTOMER}?` },
			]);
			expect(simulator.callsTo(CUSTOMER)).toBe(0);
			await simulator.completeCall(callId, { data_captured: { [KEY]: 'yes' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(APPROVER)).toBe(1);
			expect(model.toolResults().join()).toContain('"outcome":"done"');
		});

		it.each([
			['a no', { data_captured: { [KEY]: 'no' } }, 'The person said no'],
			['nobody reached', { status: 'not_picked', data_captured: null }, "wasn't reached"],
			['no clear answer', { data_captured: { [KEY]: 'hm' } }, 'counts neither as yes nor as no'],
		])(
			'%s: the tool does not run, and the model gets the reason',
			async (_name, outcome, words) => {
				const start = await agentWithReview();
				const id = await start(callsReviewed('Place_Call', CUSTOMER));
				const [callId = ''] = await untilAsked(id, 1);
				await simulator.completeCall(callId, outcome);
				expect((await n8n.finished(id)).status).toBe('success');
				expect(simulator.callsTo(CUSTOMER)).toBe(0);
				expect(model.toolResults().join()).toContain(words);
				expect(model.toolResults().join()).toContain('This is not an approval');
			},
		);

		it('if the question cannot be asked, the tool does not run, and the model gets the reason', async () => {
			const start = await agentWithReview({
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.noNumber },
			});
			const id = await start(callsReviewed('Place_Call', CUSTOMER));
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.placedCalls()).toEqual([]);
			expect(model.toolResults().join()).toContain('The agent has no outbound number');
		});

		it('asks about each request separately', async () => {
			const start = await agentWithReview();
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', OTHER),
			);
			const [first = ''] = await untilAsked(id, 1);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'yes' } });
			const [, , second = ''] = await untilAsked(id, 3);
			expect(simulator.callsTo(OTHER)).toBe(0);
			await simulator.completeCall(second, { data_captured: { [KEY]: 'no' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(APPROVER)).toBe(2);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});

		it('the same request, requested and approved twice, is sent once', async () => {
			const start = await agentWithReview();
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', CUSTOMER),
			);
			await answerQuestions({ n8n, simulator }, id);
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(model.toolResults().join()).toContain('"outcome":"already_done"');
		});

		it('Maximum Calls per Agent Run counts the calls after all approvals', async () => {
			const start = await agentWithReview({}, { maximumCallsPerRun: 1 });
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', OTHER),
			);
			await answerQuestions({ n8n, simulator }, id);
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});

		it('asks about two simultaneous requests one after another', async () => {
			const start = await agentWithReview();
			const id = await start(callsReviewed('Place_Call', OTHER, CUSTOMER));
			const [first = ''] = await untilAsked(id, 1);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'no' } });
			const [, second = ''] = await untilAsked(id, 2);
			expect(simulator.callsTo(APPROVER)).toBe(2);
			await simulator.completeCall(second, { data_captured: { [KEY]: 'yes' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});
	});
});
