/** A workflow with an action that n8n's Call n8n Workflow Tool offers to an agent or to an MCP client. */
import type { INode } from 'n8n-workflow';
import { useAccount } from './account';
import { aiAgent, callsDirectly, chatModel, connect, finish, useModel, uses } from './callingAgent';
import { connectMcp, ToolHost } from './toolHost';
import type { Workflow } from '../n8n/driver';
import type { Step } from '../n8n/scriptedModel';
import { byId, chain, manualTrigger, node, subTrigger } from '../n8n/workflow';
import { fixtures } from '../simulator';

const account = useAccount({ isMapped: true });
const { n8n, simulator, placeCall, publish, ours } = account;
const { model, modelCredentials } = useModel(n8n);
afterEach(() => simulator.reset());

const PHONE = '9876543210';
const publishSub = async (action: INode) => await publish(chain('sends', subTrigger(), action));
const toolOf = ({ id }: Workflow) =>
	node('Sub', '@n8n/n8n-nodes-langchain.toolWorkflow', 2.2, {
		workflowId: byId(id),
		workflowInputs: {
			mappingMode: 'defineBelow',
			value: { phone: "={{ $fromAI('phone') }}" },
			schema: [{ id: 'phone', displayName: 'phone', type: 'string', display: true }],
		},
	});

/** n8n doesn't store the execution in which an MCP client uses a tool. */
describe('for an MCP client', () => {
	let host: ToolHost;
	beforeAll(async () => {
		host = await ToolHost.start(n8n);
	});
	afterAll(async () => await host.stop());

	test.each<[string, () => INode]>([
		['Place Call', () => placeCall()],
		[
			'DND List',
			() =>
				ours('Dnd', 'dnd', {
					...{ operation: 'add', phone: PHONE },
					agentUuid: byId(fixtures.agents.full),
				}),
		],
		[
			'Chat Send',
			() => ours('Send', 'chatSend', { sessionId: fixtures.sessions.open, message: 'Hello' }),
		],
	])('%s runs', async (_name, action) => {
		const last = action();
		const sub = await publishSub(last);
		const client = await connectMcp(await host.mcpWith(toolOf(sub)));
		const { isError } = await client.callTool({ name: 'Sub', arguments: { phone: PHONE } });
		await client.close();
		expect(isError).toBeUndefined();
		const id = await account.executionOf(sub);
		expect((await n8n.runData(id)).error).toBeUndefined();
		expect(await n8n.output(id, last.name)).toHaveLength(1);
	});
});

describe('for an agent', () => {
	/** Runs an agent with the tool. The model follows the script. */
	async function runAgent(sub: Workflow, ...script: Step[]): Promise<void> {
		const workflow = await account.create({
			name: 'agent with a workflow tool',
			nodes: [manualTrigger(), aiAgent(), chatModel(modelCredentials), toolOf(sub)],
			connections: connect([['Start', 'Agent'], ...uses('Agent', 'Sub')]),
		});
		model.follow(...script, finish);
		await n8n.runManually(workflow, 'Start');
		expect(model.isAtEnd).toBe(true);
	}

	test('that calls two people at the same time, the model gets both outcomes if Place Call waits', async () => {
		const people = [PHONE, '9876543211'];
		const sub = await publishSub(placeCall({ options: { waitMinutes: 60 } }));
		simulator.setAutoComplete({ afterMs: 500 });
		await runAgent(sub, { calls: people.map((phone) => ({ tool: 'Sub', args: { phone } })) });
		expect(simulator.placedCalls().map(({ phone }) => phone)).toEqual(
			people.map((phone) => `+91${phone}`),
		);
		const results = model.toolResults();
		expect(results.map((text) => text.includes('"outcome":"Answered"'))).toEqual([true, true]);
	});

	test('that requests a call twice, Limit Calls per Person calls the person once', async () => {
		const sub = await publishSub(placeCall({ callLimit: 'day', maximumCalls: 1 }));
		await runAgent(sub, callsDirectly('Sub', PHONE), callsDirectly('Sub', PHONE));
		expect(simulator.callsTo(`+91${PHONE}`)).toBe(1);
	});
});
