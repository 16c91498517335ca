import omit from 'lodash/omit';
import { NodeConnectionTypes, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';

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
 * differs in the next round of a loop: which run of which node led to the tool.
 */
export function agentRunOf(context: IExecuteFunctions): string {
	const sources = Object.values(context.getExecuteData().source ?? {}).flat();
	const [source] = sources.filter((candidate) => candidate !== null);
	if (source === undefined) return 'agent';
	const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = source;
	const reviewed = isAgent(context, previousNode) ? undefined : lastRunBeforeAgent(context);
	return `agent ${reviewed ?? previousNodeRun}/${previousNodeOutput}/${previousNode}`;
}

/** What asks for a tool has a language model; a human review between the two has none. */
function isAgent(context: IExecuteFunctions, name: string): boolean {
	const connectionType = NodeConnectionTypes.AiLanguageModel;
	return context.getParentNodes(name, { connectionType, depth: 1 }).length > 0;
}

/**
 * Behind a human review n8n counts the reviews in place of the agent's runs. The node before the agent ran once for
 * each of those.
 */
function lastRunBeforeAgent(context: IExecuteFunctions): number | undefined {
	const before = context.getExecuteData().metadata?.preservedSourceOverwrite?.previousNode;
	if (before === undefined) return undefined;
	const run = context.evaluateExpression(`{{ $node[${JSON.stringify(before)}].runIndex }}`, 0);
	return typeof run === 'number' ? run : undefined;
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
export type ToolDeed = {
	output: INodeExecutionData[];
	/** Whether it was done before, by another call of the tool. */
	repeated: boolean;
};

const deeds = new WeakMap<IExecuteFunctions, ToolDeed>();

export function noteDeed(context: IExecuteFunctions, deed: ToolDeed): void {
	deeds.set(context, deed);
}

export function deedOf(context: IExecuteFunctions): ToolDeed | undefined {
	return deeds.get(context);
}
