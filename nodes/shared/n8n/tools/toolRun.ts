import omit from 'lodash/omit';
import uniq from 'lodash/uniq';
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

/**
 * Whether the node runs as a tool of an AI agent or an MCP client. The MCP Server Trigger and older
 * agents call it themselves; newer agents ask the engine to run it like any node, and only the type
 * tells, because n8n derives `placeCallTool` from `placeCall`. (`placeCallHitlTool` asks a person
 * for approval and answers n8n, not a model.)
 */
export function runsAsTool(context: IExecuteFunctions): boolean {
	if (isHumanReview(context)) return false;
	return isToolExecution(context) || context.getNode().type.endsWith('Tool');
}

/** Whether the node asks a person whether an AI agent may use one of its tools. */
export function isHumanReview(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('HitlTool');
}

/** Whether such a node answers in any case, because n8n would tell the model that the person rejected. */
export function answersReview(context: IExecuteFunctions): boolean {
	return isHumanReview(context) && context.getNode().onError !== 'stopWorkflow';
}

/** Whether what went wrong is told to an agent, in an answer of a form of its own. */
export function answersAgent(context: IExecuteFunctions): boolean {
	return runsAsTool(context) || isHumanReview(context);
}

/** n8n 1 does not say it: there a tool is known by its type alone. */
function isToolExecution(context: IExecuteFunctions): boolean {
	return 'isToolExecution' in context && context.isToolExecution();
}

/**
 * What stays the same while one agent works on one input, whichever way it calls its tools, and
 * differs in the next round of a loop and for another agent.
 *
 * n8n tells a tool neither the agent nor its run if a person reviews the request in between. It does tell which node
 * came before the agent, or the agent itself in its later runs. Agents run one after another, so how often each agent
 * from there on has run is the same during one run, and is another afterwards.
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
	// An agent that is added to the workflow before a retry makes no difference.
	const counts = runs.filter(({ count }) => count > 0).map(({ name, count }) => `${count} ${name}`);
	return ['agent', before, ...counts.sort()].join('/');
}

/** The node, if it is an agent, and all that come after it. One that is itself a tool has no place among them. */
function agentsFrom(context: IExecuteFunctions, start: string): string[] {
	const connectionType = NodeConnectionTypes.AiTool;
	const after = found(() => context.getChildNodes(start));
	return uniq([start, ...after.map(({ name }) => name)]).filter(
		(name) => found(() => context.getParentNodes(name, { connectionType, depth: 1 })).length > 0,
	);
}

/** n8n throws where a connection leads to a node that the workflow doesn't have. */
function found(search: () => NodeTypeAndVersion[]): NodeTypeAndVersion[] {
	try {
		return search();
	} catch {
		return [];
	}
}

function completedRuns(context: IExecuteFunctions, name: string): number {
	// Two braces in the name would end the expression.
	const quoted = JSON.stringify(name).replaceAll('}', '\\u007d');
	const lastRun = context.evaluateExpression(`{{ $node[${quoted}].runIndex }}`, 0);
	return typeof lastRun === 'number' ? lastRun + 1 : 0;
}

/**
 * The MCP client's session, where the node is called for one; empty where the MCP Server Trigger
 * does not tell it (before version 2.1, and over SSE). Its calls belong to no execution, so what was
 * done is kept under this name.
 */
export function mcpSessionOf(context: IExecuteFunctions): string | undefined {
	// An agent's input comes from a node; that of the MCP Server Trigger comes from a request.
	const isRequest = isToolExecution(context) && context.getExecuteData().source === null;
	if (!isRequest) return undefined;
	const session: unknown = context.evaluateExpression(
		'{{ $json.headers?.["mcp-session-id"] ?? "" }}',
		0,
	);
	return typeof session === 'string' ? session : '';
}

/** The input; an AI agent adds the ID of its own call, which is no column of the row. */
export function inputRows(context: IExecuteFunctions): INodeExecutionData[] {
	const items = context.getInputData();
	if (!runsAsTool(context)) return items;
	return items.map((item) => ({ ...item, json: omit(item.json, 'toolCallId') }));
}

/** What a try of a tool has got done so far, for its answer to the model. */
export type CompletedRequest = {
	output: INodeExecutionData[];
	/** Whether it was done before, by another call of the tool. */
	isReplay: boolean;
	/** Whether the same request again is another one: a chat message may be sent twice. */
	repeatable: boolean;
	/** Whether it stopped before its end: `output` shows what was done and what is left. */
	isPartial?: boolean;
};

const completedRequests = new WeakMap<IExecuteFunctions, CompletedRequest>();

export function noteCompleted(context: IExecuteFunctions, completedText: CompletedRequest): void {
	completedRequests.set(context, completedText);
}

export function completedIn(context: IExecuteFunctions): CompletedRequest | undefined {
	return completedRequests.get(context);
}

const reading = new WeakMap<IExecuteFunctions, string>();

/**
 * From here on the tool changes nothing, whatever goes wrong.
 *
 * @param whatHappened told if it succeeds
 */
export function noteReadOnly(context: IExecuteFunctions, whatHappened = 'It was read.'): void {
	reading.set(context, whatHappened);
}

/** Undefined if the tool changes something, or didn't get far enough to say. */
export function readOf(context: IExecuteFunctions): string | undefined {
	return reading.get(context);
}

export function isReadOnly(context: IExecuteFunctions): boolean {
	return reading.has(context);
}
