import {
	createRunExecutionData,
	type IConnections,
	type IRunData,
	type ISourceData,
	type NodeConnectionType,
} from 'n8n-workflow';
import { Agent } from '../../../../nodes/host/caller/agent';
import { agentRunOf } from '../../../../nodes/host/caller/agentRun';
import { callerOf } from '../../../../nodes/host/caller/caller';
import { engineHarness, executeContext, makeNode, makeWorkflow, mcpContext } from '../../../engine';

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

const WORKFLOW = {
	kind: 'workflow',
	reader: 'onScreen',
	recognizesRepeats: true,
};
const MODEL = { kind: 'model', reader: 'forModel', recognizesRepeats: true };
const AGENT_MODEL = { ...MODEL, agent: expect.any(Agent) };

test.each([
	['in a workflow', 'placeCall', byEngine, WORKFLOW],
	['that the engine runs for an agent', 'placeCallTool', byEngine, AGENT_MODEL],
	['that the engine of n8n 1 runs for an agent', 'placeCallTool', inN8n1, AGENT_MODEL],
	['that n8n 1 runs in a workflow', 'placeCall', inN8n1, WORKFLOW],
	['of an MCP client', 'placeCall', byMcpTrigger, { ...MODEL, mcpSession: 'session 1' }],
	[
		'of an MCP client without a session',
		'placeCall',
		withoutSession,
		{ ...MODEL, mcpSession: '', recognizesRepeats: false },
	],
])('finds who asks for a node %s', (_what, type, contextOf, caller) => {
	expect(callerOf(contextOf(type))).toMatchObject(caller);
});

describe('the run of an agent', () => {
	const AGENT = 'Agent }} "1"';
	const nodes = ['Row', AGENT, 'Ask', 'Direct', 'Tool', 'Other', 'More'].map((name) =>
		makeNode({ type: 'test.sink', name }),
	);
	const to = (name: string, type: NodeConnectionType) => ({
		[type]: [[{ node: name, type, index: 0 }]],
	});
	/** The tool "Tool" asks a person first. */
	const connections = (withOther: boolean): IConnections => ({
		Row: to(AGENT, 'main'),
		Direct: to(AGENT, 'ai_tool'),
		Ask: to(AGENT, 'ai_tool'),
		Tool: to('Ask', 'ai_tool'),
		Dangling: to('not there', 'main'),
		...(withOther && { [AGENT]: to('Other', 'main'), More: to('Other', 'ai_tool') }),
	});

	/** The agent run as the tool sees it. `before` is the node that n8n names as the source of the input. */
	function runFor(
		tool: string,
		source: ISourceData,
		{ completed = 0, before = 'Row', withOther = false } = {},
	): string {
		const ran = { startTime: 0, executionIndex: 0, executionTime: 0, source: [] };
		const runs = Array.from({ length: completed }, () => ran);
		const runData: IRunData = completed === 0 ? {} : { [AGENT]: runs };
		const overwrite = { previousNode: before, previousNodeOutput: 0, previousNodeRun: 0 };
		const context = executeContext(makeNode({ type: 'test.sink', name: tool }), [{ json: {} }], {
			workflow: makeWorkflow(nodes, connections(withOther)),
			data: createRunExecutionData({ resultData: { runData } }),
			task: {
				source: { main: [source] },
				metadata: { preserveSourceOverwrite: true, preservedSourceOverwrite: overwrite },
			},
		});
		return agentRunOf(context);
	}
	const fromAgent = { previousNode: AGENT };
	const fromReview = { previousNode: 'Ask', previousNodeRun: 3 };

	test('is the same for a tool with a review and one without', () => {
		const first = runFor('Direct', fromAgent);
		expect(runFor('Tool', fromReview)).toBe(first);
		// In later runs, n8n names the agent itself.
		const later = { completed: 1, before: AGENT };
		const second = runFor('Direct', { ...fromAgent, previousNodeRun: 1 }, later);
		expect(runFor('Tool', fromReview, later)).toBe(second);
		const others = [1, 2].map((completed) => runFor('Direct', fromAgent, { completed }));
		expect(new Set([first, second, ...others]).size).toBe(4);
	});

	test('is found in a workflow with a connection to a missing node', () => {
		const run = runFor('Elsewhere', { previousNode: 'Nowhere' }, { before: 'Dangling' });
		expect(run).toContain('agent');
	});

	test('stays the same for a retry with an agent that was added to the workflow', () => {
		const added = runFor('Tool', fromReview, { withOther: true });
		expect(added).toBe(runFor('Tool', fromReview));
	});
});
