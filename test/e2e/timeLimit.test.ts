import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const SECONDS = 4;
const REACHED = 'A time limit of n8n was reached, or someone stopped the execution.';

describe("a workflow's time limit in real n8n", () => {
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;
	let workflow: Workflow;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect: dialects.plain, token: 'time-limit-token' });
		n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterEach(async () => {
		simulator.reset();
		await removeWorkflow(n8n, workflow);
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
	const placeCall = (parameters: INodeParameters) =>
		node(
			'Last',
			`${PACKAGE}.placeCall`,
			1,
			{ agentUuid, countryCode: 'IN', phoneNumber: '={{ $json.phone }}', ...parameters },
			{ credentials },
		);

	/** Starts webhook → one item per person → the node. Returns the execution ID. */
	async function start(count: number, last: INode): Promise<string> {
		const path = randomUUID();
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const flow = chain('limit', webhook(path, { responseMode: 'onReceived' }), split, last);
		workflow = await n8n.createWorkflow({ ...flow, settings: { executionTimeout: SECONDS } });
		await n8n.activate(workflow);
		const people = Array.from({ length: count }, (_, index) => ({
			phone: String(9_000_000_000 + index),
		}));
		await n8n.webhook(path, { people });
		return await until('the execution', async () => (await allExecutions(n8n, workflow))[0]?.id);
	}

	/** The error of the node in the execution, which n8n has canceled. */
	async function faultOf(id: string) {
		expect(await n8n.finished(id)).toMatchObject({ status: 'canceled' });
		const { message, description } = await until('the error', async () => {
			return (await n8n.runData(id)).runData.Last?.[0]?.error;
		});
		return { message, description };
	}

	it('ends a wait by reading, and the message names the calls', async () => {
		const fault = await faultOf(await start(2, placeCall({ waitForCompletion: 'reading' })));
		const callIds = simulator.placedCalls().map(({ callId }) => callId);
		expect(fault).toEqual({
			message: 'The execution was canceled',
			description: `${REACHED} 2 calls were placed. Read them with Get Call: ${callIds.join(', ')}.`,
		});
	});

	it('cuts off a call: its outcome is unknown, and the message says how to find out', async () => {
		simulator.faults.inject({ kind: 'hang', match: { path: '/v1/call' }, skip: 1, times: 1 });
		const { description } = await faultOf(await start(3, placeCall({})));
		expect(description).toContain(
			`${REACHED} n8n canceled the request before a response arrived, so the outcome is unknown (call to 9000000001, IN) [item 1].`,
		);
		expect(description).toContain('look for 9000000001 in the calls of your account');
		expect(description).toContain('1 call was already placed in this run (item 0).');
	});

	it('cuts off a push: its outcome is unknown, and the message lists the rows', async () => {
		const match = { path: /\/contacts$/ };
		simulator.faults.inject({ kind: 'hang', match, skip: 1, times: 1 });
		const push = node(
			'Last',
			`${PACKAGE}.pushCampaignContacts`,
			1,
			{
				campaignId: String(fixtures.campaigns.active),
				agentUuid,
				phoneColumn: 'phone',
				developerSettings: { contactsPerRequest: 1 },
			},
			{ credentials },
		);
		const { message, description } = await faultOf(await start(3, push));
		expect(message).toBe(
			'n8n canceled the request before a response arrived, so the outcome is unknown',
		);
		expect(description).toContain(REACHED);
		expect(description).toContain('Unknown: 1 row (row 2)');
		expect(description).toContain('Not sent: 1 row (row 3)');
	});

	it('does not end a wait by webhook', async () => {
		const id = await start(1, placeCall({ waitForCompletion: 'webhook' }));
		await until('the wait', async () => (await n8n.execution(id)).status === 'waiting');
		await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
		const [call] = simulator.placedCalls();
		await simulator.completeCall(call?.callId ?? '');
		expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
		expect(await n8n.output(id, 'Last')).toMatchObject([{ json: { timed_out: false } }]);
	});
});
