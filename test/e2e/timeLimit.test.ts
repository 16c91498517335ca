import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const SECONDS = 4;
const REACHED = 'A time limit of n8n was reached, or someone stopped the execution.';
const AGENT = { agentUuid: byId(fixtures.agents.full) };

describe("a workflow's time limit in real n8n", () => {
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;
	const workflows: Workflow[] = [];

	beforeAll(async () => {
		simulator = await startSimulator({ dialect: dialects.plain, token: 'time-limit-token' });
		n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
		credentials = await credentialFor(n8n, simulator);
	});
	afterAll(async () => {
		for (const workflow of workflows) await removeWorkflow(n8n, workflow);
		await simulator.stop();
	});

	const last = (type: string, parameters: INodeParameters) =>
		node('Last', `${PACKAGE}.${type}`, 1, { ...AGENT, ...parameters }, { credentials });
	const placeCall = (parameters: INodeParameters = {}) =>
		last('placeCall', { countryCode: 'IN', phoneNumber: '={{ $json.phone }}', ...parameters });

	/** Starts webhook → one item per person → the node. Returns the execution ID. */
	async function start(count: number, tested: INode): Promise<string> {
		const path = randomUUID();
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
		const flow = chain('limit', webhook(path, { responseMode: 'onReceived' }), split, tested);
		const settings = { executionTimeout: SECONDS };
		const workflow = await n8n.createWorkflow({ ...flow, settings });
		workflows.push(workflow);
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

	const placed = () => simulator.placedCalls();
	const untilPlaced = async (count: number) =>
		await until(`${count} calls`, async () => Promise.resolve(placed().length === count));

	it('cuts off a wait, a call, and a push with a message that says what happened, and no wait by webhook', async () => {
		const reading = await start(2, placeCall({ waitForCompletion: 'reading' }));
		await untilPlaced(2);
		const waiting = await start(1, placeCall({ waitForCompletion: 'webhook' }));
		await untilPlaced(3);
		const calls = placed().map(({ callId }) => callId);
		simulator.faults.inject({ kind: 'hang', match: { path: '/v1/call' }, skip: 1, times: 1 });
		const calling = await start(3, placeCall());
		simulator.faults.inject({ kind: 'hang', match: { path: /\/contacts$/ }, skip: 1, times: 1 });
		const pushing = await start(
			3,
			last('pushCampaignContacts', {
				campaignId: String(fixtures.campaigns.active),
				phoneColumn: 'phone',
				developerSettings: { contactsPerRequest: 1 },
			}),
		);

		expect(await faultOf(reading)).toEqual({
			message: 'The execution was canceled',
			description: `${REACHED} 2 calls were placed. Read them with Get Call: ${calls.slice(0, 2).join(', ')}.`,
		});
		const call = await faultOf(calling);
		expect(call.description).toContain(
			`${REACHED} n8n canceled the request before a response arrived, so the outcome is unknown (call to 9000000001, IN) [item 1].`,
		);
		expect(call.description).toContain('look for 9000000001 in the calls of your account');
		expect(call.description).toContain('1 call was already placed in this run (item 0).');
		const push = await faultOf(pushing);
		expect(push.message).toBe(
			'n8n canceled the request before a response arrived, so the outcome is unknown',
		);
		expect(push.description).toContain(REACHED);
		expect(push.description).toContain('Unknown: 1 row (row 2)');
		expect(push.description).toContain('Not sent: 1 row (row 3)');

		// Started before the others, so its time limit has passed.
		expect((await n8n.execution(waiting)).status).toBe('waiting');
		await simulator.completeCall(calls[2] ?? '');
		expect(await n8n.finished(waiting)).toMatchObject({ status: 'success' });
		expect(await n8n.output(waiting, 'Last')).toMatchObject([{ json: { timed_out: false } }]);
	});
});
