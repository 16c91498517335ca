import { randomUUID } from 'node:crypto';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { N8nDriver, type Workflow } from '../n8n/driver';
import { chain, manualTrigger, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { callIdOf, credentialFor, executionsOf, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const NODE = 'Place Call';
const PHONE = '9000000001';
const ROWS = ['9000000002', '9000000003', '9000000004'];

let n8n: N8nDriver;
let simulator: Simulator;
const workflows: Workflow[] = [];

beforeAll(async () => {
	n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
	simulator = await startSimulator({ dialect: dialects.plain, token: 'limit-token-0001' });
});
afterEach(() => simulator.reset());
afterAll(async () => {
	for (const workflow of workflows) await removeWorkflow(n8n, workflow);
	await simulator.stop();
});

async function placeCallNode(parameters: INodeParameters) {
	return node(
		NODE,
		`${PACKAGE}.placeCall`,
		1,
		{
			agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full },
			countryCode: 'IN',
			phoneNumber: '={{ $json.body?.phone ?? $json.phone }}',
			options: { callLimit: { limit: { maximumCalls: 1, period: 'day' } } },
			...parameters,
		},
		{ credentials: await credentialFor(n8n, simulator) },
	);
}

async function create(...nodes: Parameters<typeof chain>[1][]): Promise<Workflow> {
	const workflow = await n8n.createWorkflow(chain(`limit ${randomUUID()}`, ...nodes));
	workflows.push(workflow);
	return workflow;
}

const isPlaced = (items: INodeExecutionData[]) => items.map(({ json }) => json.placed);

test('a form that is posted twice at the same moment, and once more later, places one call', async () => {
	const path = randomUUID();
	const workflow = await create(webhook(path), await placeCallNode({}));
	await n8n.activate(workflow);
	await n8n.webhook(path, { phone: '9000000009' });
	await Promise.all([
		n8n.webhook(path, { phone: PHONE }),
		n8n.webhook(path, { phone: `+91 ${PHONE}` }),
	]);
	await n8n.webhook(path, { phone: `0${PHONE}` });
	const items = await executionsOf(n8n, workflow, NODE, 4);
	expect(isPlaced(items).sort()).toEqual([false, false, true, true]);
	expect(simulator.callsTo(PHONE)).toBe(1);
	const reasons = items.map(({ json }) => json.not_placed_reason).filter(Boolean);
	expect(reasons).toEqual(['call_limit_reached', 'call_limit_reached']);
});

test('a sheet that is run twice calls each person once, and again after they are forgotten', async () => {
	const rows = node('Rows', 'n8n-nodes-base.code', 2, {
		jsCode: `return ${JSON.stringify(ROWS)}.map((phone) => ({ json: { phone } }));`,
	});
	const start = manualTrigger();
	const place = await placeCallNode({});
	const workflow = await create(start, rows, place);
	const run = async (saved: Workflow) => {
		const { id } = await n8n.runManually(saved, start.name);
		return await n8n.output(id, NODE);
	};
	const first = await run(workflow);
	expect(first.map(callIdOf)).toEqual(simulator.placedCalls().map(({ callId }) => callId));
	expect(isPlaced(await run(workflow))).toEqual([false, false, false]);
	expect(ROWS.map((phone) => simulator.callsTo(phone))).toEqual([1, 1, 1]);

	const parameters = {
		resource: 'rememberedNumber',
		operation: 'forget',
		phone: '={{ $json.phone }}',
	};
	const forget = node(NODE, `${PACKAGE}.dnd`, 1, parameters, { credentials: place.credentials });
	const { nodes, connections } = chain(workflow.name, start, rows, forget);
	const changed = await n8n.updateWorkflow(workflow, { nodes, connections });
	expect((await run(changed)).map(({ json }) => json.forgotten_calls)).toEqual([true, true, true]);
	const restored = await n8n.updateWorkflow(changed, { nodes: [start, rows, place], connections });
	expect(isPlaced(await run(restored))).toEqual([true, true, true]);
});
