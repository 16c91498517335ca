import compact from 'lodash/compact';
import uniq from 'lodash/uniq';
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IRunData,
	type ISourceData,
	type NodeTypeAndVersion,
} from 'n8n-workflow';
import { executionDataOf, inExpression, runIndexOf } from '../nodeRun';

/**
 * Identifies one run of an agent. It's the same for all tool requests of the run, and differs for the next iteration of
 * a loop and for another agent.
 *
 * If a person reviews the request, n8n passes neither the agent nor its run to the tool. It passes the node before the
 * agent, or the agent itself in its later runs. Agents run one after another, so the run counts of all agents from that
 * node on stay the same during an agent run, and change afterwards.
 */
export function agentRunOf(context: IExecuteFunctions): string {
	const source = sourceOf(context);
	if (source === undefined) return 'agent';
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = source.user;
	const before = source.named?.previousNode ?? previousNode;
	const agents = agentsFrom(context, before);
	if (agents.length === 0) return `agent ${previousNodeRun}/${previousNodeOutput}/${previousNode}`;
	const runs = agents.map((name) => ({ name, count: completedRuns(context, name) }));
	// Agents without a run don't count, so adding one to the workflow before a retry changes nothing.
	const counts = runs.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`);
	return ['agent', before, ...counts.sort()].join('/');
}

/** `user`: the node that uses the tool. `named`: the node before the agent, as far as n8n knows it. */
type ToolSource = { user: ISourceData; named?: ISourceData | undefined };

function sourceOf(context: IExecuteFunctions): ToolSource | undefined {
	const { source, metadata } = context.getExecuteData();
	const sources = Object.values(source ?? {}).flat();
	const [user] = sources.filter((candidate) => candidate !== null);
	return user && { user, named: metadata?.preservedSourceOverwrite };
}

/** All agents from this node on. Agents that are tools themselves are excluded. */
function agentsFrom(context: IExecuteFunctions, start: string): string[] {
	const after = orEmpty(() => context.getChildNodes(start));
	return uniq([start, ...after.map(({ name }) => name)]).filter(
		(name) => toolsOf(context, name, 1).length > 0,
	);
}

/** The tools of a node, and by default also their own ones. */
export function toolsOf(
	context: IExecuteFunctions,
	name: string,
	depth = -1,
): NodeTypeAndVersion[] {
	const connectionType = NodeConnectionTypes.AiTool;
	return orEmpty(() => context.getParentNodes(name, { connectionType, depth }));
}

/** n8n throws if a connection leads to a node that doesn't exist. */
function orEmpty(search: () => NodeTypeAndVersion[]): NodeTypeAndVersion[] {
	try {
		return search();
	} catch {
		return [];
	}
}

function completedRuns(context: IExecuteFunctions, name: string): number {
	const lastRun = context.evaluateExpression(`{{ $node[${inExpression(name)}].runIndex }}`, 0);
	return typeof lastRun === 'number' ? lastRun + 1 : 0;
}

/** Items of a node, and where n8n has them. */
type NodeOutput = { source: Required<ISourceData>; items: readonly INodeExecutionData[] };

/**
 * What the nodes before the agent returned last, at all of their outputs. The input of the agent for which n8n's engine runs
 * this node is among it. n8n names the output only for the first requests of the first run of an agent.
 */
export function agentInput(context: IExecuteFunctions): NodeOutput[] {
	const source = sourceOf(context);
	if (source === undefined) return [];
	const before = agentsOf(context, source).flatMap((agent) =>
		orEmpty(() => context.getParentNodes(agent, { depth: 1 })),
	);
	return uniq(before.map(({ name }) => name)).flatMap((name) => lastOutputs(context, name));
}

/** Whether a person has approved this request of a tool, in any node for human review. */
export function isReviewed(context: IExecuteFunctions): boolean {
	const source = sourceOf(context);
	if (source === undefined) return false;
	const { previousNode } = source.user;
	const tools = agentsOf(context, source).flatMap((agent) => toolsOf(context, agent));
	return tools.some(({ name, type }) => name === previousNode && type.endsWith('HitlTool'));
}

/** The agents that use the tool: the source itself, or those of which it is a tool. Several may share a review. */
function agentsOf(context: IExecuteFunctions, { user, named = user }: ToolSource): string[] {
	return agentsFrom(context, named.previousNode).filter(
		(agent) =>
			agent === user.previousNode ||
			toolsOf(context, agent).some(({ name }) => name === user.previousNode),
	);
}

/** What a node returned in its last run, at each of its outputs. */
function lastOutputs(context: IExecuteFunctions, previousNode: string): NodeOutput[] {
	const previousNodeRun = completedRuns(context, previousNode) - 1;
	const outputs: NodeOutput[] = [];
	for (let previousNodeOutput = 0; ; previousNodeOutput++) {
		const source = { previousNode, previousNodeOutput, previousNodeRun };
		const items = itemsAt(context, source);
		if (items === undefined) return outputs;
		outputs.push({ source, items });
	}
}

/** Undefined if the node has no such run or output. n8n throws then. */
function itemsAt(
	context: IExecuteFunctions,
	{ previousNode, previousNodeOutput, previousNodeRun }: NodeOutput['source'],
): NodeOutput['items'] | undefined {
	try {
		return context
			.getWorkflowDataProxy(0)
			.$items(previousNode, previousNodeOutput, previousNodeRun);
	} catch {
		return undefined;
	}
}

/**
 * The names of all arguments that the model gave, and if its agent is a tool itself, of those of the request to that agent.
 * n8n adds both to the row, unchecked. Undefined if this n8n doesn't show them.
 */
export function argumentNames(context: IExecuteFunctions): string[] | undefined {
	const runData = executionDataOf(context)?.resultData.runData ?? {};
	return argumentNamesOf(runData, {
		previousNode: context.getNode().name,
		previousNodeRun: runIndexOf(context),
	});
}

function argumentNamesOf(
	runData: IRunData,
	{ previousNode, previousNodeRun = 0 }: ISourceData,
): string[] | undefined {
	const run = runData[previousNode]?.[previousNodeRun];
	const request = run?.inputOverride?.[NodeConnectionTypes.AiTool]?.[0]?.[0];
	if (run === undefined || request === undefined) return undefined;
	const ofUsers = compact(run.source).flatMap((user) => argumentNamesOf(runData, user) ?? []);
	return [...Object.keys(request.json), ...ofUsers];
}
