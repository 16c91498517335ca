import { randomUUID } from 'node:crypto';
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
const CANNOT_RUN = "This node can't run on Engine 2.0 of n8n";
const CALL: INodeParameters = {
	agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
	countryCode: 'IN',
	phoneNumber: '={{ $json.phone }}',
};
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

	const place = (rest: Partial<INode> = {}) =>
		node(NODE, `${PACKAGE}.placeCall`, 1, CALL, { credentials, ...rest });

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

	async function faultOf(id: string): Promise<string | undefined> {
		expect(await n8n.finished(id)).toMatchObject({ status: 'error' });
		return (await n8n.runData(id)).error?.message;
	}

	const placed = () => simulator.placedCalls().length;

	it('Place Call calls nobody, and says how to go on', async () => {
		const fault = await faultOf(await start(2, place()));
		expect(fault).toContain(CANNOT_RUN);
		expect(fault).toContain('remove engineType from the settings of the workflow');
		expect(placed()).toBe(0);
	});

	it('Place Call fails each item with Continue On Fail', async () => {
		const id = await start(2, place({ onError: 'continueRegularOutput' }));
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		const items = (await n8n.output(id, NODE)).map(({ json }) => json);
		expect(items.map(({ error }) => String(error))).toEqual(
			[0, 1].map((item) =>
				expect.stringMatching(new RegExp(`^${CANNOT_RUN}.* \\[item ${item}\\]$`)),
			),
		);
		expect(placed()).toBe(0);
	});

	it('Place Call calls nobody in a sub-workflow', async () => {
		const type = 'n8n-nodes-base.executeWorkflowTrigger';
		const trigger = node('Sub', type, 1.1, { inputSource: 'passthrough' });
		const sub = await publish(chain('sub', trigger, place()));
		const execute = node('Execute', 'n8n-nodes-base.executeWorkflow', 1.2, {
			workflowId: { __rl: true, mode: 'id', value: sub.id },
			options: {},
		});
		expect(await faultOf(await start(2, execute))).toContain(CANNOT_RUN);
		expect(placed()).toBe(0);
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

		it('Chat Events Trigger is not published, because its events would start nothing', async () => {
			const sessionIds = fixtures.sessions.open;
			const listening = listen('chatEventsTrigger', { sessionIds }, '');
			await expect(listening).rejects.toThrow(CANNOT_RUN);
			expect(simulator.sessions.openSockets()).toBe(0);
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
});
