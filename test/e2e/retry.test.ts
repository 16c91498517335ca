import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Execution, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook, type WorkflowJson } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { callIdOf, credentialFor, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const NODE = 'Place Call';
const [FIRST, SECOND, THIRD] = ['9000000001', '9000000002', '9000000003'] as const;

let n8n: N8nDriver;
let simulator: Simulator;
let credentials: Record<string, Reference>;
let workflow: Workflow;
let path: string;
let nodes: INode[];

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'retry-token-0001' });
	credentials = await credentialFor(n8n, simulator);
	path = randomUUID();
	const json = workflowWith();
	nodes = json.nodes;
	workflow = await n8n.createWorkflow(json);
	await n8n.activate(workflow);
});
afterEach(() => simulator.reset());
afterAll(async () => {
	await removeWorkflow(n8n, workflow);
	await simulator.stop();
});

/** Webhook → one item per person → Place Call. */
function workflowWith(): WorkflowJson {
	const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
	const parameters: INodeParameters = {
		agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
		countryCode: 'IN',
		phoneNumber: '={{ $json.phone }}',
	};
	const place = node(NODE, `${PACKAGE}.placeCall`, 1, parameters, { credentials });
	return chain(`retry ${path}`, webhook(path), split, place);
}

/** Runs an execution that fails at the second of three people. */
async function failedExecution(): Promise<Execution> {
	const before = await n8n.executions(workflow);
	const people = [FIRST, SECOND, THIRD].map((phone) => ({ phone }));
	await n8n.webhook(path, { people });
	const failed = await until('the execution', async () => {
		const [latest] = await n8n.executions(workflow);
		return latest?.id !== before[0]?.id && latest?.status === 'error' && latest;
	});
	expect(counts()).toMatchObject({ [FIRST]: 1, [THIRD]: 0 });
	return failed;
}

const counts = () =>
	Object.fromEntries([FIRST, SECOND, THIRD].map((phone) => [phone, simulator.callsTo(phone)]));
const callIds = async (execution: Execution) =>
	(await n8n.output(execution.id, NODE)).map(callIdOf);

describe.each(['original', 'current'] as const)('Retry with the %s workflow', (which) => {
	test('calls nobody again, and continues with the rejected call and the ones after it', async () => {
		simulator.faults.inject({
			kind: 'status',
			status: 400,
			body: { success: false, error: 'phone_number is implausible' },
			match: { path: '/v1/call' },
			skip: 1,
			times: 1,
		});
		const again = await n8n.retry((await failedExecution()).id, which);
		expect(again.status).toBe('success');
		expect(counts()).toEqual({ [FIRST]: 1, [SECOND]: 1, [THIRD]: 1 });
		const placed = simulator.placedCalls().map(({ callId }) => callId);
		expect(await callIds(again)).toEqual(placed);
	});

	test('does not repeat a call with an unknown outcome, even after several retries', async () => {
		simulator.faults.inject({
			kind: 'html',
			status: 502,
			afterHandling: true,
			match: { path: '/v1/call' },
			skip: 1,
			times: 1,
		});
		const again = await n8n.retry((await failedExecution()).id, which);
		const third = await n8n.retry(again.id, which);
		expect([again.status, third.status]).toEqual(['error', 'error']);
		expect(counts()).toEqual({ [FIRST]: 1, [SECOND]: 1, [THIRD]: 0 });
		const { error } = await n8n.runData(third.id);
		expect(error?.message).toContain(SECOND);
	});
});

test('Retry with the current workflow places no call with an unknown outcome again, whatever was changed', async () => {
	simulator.faults.inject({
		kind: 'resetAfter',
		match: { path: '/v1/call' },
		skip: 1,
		times: 1,
	});
	const failed = await failedExecution();
	const changed = nodes.map((each) => {
		if (each.name !== NODE) return each;
		const personName = `={{ $json.phone === "${SECOND}" ? "Asha" : "" }}`;
		return { ...each, parameters: { ...each.parameters, personName } };
	});
	const saved = await n8n.updateWorkflow(workflow, { nodes: changed });
	const again = await n8n.retry(failed.id, 'current');
	await n8n.updateWorkflow(saved, { nodes });
	expect(again.status).toBe('error');
	expect(counts()).toEqual({ [FIRST]: 1, [SECOND]: 1, [THIRD]: 0 });
});
