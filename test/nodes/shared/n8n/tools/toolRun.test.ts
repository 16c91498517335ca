import {
	createRunExecutionData,
	type IConnections,
	type ISourceData,
	type NodeConnectionType,
} from 'n8n-workflow';
import { agentRunOf } from '../../../../../nodes/shared/n8n/tools/agentRun';
import { runsAsTool } from '../../../../../nodes/shared/n8n/tools/toolRun';
import {
	engineHarness,
	executeContext,
	makeNode,
	makeWorkflow,
	mcpContext,
} from '../../../../engine';

const harness = engineHarness();

/** The engine runs a tool like any node. Only its type differs. */
const called = (type: string) => mcpContext(harness.node(type));

test('a tool that an agent runs is a tool', () => {
	expect(runsAsTool(called('placeCall'))).toBe(true);
	expect(runsAsTool(called('placeCallTool'))).toBe(true);
});

test('a node that asks a person for approval is not a tool', () => {
	expect(runsAsTool(called('placeCallHitlTool'))).toBe(false);
});

test('in n8n 1, a tool is recognized by its type', () => {
	const inN8n1 = (type: string) => {
		const context = called(type);
		return new Proxy(context, {
			has: (target, name) => name !== 'isToolExecution' && Reflect.has(target, name),
			get: (target, name): unknown =>
				name === 'isToolExecution' ? undefined : Reflect.get(target, name),
		});
	};
	expect(runsAsTool(inN8n1('placeCall'))).toBe(false);
	expect(runsAsTool(inN8n1('placeCallTool'))).toBe(true);
});

describe('the run of an agent', () => {
	const NAMES = {
		row: 'Row',
		agent: 'Agent }} "1"',
		review: 'Ask',
		direct: 'Direct',
		tool: 'Tool',
	};
	const nodes = [
		...Object.values(NAMES).map((name) => makeNode({ type: 'test.sink', name })),
		...['Other', 'More'].map((name) => makeNode({ type: 'test.sink', name })),
	];
	const to = (name: string, type: NodeConnectionType) => ({
		[type]: [[{ node: name, type, index: 0 }]],
	});
	const connections = (withOther: boolean): IConnections => ({
		[NAMES.row]: to(NAMES.agent, 'main'),
		...(withOther && { [NAMES.agent]: to('Other', 'main'), More: to('Other', 'ai_tool') }),
		[NAMES.direct]: to(NAMES.agent, 'ai_tool'),
		[NAMES.review]: to(NAMES.agent, 'ai_tool'),
		[NAMES.tool]: to(NAMES.review, 'ai_tool'),
		Dangling: to('not there', 'main'),
	});

	/** The agent run as the tool sees it. `before` is the node that n8n names as the source of the input. */
	function runFor(
		tool: string,
		source: ISourceData,
		{ completed = 0, before = NAMES.row, withOther = false } = {},
	): string {
		const node = makeNode({ type: 'test.sink', name: tool });
		const ran = { startTime: 0, executionIndex: 0, executionTime: 0, source: [] };
		const data = createRunExecutionData({
			resultData: {
				runData:
					completed === 0 ? {} : { [NAMES.agent]: Array.from({ length: completed }, () => ran) },
			},
		});
		const overwrite = { previousNode: before, previousNodeOutput: 0, previousNodeRun: 0 };
		const context = executeContext(node, [{ json: {} }], {
			workflow: makeWorkflow(nodes, connections(withOther)),
			data,
			task: {
				source: { main: [source] },
				metadata: { preserveSourceOverwrite: true, preservedSourceOverwrite: overwrite },
			},
		});
		return agentRunOf(context);
	}
	const fromAgent = { previousNode: NAMES.agent };
	const fromReview = { previousNode: NAMES.review, previousNodeRun: 3 };

	test('is the same for a tool with a review and one without', () => {
		const first = runFor(NAMES.direct, fromAgent);
		expect(runFor(NAMES.tool, fromReview)).toBe(first);
		// In later runs, n8n names the agent itself.
		const later = { completed: 1, before: NAMES.agent };
		const second = runFor(NAMES.direct, { ...fromAgent, previousNodeRun: 1 }, later);
		expect(runFor(NAMES.tool, fromReview, later)).toBe(second);
		const others = [1, 2].map((completed) => runFor(NAMES.direct, fromAgent, { completed }));
		expect(new Set([first, second, ...others]).size).toBe(4);
	});

	test('is found in a workflow with a connection to a missing node', () => {
		expect(runFor('Elsewhere', { previousNode: 'Nowhere' }, { before: 'Dangling' })).toContain(
			'agent',
		);
	});

	test('stays the same for a retry with an agent that was added to the workflow', () => {
		const added = runFor(NAMES.tool, fromReview, { withOther: true });
		expect(added).toBe(runFor(NAMES.tool, fromReview));
	});
});
