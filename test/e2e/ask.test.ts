import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference } from '../n8n/driver';
import type { ScriptedModel, Turn } from '../n8n/scriptedModel';
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
	ends,
	modelOf,
	OTHER,
	QUESTION,
	startModel,
	toolsOf,
} from './callingAgent';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';
import { answerQuestions, APPROVER, KEY, statusSchema } from './questions';

/** A server of its own, because it is stopped and killed here. */
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

	/** Publishes the workflow and gives a function that starts it, and tells the execution. */
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

	/** The calls that were placed, once there are so many and the execution of the last sleeps. */
	async function asked(execution: string, count: number): Promise<string[]> {
		await until(`${count} calls, and execution ${execution} to sleep`, async () => {
			const { status } = statusSchema.parse(await n8n.call('GET', `/executions/${execution}`));
			return status === 'waiting' && simulator.placedCalls().length === count;
		});
		return simulator.placedCalls().map(({ callId }) => callId);
	}

	async function powerCut(): Promise<void> {
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

		it('asks four people, is killed while it sleeps, and has four answers', async () => {
			const start = await ask();
			const id = await start(people(4));
			const [first = '', second = '', third = '', fourth = ''] = await asked(id, 4);
			expect(simulator.placedCalls()[1]?.request?.data_extraction).toEqual([
				{ key: KEY, description: 'May we ship to 9000000001?', required: true },
			]);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'Yes' } });
			await powerCut();
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
		}, 200_000);

		it('a question with any answer', async () => {
			const start = await ask({ responseType: 'freeText' });
			const id = await start(people(1));
			const [callId = ''] = await asked(id, 1);
			await simulator.completeCall(callId, { data_captured: { [KEY]: 'On Friday' } });
			expect(await answers(id)).toMatchObject([
				{ answer: 'answered', captured_answer: 'On Friday', data: { approved: false } },
			]);
		});

		it('at the time limit a call that goes on is no yes', async () => {
			const settings = { waitForCompletion: 'webhook', waitLimit: 3, waitLimitUnit: 'seconds' };
			const start = await ask({ options: { wait: { settings } } });
			const id = await start(people(1));
			await asked(id, 1);
			expect(await answers(id)).toMatchObject([
				{ answer: 'unclear', timed_out: true, data: { approved: false } },
			]);
		});

		it('only n8n’s own signature opens the address of the sleeping execution', async () => {
			const start = await ask();
			const id = await start(people(1));
			const [callId = ''] = await asked(id, 1);
			const address = new URL(simulator.placedCalls()[0]?.webhookUrl ?? '');
			expect(address.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
			address.searchParams.set('signature', '0'.repeat(64));
			const options = { url: address.toString() };
			const outcome = { data_captured: { [KEY]: 'yes' } };
			const [forged] = await simulator.completeCall(callId, outcome, options);
			expect(forged?.status).toBe(401);
			const [delivered] = await simulator.deliverWebhook(callId);
			expect(delivered?.status).toBe(200);
			expect(await answers(id)).toMatchObject([{ answer: 'yes' }]);
		});
	});

	describe('as human review of a tool', () => {
		/** Webhook → AI Agent, which calls customers when the approver has said yes. */
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
			return async (...script: Turn[]): Promise<string> => {
				model.follow(...script, ends);
				return await start({});
			};
		}

		it('n8n offers it as such', async () => {
			expect(await n8n.nodeTypes()).toContain(`${PACKAGE}.placeCallHitlTool`);
		});

		it('asks what the model wants to do, sleeps, and lets it on a yes', async () => {
			const start = await agentWithReview();
			const id = await start(callsReviewed('Place_Call', CUSTOMER));
			const [callId = ''] = await asked(id, 1);
			expect(simulator.placedCalls()[0]?.request?.data_extraction).toMatchObject([
				{ description: `May I use Place_Call with ${CUSTOMER}?` },
			]);
			expect(simulator.callsTo(CUSTOMER)).toBe(0);
			await simulator.completeCall(callId, { data_captured: { [KEY]: 'yes' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(APPROVER)).toBe(1);
			expect(model.told().join()).toContain('"outcome":"done"');
		});

		it.each([
			['a no', { data_captured: { [KEY]: 'no' } }, 'The person said no'],
			['nobody reached', { status: 'not_picked', data_captured: null }, 'was not reached'],
			['no clear answer', { data_captured: { [KEY]: 'hm' } }, 'counts neither as yes nor as no'],
		])('%s: the tool is not used, and the model is told why', async (_name, outcome, words) => {
			const start = await agentWithReview();
			const id = await start(callsReviewed('Place_Call', CUSTOMER));
			const [callId = ''] = await asked(id, 1);
			await simulator.completeCall(callId, outcome);
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(CUSTOMER)).toBe(0);
			expect(model.told().join()).toContain(words);
			expect(model.told().join()).toContain('This is not an approval');
		});

		it('where nobody can be asked, the tool is not used, and the model is told why', async () => {
			const start = await agentWithReview({
				agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.noNumber },
			});
			const id = await start(callsReviewed('Place_Call', CUSTOMER));
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.placedCalls()).toEqual([]);
			expect(model.told().join()).toContain('The agent has no outbound number');
		});

		it('each request is asked for by itself', async () => {
			const start = await agentWithReview();
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', OTHER),
			);
			const [first = ''] = await asked(id, 1);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'yes' } });
			const [, , second = ''] = await asked(id, 3);
			expect(simulator.callsTo(OTHER)).toBe(0);
			await simulator.completeCall(second, { data_captured: { [KEY]: 'no' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(APPROVER)).toBe(2);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});

		it('the same request twice, approved twice, is sent once', async () => {
			const start = await agentWithReview();
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', CUSTOMER),
			);
			await answerQuestions({ n8n, simulator }, id);
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(model.told().join()).toContain('"outcome":"already_done"');
		});

		it('Maximum Calls per Agent Run holds over all approvals', async () => {
			const start = await agentWithReview({}, { maximumCallsPerRun: 1 });
			const id = await start(
				callsReviewed('Place_Call', CUSTOMER),
				callsReviewed('Place_Call', OTHER),
			);
			await answerQuestions({ n8n, simulator }, id);
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});

		it('two requests at the same moment are asked for one after the other', async () => {
			const start = await agentWithReview();
			const id = await start(callsReviewed('Place_Call', OTHER, CUSTOMER));
			const [first = ''] = await asked(id, 1);
			await simulator.completeCall(first, { data_captured: { [KEY]: 'no' } });
			const [, second = ''] = await asked(id, 2);
			expect(simulator.callsTo(APPROVER)).toBe(2);
			await simulator.completeCall(second, { data_captured: { [KEY]: 'yes' } });
			expect((await n8n.finished(id)).status).toBe('success');
			expect(simulator.callsTo(CUSTOMER)).toBe(1);
			expect(simulator.callsTo(OTHER)).toBe(0);
		});
	});
});
