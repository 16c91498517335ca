import { callerOf } from '../../../../nodes/host/caller/caller';
import { engineHarness, executeContext, mcpContext } from '../../../engine';

const harness = engineHarness();

/** The engine runs a tool like any node. Only its type differs. */
const byEngine = (type: string) => executeContext(harness.node(type), [{ json: {} }]);
const byMcpTrigger = (type: string) => mcpContext(harness.node(type), 'session 1');
const withoutSession = (type: string) => mcpContext(harness.node(type));
/** n8n 1 doesn't tell that a node runs as a tool. */
const inN8n1 = (type: string) =>
	new Proxy(byMcpTrigger(type), {
		has: (target, name) => name !== 'isToolExecution' && Reflect.has(target, name),
		get: (target, name): unknown =>
			name === 'isToolExecution' ? undefined : Reflect.get(target, name),
	});

const WORKFLOW = { kind: 'workflow', maxWaitMs: Infinity };
const MODEL = { kind: 'model', maxWaitMs: 45_000 };
const AGENT_MODEL = { ...MODEL, mcpSession: undefined };

test.each([
	['in a workflow', 'placeCall', byEngine, WORKFLOW],
	['that the engine runs for an agent', 'placeCallTool', byEngine, AGENT_MODEL],
	['that the engine of n8n 1 runs for an agent', 'placeCallTool', inN8n1, AGENT_MODEL],
	['that n8n 1 runs in a workflow', 'placeCall', inN8n1, WORKFLOW],
	['of an MCP client', 'placeCall', byMcpTrigger, { ...MODEL, mcpSession: 'session 1' }],
	['of an MCP client without a session', 'placeCall', withoutSession, { ...MODEL, mcpSession: '' }],
])('finds who asks for a node %s', (_what, type, contextOf, caller) => {
	expect(callerOf(contextOf(type))).toMatchObject(caller);
});
