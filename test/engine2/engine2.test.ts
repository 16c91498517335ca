import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { allExecutions, credentialFor, PACKAGE } from '../e2e/calls';
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
const itemFault = (item: number) => new RegExp(`^${CANNOT_RUN}.* \\[item ${item}\\]$`);

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
		expect(items).toEqual([
			expect.objectContaining({ error: expect.stringMatching(itemFault(0)) }),
			expect.objectContaining({ error: expect.stringMatching(itemFault(1)) }),
		]);
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

	describe('a trigger is not published', () => {
		const POLLED = {
			campaignId: String(fixtures.campaigns.active),
			pollTimes: { item: [{ mode: 'everyMinute' }] },
		};

		it.each<[type: string, version: number, parameters: INodeParameters]>([
			['callCompletedTrigger', 2, {}],
			['campaignCallsTrigger', 1, POLLED],
			['campaignProgressTrigger', 1, POLLED],
			['chatDeliveryTrigger', 2, {}],
			['chatEventsTrigger', 1, { sessionIds: fixtures.sessions.open }],
		])('%s', async (type, version, parameters) => {
			const webhookId = randomUUID();
			const details = { webhookId, credentials };
			const trigger = node('Trigger', `${PACKAGE}.${type}`, version, parameters, details);
			const workflow = await n8n.createWorkflow(onEngine2(chain(type, trigger)));
			await n8n.activate(workflow);
			// n8n tries for about 15 seconds before it shows the reason.
			const path = `/workflows/${workflow.id}/publication-status`;
			const statusWithReason = async () => {
				const status = JSON.stringify(await n8n.request('GET', path));
				return status.includes('"failed"') && status;
			};
			const reason = await until('the reason', statusWithReason, { timeout: 90_000 });
			expect(reason).toContain(CANNOT_RUN);
			expect(simulator.requests).toEqual([]);
		});
	});
});
