import { randomUUID } from 'node:crypto';
import { SupplyDataContext } from 'n8n-core';
import {
	createEmptyRunExecutionData,
	createRunExecutionData,
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteData,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type IRunExecutionData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { executeContext, makeAdditionalData, makeNode, makeWorkflow } from './engine';
import { nodeTypes } from './nodeTypes';

const OUTPUTS = z.array(z.array(z.custom<INodeExecutionData>()));

/** A model's tool request. Returns the one item that the model gets. */
export type CallTool = (args?: IDataObject) => Promise<IDataObject>;

export type AgentRun = {
	/** The agent's input item. */
	row?: IDataObject;
	/** The index of the agent run, in a loop. */
	run?: number;
	/** The run data. Tool requests that share it belong to one execution. */
	data?: IRunExecutionData;
	mode?: WorkflowExecuteMode;
};

export const newExecutionData = (): IRunExecutionData =>
	createRunExecutionData({ executionData: {} });

/** Records a model's arguments as n8n does, for `$fromAI` to read. */
function recordArguments(
	data: IRunExecutionData,
	node: INode,
	run: number,
	args: IDataObject,
): void {
	const runs = (data.resultData.runData[node.name] ??= []);
	runs[run] = {
		startTime: 0,
		executionIndex: 0,
		executionTime: 0,
		source: [],
		inputOverride: { [NodeConnectionTypes.AiTool]: [[{ json: args }]] },
	};
}

const toolOf = (node: INode): INode => ({ ...node, type: `${node.type}Tool` });
const sourceOf = (run: number) => ({ main: [{ previousNode: 'Row', previousNodeRun: run }] });

/** AI Agent 3: the engine runs the tool like any node, on the agent's item merged with the model's arguments. */
export function engineTool(
	plain: INode,
	{ row = {}, run = 0, data = newExecutionData(), mode = 'trigger' }: AgentRun = {},
): CallTool {
	const node = toolOf(plain);
	let runs = 0;
	return async (args = {}) => {
		recordArguments(data, node, runs, args);
		const input = [{ json: { ...row, ...args, toolCallId: randomUUID() } }];
		const task = { source: sourceOf(run) };
		const context = { mode, data, run: runs++, task };
		return await resultOf(node, executeContext(node, input, context));
	};
}

/** AI Agent 2 and earlier: the agent runs the tool itself, with the arguments as its input. */
export function inlineTool(
	plain: INode,
	{ row = {}, run = 0, data = newExecutionData() }: AgentRun = {},
): CallTool {
	const agent = makeNode({ type: 'test.sink', name: 'Agent' });
	const task = { node: agent, data: { main: [[{ json: row }]] }, source: sourceOf(run) };
	return inline(plain, data, task);
}

/** MCP Server Trigger: each request has its own empty execution data, and may have no session ID. */
export function mcpTool(plain: INode, session?: string): CallTool {
	const node = toolOf(plain);
	return async (args = {}) => await resultOf(node, mcpContext(node, session, args));
}

export function mcpContext(
	node: INode,
	session?: string,
	args: IDataObject = {},
): IExecuteFunctions {
	const headers = session === undefined ? {} : { 'mcp-session-id': session };
	const task = {
		node: makeNode({ type: 'test.start', name: 'MCP' }),
		data: { main: [[{ json: { headers, body: {} } }]] },
		source: null,
	};
	return inlineContext(node, createEmptyRunExecutionData(), task, 0, args);
}

function inline(plain: INode, data: IRunExecutionData, task: IExecuteData): CallTool {
	const node = toolOf(plain);
	let runs = 0;
	return async (args = {}) => await resultOf(node, inlineContext(node, data, task, runs++, args));
}

function inlineContext(
	node: INode,
	data: IRunExecutionData,
	task: IExecuteData,
	run: number,
	args: IDataObject,
): IExecuteFunctions {
	recordArguments(data, node, run, args);
	const context = new SupplyDataContext(
		makeWorkflow([node]),
		node,
		makeAdditionalData('trigger'),
		'trigger',
		data,
		run,
		task.data.main?.[0] ?? [],
		{ [NodeConnectionTypes.AiTool]: [[{ json: args }]] },
		NodeConnectionTypes.AiTool,
		task,
		[],
	);
	// n8n makes the same cast when it runs a node's `execute` as a tool.
	return z.custom<IExecuteFunctions>().parse(context);
}

async function resultOf(node: INode, context: IExecuteFunctions): Promise<IDataObject> {
	const type = nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	const outputs = await type.execute?.call(context);
	const [items = [], ...others] = OUTPUTS.parse(outputs);
	expect(others).toEqual([]);
	expect(items).toHaveLength(1);
	return items[0]?.json ?? {};
}
