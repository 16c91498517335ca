/** MCP Server Trigger → Call n8n Workflow Tool → a workflow with an action. n8n doesn't store the execution that uses the tool. */
import { useAccount } from './account';
import { byId, chain, node } from '../n8n/workflow';
import { connectMcp, ToolHost } from './toolHost';
import { fixtures } from '../simulator';

const account = useAccount({ isMapped: true });
const { n8n, simulator, placeCall, publish, ours } = account;
let host: ToolHost;
beforeAll(async () => {
	host = await ToolHost.start(n8n);
});
afterAll(async () => await host.stop());
afterEach(() => simulator.reset());

const PHONE = '9876543210';
const called = () =>
	node('Called', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' });

test.each([
	['Place Call', () => placeCall()],
	[
		'DND List',
		() =>
			ours('Dnd', 'dnd', { operation: 'add', phone: PHONE, agentUuid: byId(fixtures.agents.full) }),
	],
	[
		'Chat Send',
		() => ours('Send', 'chatSend', { sessionId: fixtures.sessions.open, message: 'Hello' }),
	],
])('%s runs in a workflow that an MCP client uses as a tool', async (_name, action) => {
	const last = action();
	const sub = await publish(chain('sends', called(), last));
	const tool = node('Sub', '@n8n/n8n-nodes-langchain.toolWorkflow', 2.2, {
		workflowId: byId(sub.id),
		workflowInputs: {
			mappingMode: 'defineBelow',
			value: { phone: "={{ $fromAI('phone') }}" },
			schema: [{ id: 'phone', displayName: 'phone', type: 'string', display: true }],
		},
	});
	const client = await connectMcp(await host.mcpWith(tool));
	const { isError } = await client.callTool({ name: 'Sub', arguments: { phone: PHONE } });
	await client.close();
	expect(isError).toBeUndefined();
	const id = await account.executionOf(sub);
	expect((await n8n.runData(id)).error).toBeUndefined();
	expect(await n8n.output(id, last.name)).toHaveLength(1);
});
