import { randomUUID } from 'node:crypto';
import compact from 'lodash/compact';
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
	type NodeConnectionType,
	type Workflow,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { executeContext, makeAdditionalData, makeNode, makeWorkflow } from './engine';
import { nodeTypes } from './nodeTypes';

const OUTPUTS = z.array(z.array(z.custom<INodeExecutionData>()));

/** A model's tool request. Returns the one item that the model gets. */
export type CallTool = (args?: IDataObject) => Promise<IDataObject>;

export type AgentRun = {
	/** The row of the agent's input that asks. */
	row?: IDataObject;
	/** The agent's input. */
	rows?: IDataObject[];
	/** The index of the agent run, in a loop. */
	run?: number;
	/** The row to which n8n resolves `$('Row').item`. n8n 2.41 always takes the first one. */
	resolved?: number;
	/** The run data. Tool requests that share it belong to one execution. */
	data?: IRunExecutionData;
	/** Of an execution that was stored while it waited, as its data is a copy then. */
	executionId?: string;
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

const executionIds = new WeakMap<IRunExecutionData, string>();

function executionIdOf(data: IRunExecutionData): string {
	const id = executionIds.get(data) ?? randomUUID();
	executionIds.set(data, id);
	return id;
}

/** Rows → Agent, which has the tool. */
function agentWorkflow(tool: INode): Workflow {
	const [rows, agent] = ['Row', 'Agent'].map((name) => makeNode({ type: 'test.sink', name }));
	const to = (type: NodeConnectionType) => ({ [type]: [[{ node: 'Agent', type, index: 0 }]] });
	const connections = {
		Row: to(NodeConnectionTypes.Main),
		[tool.name]: to(NodeConnectionTypes.AiTool),
	};
	return makeWorkflow(compact([rows, agent, tool]), connections);
}

/** Records the rows, and the earlier runs of the agent, which returned them. */
function recordRows(
	{ resultData: { runData } }: IRunExecutionData,
	rows: IDataObject[],
	run: number,
) {
	const main = [rows.map((json) => ({ json, pairedItem: { item: 0 } }))];
	const ran = { startTime: 0, executionIndex: 0, executionTime: 0, source: [], data: { main } };
	runData.Row = [...Array(run + 1).keys()].map(() => ran);
	runData.Agent = [...Array(run).keys()].map(() => ran);
}

/** AI Agent 3: the engine runs the tool like any node, on the agent's item merged with the model's arguments. */
export function engineTool(
	plain: INode,
	{
		row = {},
		rows = [row],
		run = 0,
		resolved = 0,
		data = newExecutionData(),
		executionId = executionIdOf(data),
		mode = 'trigger',
	}: AgentRun = {},
): CallTool {
	const node = toolOf(plain);
	const workflow = agentWorkflow(node);
	const additionalData = makeAdditionalData(mode, { executionId });
	let runs = 0;
	return async (args = {}) => {
		recordRows(data, rows, run);
		recordArguments(data, node, runs, args);
		// In later runs of an agent, n8n names its first run as the source.
		const source = { previousNode: run === 0 ? 'Row' : 'Agent', previousNodeRun: 0 };
		const json = { ...row, ...args, toolCallId: randomUUID() };
		const input = [{ json, pairedItem: { item: resolved, sourceOverwrite: source } }];
		const task = {
			source: { main: [{ previousNode: 'Agent', previousNodeRun: run }] },
			metadata: { preserveSourceOverwrite: true, preservedSourceOverwrite: source },
		};
		const context = { mode, additionalData, data, run: runs++, task, workflow };
		return await resultOf(node, executeContext(node, input, context));
	};
}

/** AI Agent 2 and earlier: the agent runs the tool itself, with the arguments as its input. */
export function inlineTool(
	plain: INode,
	{
		row = {},
		rows = [row],
		run = 0,
		data = newExecutionData(),
		executionId = executionIdOf(data),
	}: AgentRun = {},
): CallTool {
	const agent = makeNode({ type: 'test.sink', name: 'Agent' });
	const main = [rows.map((json) => ({ json }))];
	const source = { main: [{ previousNode: 'Row', previousNodeRun: run }] };
	const node = toolOf(plain);
	const task = { node: agent, data: { main }, source };
	let runs = 0;
	return async (args = {}) =>
		await resultOf(node, inlineContext(node, data, executionId, task, runs++, args));
}

/** MCP Server Trigger in queue mode: each request has its own ID and empty execution data, and may have no session ID. */
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
	return inlineContext(node, createEmptyRunExecutionData(), randomUUID(), task, 0, args);
}

function inlineContext(
	node: INode,
	data: IRunExecutionData,
	executionId: string,
	task: IExecuteData,
	run: number,
	args: IDataObject,
): IExecuteFunctions {
	recordArguments(data, node, run, args);
	const context = new SupplyDataContext(
		makeWorkflow([node]),
		node,
		makeAdditionalData('trigger', { executionId }),
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
