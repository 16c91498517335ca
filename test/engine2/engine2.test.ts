import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor as describedCredential } from '../contract/credentialFor';
import {
	allExecutions,
	credentialFor,
	executionsOf,
	PACKAGE,
	placeCalls,
	post,
} from '../e2e/calls';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { Engine2, onEngine2 } from './engine2';

const NODE = 'Place Call';
const CANNOT_WAIT =
	"Engine 2.0 of n8n can't wait for the completion webhook, so no call was placed";
const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
	phoneNumber: '={{ $json.phone }}',
};
const waitBy = (waitForCompletion: string): INodeParameters => ({
	waitForCompletion,
});
const ask = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };

describe('Engine 2.0 of n8n', () => {
	let engine: Engine2;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;

	beforeAll(async () => {
		engine = await Engine2.start();
		simulator = await startSimulator({ dialect: dialects.plain });
		n8n = await N8nDriver.signIn(engine.server.baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterEach(() => simulator.reset());
	afterAll(async () => {
		await simulator.stop();
		await engine.stop();
	});

	const place = (parameters: INodeParameters, rest: Partial<INode> = {}) =>
		node(NODE, `${PACKAGE}.placeCall`, 1, { ...CALL, ...parameters }, { credentials, ...rest });

	async function publish(workflow: WorkflowJson): Promise<Workflow> {
		const saved = await n8n.createWorkflow(workflow);
		await n8n.activate(saved);
		return saved;
	}

	/** Starts webhook → one item per person → the node, on Engine 2.0. Returns the execution ID. */
	async function start(count: number, last: INode): Promise<string> {
		const path = randomUUID();
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const trigger = webhook(path, { responseMode: 'onReceived' });
		const workflow = await publish(onEngine2(chain('engine 2', trigger, split, last)));
		const people = Array.from({ length: count }, (_, index) => ({
			phone: String(9_000_000_000 + index),
		}));
		expect((await n8n.webhook(path, { people })).status).toBe(200);
		const { id } = await until('the execution', async () => {
			return (await allExecutions(n8n, workflow))[0];
		});
		return id;
	}

	async function outputOf(count: number, last: INode) {
		const id = await start(count, last);
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		return (await n8n.output(id, last.name)).map(({ json }) => json);
	}

	async function faultOf(id: string): Promise<string | undefined> {
		expect(await n8n.finished(id)).toMatchObject({ status: 'error' });
		return (await n8n.runData(id)).error?.message;
	}

	const placed = () => simulator.placedCalls().length;

	describe.each([
		['Wait for Completion by webhook', waitBy('webhook')],
		['Ask and Wait', ask],
	])('%s', (_name, parameters) => {
		it('calls nobody, and says how to go on', async () => {
			const fault = await faultOf(await start(2, place(parameters)));
			expect(fault).toContain(CANNOT_WAIT);
			expect(fault).toContain('By Reading the Call');
			expect(placed()).toBe(0);
		});

		it('fails each item with Continue On Fail', async () => {
			const last = place(parameters, { onError: 'continueRegularOutput' });
			const items = await outputOf(2, last);
			expect(items).toMatchObject(
				[0, 1].map((item) => ({ error: `${CANNOT_WAIT} [item ${item}]` })),
			);
			expect(placed()).toBe(0);
		});
	});

	it('waits by reading, and other executions on Engine 2.0 wait until then', async () => {
		const first = await start(2, place(waitBy('reading')));
		await until('the calls', async () => Promise.resolve(placed() === 2));
		const second = await start(1, place({}));
		await sleep(2_000);
		expect(placed()).toBe(2);
		for (const { callId } of simulator.placedCalls()) await simulator.completeCall(callId);
		expect(await n8n.finished(first)).toMatchObject({ status: 'success' });
		const items = (await n8n.output(first, NODE)).map(({ json }) => json);
		expect(items).toMatchObject([{ timed_out: false }, { timed_out: false }]);
		expect(await n8n.finished(second)).toMatchObject({ status: 'success' });
		expect(placed()).toBe(3);
	});

	it('asks by reading, and returns the answer', async () => {
		simulator.setAutoComplete({
			afterMs: 1_000,
			outcome: { data_captured: { answer_to_question: 'yes' } },
		});
		const items = await outputOf(
			1,
			place({ ...ask, options: { wait: { settings: waitBy('reading') } } }),
		);
		expect(items).toMatchObject([{ answer: 'yes', timed_out: false }]);
	});

	describe('a sub-workflow of a workflow on Engine 2.0', () => {
		async function execute(parameters: INodeParameters): Promise<INode> {
			const type = 'n8n-nodes-base.executeWorkflowTrigger';
			const trigger = node('Sub', type, 1.1, { inputSource: 'passthrough' });
			const sub = await publish(chain('sub', trigger, place(parameters)));
			return node('Execute', 'n8n-nodes-base.executeWorkflow', 1.2, {
				workflowId: { __rl: true, mode: 'id', value: sub.id },
				options: {},
			});
		}

		it('calls nobody if it would wait by webhook', async () => {
			expect(await faultOf(await start(2, await execute(waitBy('webhook'))))).toContain(
				CANNOT_WAIT,
			);
			expect(placed()).toBe(0);
		});

		it('waits by reading', async () => {
			simulator.setAutoComplete({ afterMs: 1_000 });
			const items = await outputOf(2, await execute(waitBy('reading')));
			expect(items).toMatchObject([{ timed_out: false }, { timed_out: false }]);
			expect(placed()).toBe(2);
		});
	});

	describe('triggers', () => {
		const LISTENS = 400;
		const WEBHOOK_TRIGGERS = ['callCompletedTrigger', 'chatDeliveryTrigger'];
		async function listen(type: string, parameters: INodeParameters, path: string) {
			const webhookId = randomUUID();
			const version = WEBHOOK_TRIGGERS.includes(type) ? 2 : 1;
			const trigger = node('Trigger', `${PACKAGE}.${type}`, version, parameters, {
				webhookId,
				credentials,
			});
			const workflow = await publish(onEngine2(chain(type, trigger)));
			return { url: `${engine.server.baseUrl}/webhook/${webhookId}${path}`, workflow };
		}

		const untilListening = async (url: string) =>
			await until('the trigger to listen', async () => (await post(url, '')).status === LISTENS);

		/** The items of all executions, when there are `count`. */
		async function started(workflow: Workflow, count: number) {
			const items = await executionsOf(n8n, workflow, 'Trigger', count);
			return items.map(({ json }) => json);
		}

		it('by webhook start once per call or key, also after n8n was killed', async () => {
			const completed = await listen('callCompletedTrigger', {}, '/call-completed');
			const delivered = await listen('chatDeliveryTrigger', { keyField: 'id' }, '/chat-delivery');
			const deliver = async (...ids: number[]) => {
				await untilListening(delivered.url);
				for (const id of ids) expect((await post(delivered.url, { id })).status).toBe(200);
			};
			await untilListening(completed.url);
			const [callId = ''] = await placeCalls(simulator, 1, completed.url);
			await simulator.completeCall(callId);
			await simulator.deliverWebhook(callId);
			await deliver(1, 1, 2);
			const [item, ...others] = await started(completed.workflow, 1);
			expect(item).toMatchObject({ call_id: callId, call_ended_by: 'agent' });
			expect(others).toEqual([]);
			expect(await started(delivered.workflow, 2)).toHaveLength(2);

			await engine.server.kill();
			await engine.server.boot();
			n8n = await N8nDriver.signIn(engine.server.baseUrl);
			await untilListening(completed.url);
			await simulator.deliverWebhook(callId);
			await deliver(1, 2, 3);
			const ids = (await started(delivered.workflow, 3)).map(({ id }) => id);
			expect(ids.sort()).toEqual([1, 2, 3]);
			expect(await started(completed.workflow, 1)).toHaveLength(1);
		});

		it('Campaign Calls Trigger returns each completed call once', async () => {
			const CAMPAIGN = fixtures.campaigns.active;
			const data = describedCredential(simulator);
			const credential = await n8n.createCredential(CREDENTIAL, data);
			const trigger = node(
				'Trigger',
				`${PACKAGE}.campaignCallsTrigger`,
				1,
				{
					campaignId: String(CAMPAIGN),
					pollTimes: { item: [{ mode: 'everyMinute' }] },
				},
				{ credentials: { [CREDENTIAL]: credential } },
			);
			const saved = await publish(onEngine2(chain('reading', trigger)));
			await until('the first reading to be stored', async () => {
				const stored = await n8n.request('GET', `/workflows/${saved.id}`);
				return JSON.stringify(stored).includes('"polled"');
			});
			await n8n.deactivate(saved);
			const ended: string[] = [];
			for (let call = 0; call < 3; call++) {
				ended.push(simulator.addAttempt(CAMPAIGN, 'picked'));
				await simulator.endCall(ended.at(-1) ?? '');
			}
			// Publishing begins with a reading.
			await n8n.activate(saved);
			const calls = (await started(saved, 1)).map(({ call_id: id }) => id);
			expect(calls.sort()).toEqual(ended.sort());
		});

		it('Chat Events Trigger starts once per event', async () => {
			const sessionIds = fixtures.sessions.open;
			const { workflow } = await listen('chatEventsTrigger', { sessionIds }, '');
			await until('the socket', async () =>
				Promise.resolve(simulator.sessions.openSockets() === 1),
			);
			const sent = [simulator.sessions.nudge(sessionIds), simulator.sessions.nudge(sessionIds)];
			const events = (await started(workflow, 2)).map(({ event_id: id }) => id);
			expect(events.sort()).toEqual(sent.sort());
			await n8n.deactivate(workflow);
		});

		it('Campaign Progress Trigger starts', async () => {
			const parameters = {
				campaignId: String(fixtures.campaigns.active),
				emitBaseline: true,
				pollTimes: { item: [{ mode: 'everyMinute' }] },
			};
			const { workflow } = await listen('campaignProgressTrigger', parameters, '');
			expect(await started(workflow, 1)).toHaveLength(1);
			await n8n.deactivate(workflow);
		});
	});

	it('calls nobody at a picked time, because nodes do not know the time zone of the workflow', async () => {
		const picked = place({ when: 'dateTime', scheduledAt: '2030-01-31T18:30:00' });
		expect(await faultOf(await start(1, picked))).toContain(
			"'Date and Time' needs a UTC offset on Engine 2.0 of n8n",
		);
		expect(placed()).toBe(0);
	});

	describe('the memory of the nodes', () => {
		const REPEAT: INodeParameters = {
			jsCode: 'return [1, 2].map(() => ({ json: { phone: "9000000001" } }));',
		};

		/** Runs webhook → the nodes twice, and returns the items of the last one. */
		async function runTwice(...nodes: INode[]) {
			const path = randomUUID();
			const trigger = webhook(path, { responseMode: 'onReceived' });
			const workflow = await publish(onEngine2(chain('twice', trigger, ...nodes)));
			for (let run = 1; run <= 2; run++) {
				expect((await n8n.webhook(path, {})).status).toBe(200);
				await until('the end of the execution', async () => {
					const all = await allExecutions(n8n, workflow);
					return all.length === run && all.every(({ status }) => status === 'success');
				});
			}
			return await executionsOf(n8n, workflow, nodes.at(-1)?.name ?? '', 2);
		}

		const pushTo = (options: INodeParameters) =>
			node(
				'Push',
				`${PACKAGE}.pushCampaignContacts`,
				1,
				{
					campaignId: String(fixtures.campaigns.active),
					agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
					phoneColumn: 'phone',
					options,
				},
				{ credentials },
			);
		const pushed = () => simulator.requests.filter(({ path }) => path.endsWith('/contacts')).length;

		it('Limit Calls per Person counts over executions', async () => {
			const options = { callLimit: { limit: { maximumCalls: 1, period: 'day' } } };
			const repeat = node('Repeat', 'n8n-nodes-base.code', 2, REPEAT);
			const items = await runTwice(repeat, place({ options }));
			expect(items.map(({ json }) => json.placed).sort()).toEqual([false, false, false, true]);
			expect(placed()).toBe(1);
		});

		it('Skip Numbers Pushed Before counts over executions', async () => {
			const repeat = node('Repeat', 'n8n-nodes-base.code', 2, REPEAT);
			await runTwice(repeat, pushTo({ skipPushedBefore: true }));
			expect(pushed()).toBe(1);
		});

		it('in a loop, each run of Push forgets the numbers of the earlier ones', async () => {
			const path = randomUUID();
			const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { options: {} });
			const repeat = node('Repeat', 'n8n-nodes-base.code', 2, REPEAT);
			const push = pushTo({});
			const start = webhook(path, { responseMode: 'onReceived' });
			const flow = chain('loop', start, repeat, loop);
			flow.nodes.push(push);
			const to = (name: string) => [{ node: name, type: 'main' as const, index: 0 }];
			flow.connections[loop.name] = { main: [[], to(push.name)] };
			flow.connections[push.name] = { main: [to(loop.name)] };
			const workflow = await publish(onEngine2(flow));
			expect((await n8n.webhook(path, {})).status).toBe(200);
			await executionsOf(n8n, workflow, push.name, 1);
			expect(pushed()).toBe(2);
		});
	});

	it('the message of a failed execution lists the calls, and n8n cannot retry it', async () => {
		const match = { path: '/v1/call' };
		simulator.faults.inject({ kind: 'status', status: 500, match, skip: 1, times: 1 });
		const id = await start(3, place({}));
		const fault = await faultOf(id);
		expect(fault).toContain('1 call was already placed in this run (item 0).');
		expect(fault).not.toContain('retry');
		await expect(n8n.startRetry(id, 'original')).rejects.toThrow('retry: 500');
		expect(placed()).toBe(1);
	});

	it('calls nobody again after n8n was killed', async () => {
		const id = await start(2, place(waitBy('reading')));
		await until('the calls', async () => Promise.resolve(placed() === 2));
		await engine.server.kill();
		await engine.server.boot();
		n8n = await N8nDriver.signIn(engine.server.baseUrl);
		// Engine 2.0 neither continues nor ends it.
		expect(await outputOf(1, place({}))).toHaveLength(1);
		expect(await n8n.execution(id)).toMatchObject({ status: 'running' });
		expect(placed()).toBe(3);
	});
});
