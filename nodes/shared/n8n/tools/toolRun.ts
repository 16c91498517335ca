import omit from 'lodash/omit';
import uniq from 'lodash/uniq';
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

/**
 * Whether the node runs as a tool of an AI agent or an MCP client. The MCP Server Trigger and older agents run it
 * themselves. Newer agents let the engine run it like any node, and only the node type shows it: n8n derives
 * `placeCallTool` from `placeCall`. (`placeCallHitlTool` asks a person for approval and returns its output to n8n, not
 * to a model.)
 */
export function runsAsTool(context: IExecuteFunctions): boolean {
	if (isHumanReview(context)) return false;
	return isToolExecution(context) || context.getNode().type.endsWith('Tool');
}

/** Whether the node asks a person to approve a tool request of an AI agent. */
function isHumanReview(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('HitlTool');
}

/** Whether such a node returns its errors as output. Otherwise, n8n would tell the model that the person rejected. */
export function returnsErrorsToReview(context: IExecuteFunctions): boolean {
	return isHumanReview(context) && context.getNode().onError !== 'stopWorkflow';
}

/** Whether errors go to an agent, in a format of their own. */
export function returnsErrorsToAgent(context: IExecuteFunctions): boolean {
	return runsAsTool(context) || isHumanReview(context);
}

/** n8n 1 doesn't have this function. There, only the node type shows a tool. */
function isToolExecution(context: IExecuteFunctions): boolean {
	return 'isToolExecution' in context && context.isToolExecution();
}

/**
 * Identifies one run of an agent. It's the same for all tool requests of the run, and differs for the next iteration of
 * a loop and for another agent.
 *
 * If a person reviews the request, n8n passes neither the agent nor its run to the tool. It passes the node before the
 * agent, or the agent itself in its later runs. Agents run one after another, so the run counts of all agents from that
 * node on stay the same during an agent run, and change afterwards.
 */
export function agentRunOf(context: IExecuteFunctions): string {
	const { source, metadata } = context.getExecuteData();
	const sources = Object.values(source ?? {}).flat();
	const [task] = sources.filter((candidate) => candidate !== null);
	if (task === undefined) return 'agent';
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = task;
	const before = metadata?.preservedSourceOverwrite?.previousNode ?? previousNode;
	const agents = agentsFrom(context, before);
	if (agents.length === 0) return `agent ${previousNodeRun}/${previousNodeOutput}/${previousNode}`;
	const runs = agents.map((name) => ({ name, count: completedRuns(context, name) }));
	// Agents without a run don't count, so adding one to the workflow before a retry changes nothing.
	const counts = runs.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`);
	return ['agent', before, ...counts.sort()].join('/');
}

/** All agents from this node on. Agents that are tools themselves are excluded. */
function agentsFrom(context: IExecuteFunctions, start: string): string[] {
	const connectionType = NodeConnectionTypes.AiTool;
	const after = orEmpty(() => context.getChildNodes(start));
	return uniq([start, ...after.map(({ name }) => name)]).filter(
		(name) => orEmpty(() => context.getParentNodes(name, { connectionType, depth: 1 })).length > 0,
	);
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
	// Two closing braces in the name would end the expression.
	const quoted = JSON.stringify(name).replaceAll('}', '\\u007d');
	const lastRun = context.evaluateExpression(`{{ $node[${quoted}].runIndex }}`, 0);
	return typeof lastRun === 'number' ? lastRun + 1 : 0;
}

/**
 * The ID of the MCP session, for a request of an MCP client. Empty if the MCP Server Trigger doesn't pass it on (before
 * version 2.1, and over SSE). Undefined for other executions. Tool requests of MCP clients have no execution, so their
 * records are stored by session.
 */
export function mcpSessionOf(context: IExecuteFunctions): string | undefined {
	// An agent's input is from a node. The input of the MCP Server Trigger is from an HTTP request.
	const isRequest = isToolExecution(context) && context.getExecuteData().source === null;
	if (!isRequest) return undefined;
	const session: unknown = context.evaluateExpression(
		'{{ $json.headers?.["mcp-session-id"] ?? "" }}',
		0,
	);
	return typeof session === 'string' ? session : '';
}

/** The input without the tool call ID that an AI agent adds, because it isn't a column of the row. */
export function inputRows(context: IExecuteFunctions): INodeExecutionData[] {
	const items = context.getInputData();
	if (!runsAsTool(context)) return items;
	return items.map((item) => ({ ...item, json: omit(item.json, 'toolCallId') }));
}

/** A request that a tool has completed, for its result. */
export type CompletedRequest = {
	output: INodeExecutionData[];
	/** Whether an earlier tool request completed it. */
	isReplay: boolean;
	/** Whether the same request may be repeated, such as a chat message. */
	repeatable: boolean;
	/** Whether it stopped before the end. `output` then shows what was completed and what wasn't. */
	isPartial?: boolean;
};

/**
 * Times in milliseconds. A client of the MCP Server Trigger stops waiting for a tool after 60 seconds, and the result
 * would then be lost. So every tool ends before that.
 */
export const TOOL_LIMITS = {
	/** The limit for a tool request. */
	wholeMs: 50_000,
	/** The limit for waits, such as for the end of a call, or for the acknowledgement of a chat message. */
	waitMs: 45_000,
	/** After the limit, the time to report how far the request got. */
	graceMs: 3_000,
};

/** When a tool must return. `at` is in milliseconds of the clock's `elapsed()`. */
export type Deadline = { at: number; signal: AbortSignal };

/** What one run of a tool has done, for its result, and when it must return. */
type ToolRun = {
	completed?: CompletedRequest;
	/** What happened, if the tool only reads. */
	readSummary?: string;
	deadline?: Deadline;
};

const toolRuns = new WeakMap<object, ToolRun>();

/** Empty until something is noted. Only a run as a tool reads it. */
export function toolRunOf(context: object): Readonly<ToolRun> {
	return toolRuns.get(context) ?? {};
}

export function noteToolRun(context: object, more: ToolRun): void {
	toolRuns.set(context, { ...toolRunOf(context), ...more });
}

export function noteCompleted(context: IExecuteFunctions, completed: CompletedRequest): void {
	noteToolRun(context, { completed });
}

/**
 * Marks the tool as one that only reads.
 *
 * @param readSummary what happened, for the result, if it succeeds
 */
export function noteReadOnly(context: IExecuteFunctions, readSummary = 'The data was read.'): void {
	noteToolRun(context, { readSummary });
}

/** A time limit, capped if the node runs as a tool. */
export function capInTools(context: IExecuteFunctions, ms: number): number {
	return runsAsTool(context) ? Math.min(ms, TOOL_LIMITS.waitMs) : ms;
}
