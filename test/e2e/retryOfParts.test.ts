import { randomUUID } from 'node:crypto';
import { N8nDriver, type Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { allExecutions, credentialFor, PACKAGE } from './calls';
import { sharedN8n } from './shared';

let n8n: N8nDriver;
let simulator: Simulator;
let credentials: Record<string, Reference>;

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'parts-token-0001' });
	credentials = await credentialFor(n8n, simulator);
});
afterEach(() => simulator.reset());
afterAll(async () => await simulator.stop());

const placeCall = (phoneNumber: string) =>
	node(
		'Place Call',
		`${PACKAGE}.placeCall`,
		1,
		{
			agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
			countryCode: 'IN',
			phoneNumber,
		},
		{ credentials },
	);

/** Starts the workflow, and waits until its execution has failed. */
async function failedExecution(path: string, workflow: Reference, body: object) {
	expect((await n8n.webhook(path, body)).status).toBe(200);
	const id = await until('the execution to be listed', async () => {
		return (await allExecutions(n8n, workflow))[0]?.id;
	});
	const execution = await n8n.finished(id);
	expect(execution.status).toBe('error');
	return execution;
}

test('an error workflow calls the person on duty for each failed attempt', async () => {
	const onDuty = '9876500001';
	const trigger = node('On Error', 'n8n-nodes-base.errorTrigger', 1);
	const errorWorkflow = await n8n.createWorkflow(chain('on error', trigger, placeCall(onDuty)));
	await n8n.activate(errorWorkflow);
	const path = randomUUID();
	const stop = node('Stop', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'as it happens' });
	const failing = await n8n.createWorkflow({
		...chain('failing', webhook(path, { responseMode: 'onReceived' }), stop),
		settings: { errorWorkflow: errorWorkflow.id },
	});
	await n8n.activate(failing);
	const { id } = await failedExecution(path, failing, {});
	await until('the first call', async () => await Promise.resolve(simulator.callsTo(onDuty) === 1));
	expect((await n8n.retry(id, 'original')).status).toBe('error');
	await until(
		'the second call',
		async () => await Promise.resolve(simulator.callsTo(onDuty) === 2),
	);
});

test('a retry of the parent workflow does not repeat calls that its sub-workflow has placed', async () => {
	const called = node('Called', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, {
		inputSource: 'passthrough',
	});
	const stop = node('Stop', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'as it happens' });
	const sub = await n8n.createWorkflow(
		chain('called by another', called, placeCall('={{ $json.phone }}'), stop),
	);
	await n8n.activate(sub);
	const path = randomUUID();
	const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.people' });
	const call = node('Call', 'n8n-nodes-base.executeWorkflow', 1.2, {
		workflowId: { __rl: true, mode: 'id', value: sub.id },
		mode: 'once',
		workflowInputs: { mappingMode: 'defineBelow', value: {} },
	});
	const parent = await n8n.createWorkflow(
		chain('parent', webhook(path, { responseMode: 'onReceived' }), split, call),
	);
	await n8n.activate(parent);
	const phones = ['9876500011', '9876500012'];
	const people = phones.map((phone) => ({ phone }));
	const { id } = await failedExecution(path, parent, { people });
	expect((await n8n.retry(id, 'original')).status).toBe('error');
	const [latest, ...before] = await allExecutions(n8n, sub);
	expect(before).toHaveLength(1);
	expect((await n8n.runData(latest?.id ?? '')).error?.message).toContain(
		'An earlier attempt of this execution',
	);
	expect(phones.map((phone) => simulator.callsTo(phone))).toEqual([1, 1]);
});
