import { Container } from '@n8n/di';
import { parse, stringify } from 'flatted';
import {
	ExecuteContext,
	ExecutionLifecycleHooks,
	InstanceSettings,
	LoadOptionsContext,
	WorkflowExecute,
} from 'n8n-core';
import {
	createRunExecutionData,
	LoggerProxy,
	NodeConnectionTypes,
	Workflow,
	type IConnections,
	type IExecuteData,
	type INode,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeParameters,
	type IRun,
	type IRunExecutionData,
	type ITaskData,
	type IWorkflowBase,
	type IWorkflowExecuteAdditionalData,
	type IWorkflowSettings,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import mapValues from 'lodash/mapValues';
import { z } from 'zod';
import { until } from '../n8n/until';
import { storedCredentials } from './credentialsHelper';
import { Deduplicator } from './deduplicator';
import { nodeTypes } from './nodeTypes';
import { loader } from './sourceLoader';
import { isObject } from './isObject';

const noop = () => {};
LoggerProxy.init({ error: noop, warn: noop, info: noop, debug: noop });

/** Call it in `beforeAll` of a test file: sets up instance settings and n8n's store. */
export function setupEngine(store = new Deduplicator()): void {
	store.install();
	Container.get(InstanceSettings).markAsLeader();
}

/** Call it in `beforeAll` of a test file that needs all nodes and their descriptions (`loader.types`). */
export function setupAllNodes(): void {
	setupEngine();
	loader.loadEveryNode();
}

export type AdditionalData = IWorkflowExecuteAdditionalData & { hooks: ExecutionLifecycleHooks };

let executions = 0;

export function makeAdditionalData(
	mode: WorkflowExecuteMode = 'manual',
	overrides: Partial<IWorkflowExecuteAdditionalData> = {},
): AdditionalData {
	const base = 'http://localhost:5678';
	const executionId = `exec-${++executions}`;
	return z.custom<AdditionalData>(isObject).parse({
		credentialsHelper: storedCredentials,
		currentNodeExecutionIndex: 0,
		executionId,
		variables: {},
		restApiUrl: `${base}/rest`,
		instanceBaseUrl: `${base}/`,
		webhookBaseUrl: `${base}/webhook`,
		webhookTestBaseUrl: `${base}/webhook-test`,
		webhookWaitingBaseUrl: `${base}/webhook-waiting`,
		formWaitingBaseUrl: `${base}/form-waiting`,
		setExecutionStatus: noop,
		sendDataToUI: noop,
		logAiEvent: noop,
		hooks: new ExecutionLifecycleHooks(
			mode,
			executionId,
			z.custom<IWorkflowBase>(isObject).parse({}),
		),
		...overrides,
	});
}

export function makeNode(overrides: Partial<INode> & Pick<INode, 'type'>): INode {
	const name = overrides.name ?? 'Node';
	const parameters = withLocators(overrides.type, overrides.parameters ?? {});
	const typeVersion = Number(nodeTypes.getByNameAndVersion(overrides.type).description.version);
	return { id: `id-${name}`, name, typeVersion, position: [0, 0], ...overrides, parameters };
}

/** As the editor stores a field that can be selected from a list or entered by ID. */
function withLocators(type: string, parameters: INodeParameters): INodeParameters {
	const { properties } = nodeTypes.getByNameAndVersion(type).description;
	const isLocator = (name: string) =>
		properties.some((property) => property.name === name && property.type === 'resourceLocator');
	return mapValues(parameters, (value, name) =>
		isLocator(name) && (typeof value === 'string' || typeof value === 'number')
			? { __rl: true, mode: 'id', value }
			: value,
	);
}

export function makeWorkflow(
	nodes: INode[],
	connections: IConnections = {},
	settings: IWorkflowSettings = {},
): Workflow {
	return new Workflow({
		id: 'wf-1',
		name: 'Test',
		nodes,
		connections,
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1', ...settings },
	});
}

const to = (node: string) => ({ node, type: NodeConnectionTypes.Main, index: 0 });

/** Start → node, and output i of the node → sinks[i]. */
export function oneNodeWorkflow(
	node: INode,
	sinks: string[] = [],
	settings: IWorkflowSettings = {},
): { workflow: Workflow; start: INode } {
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const sinkNodes = sinks.map((name) => makeNode({ type: 'test.sink', name }));
	const connections = {
		Start: { main: [[to(node.name)]] },
		[node.name]: { main: sinks.map((name) => [to(name)]) },
	};
	return { workflow: makeWorkflow([start, node, ...sinkNodes], connections, settings), start };
}

/** Start → node by two connections, so that n8n runs the node twice. */
export function inTwoBranches(node: INode): ReturnType<typeof oneNodeWorkflow> {
	const start = makeNode({ type: 'test.start', name: 'Start' });
	const connections = { Start: { main: [[to(node.name), to(node.name)]] } };
	return { workflow: makeWorkflow([start, node], connections), start };
}

/** Runs one node on the input through the real `WorkflowExecute`. */
export async function runNode(
	node: INode,
	input: INodeExecutionData[],
	sinks: string[] = [],
	settings: IWorkflowSettings = {},
): Promise<IRun> {
	const { workflow, start } = oneNodeWorkflow(node, sinks, settings);
	return await runWorkflow(workflow, start, input);
}

/** A running workflow. `cancel()` does what n8n's Stop does. */
export type Execution = ReturnType<WorkflowExecute['processRunExecutionData']>;

/** Starts one node on the input. */
export function startNode(node: INode, input: INodeExecutionData[]): Execution {
	const { workflow, start } = oneNodeWorkflow(node);
	return startExecution(workflow, runDataOf(start, input));
}

/** Starts an execution, or continues from stored run data. */
export function startExecution(
	workflow: Workflow,
	data: IRunExecutionData,
	mode: WorkflowExecuteMode = 'trigger',
): Execution {
	const additionalData = makeAdditionalData(mode);
	const { executionData } = data;
	if (executionData !== undefined)
		executionData.runtimeData ??= { version: 1, establishedAt: nextStart(), source: 'trigger' };
	return new WorkflowExecute(additionalData, mode, data).processRunExecutionData(workflow);
}

let latestStart = 0;

/** Another millisecond for each execution, because those of the same one share their claims. */
function nextStart(): number {
	latestStart = Math.max(latestStart + 1, Date.now());
	return latestStart;
}

/** The result of a node in an execution that the test stops. The node ends after its execution. */
export async function stoppedResult(execution: Execution, node = 'Node'): Promise<ITaskData> {
	const { data } = await execution;
	const result = () => data.resultData.runData[node]?.at(-1);
	return await until('the end of the node', () => result(), {
		every: 5,
	});
}

export async function runWorkflow(
	workflow: Workflow,
	start: INode,
	input: INodeExecutionData[],
	mode: WorkflowExecuteMode = 'trigger',
): Promise<IRun> {
	return await resume(workflow, runDataOf(start, input), mode);
}

export function runDataOf(start: INode, input: INodeExecutionData[]): IRunExecutionData {
	return createRunExecutionData({
		startData: {},
		resultData: { runData: {} },
		executionData: {
			nodeExecutionStack: [{ node: start, data: { main: [input] }, source: null }],
		},
	});
}

/** Continues from stored run data, as n8n does when a waiting execution is due. */
export async function resume(
	workflow: Workflow,
	data: IRunExecutionData,
	mode: WorkflowExecuteMode = 'trigger',
): Promise<IRun> {
	return await startExecution(workflow, data, mode);
}

/** A copy of the data after n8n has written it to its database and read it back. */
export function storedCopy(data: IRunExecutionData): IRunExecutionData {
	return z.custom<IRunExecutionData>(isObject).parse(parse(stringify(data)));
}

/**
 * Does what *Retry* in n8n's list of executions does: continues from the stored data of a failed execution,
 * with the nodes of the given workflow, which may be the original or the current one.
 */
export async function retryFailed(failed: Pick<IRun, 'data'>, workflow: Workflow): Promise<IRun> {
	return await resume(workflow, dataOfRetry(failed, workflow), 'retry');
}

function dataOfRetry({ data: failed }: Pick<IRun, 'data'>, workflow: Workflow): IRunExecutionData {
	const data = storedCopy(failed);
	delete data.resultData.error;
	const lastRuns = data.resultData.runData[data.resultData.lastNodeExecuted ?? ''] ?? [];
	if (lastRuns.at(-1)?.error !== undefined) lastRuns.pop();
	for (const entry of data.executionData?.nodeExecutionStack ?? []) {
		const node = workflow.getNode(entry.node.name);
		if (node !== null) entry.node = node;
	}
	return data;
}

/**
 * Runs an execution during which n8n is killed, so nothing that its nodes save is stored.
 *
 * @param startedAt epoch milliseconds
 * @returns the data that n8n stored at the start
 */
export async function runKilled(
	workflow: Workflow,
	start: INode,
	input: INodeExecutionData[],
	startedAt = Date.now(),
): Promise<IRunExecutionData> {
	const data = runDataOf(start, input);
	const { executionData } = data;
	if (executionData === undefined) throw new Error('nothing to execute');
	executionData.runtimeData = { version: 1, establishedAt: startedAt, source: 'trigger' };
	const initialData = storedCopy(data);
	await runUntilKilled(workflow, data, 'trigger');
	return initialData;
}

/**
 * Runs a node once for each list of items. n8n is killed during the run after the first `kept` ones.
 *
 * @param startedAt epoch milliseconds
 * @returns the data that n8n stored with *Save execution progress*
 */
export async function runKilledAfter(
	workflow: Workflow,
	name: string,
	runs: INodeExecutionData[][],
	kept: number,
	startedAt = Date.now(),
): Promise<IRunExecutionData> {
	const node = workflow.getNode(name);
	if (node === null) throw new Error(`no node ${name}`);
	const data = runDataOf(node, []);
	const { executionData } = data;
	if (executionData === undefined) throw new Error('nothing to execute');
	executionData.nodeExecutionStack = runs.map((items) => ({
		node,
		data: { main: [items] },
		source: null,
	}));
	executionData.runtimeData = { version: 1, establishedAt: startedAt, source: 'trigger' };
	const later = executionData.nodeExecutionStack.splice(kept + 1);
	const additionalData = makeAdditionalData('trigger');
	let saved: IRunExecutionData | undefined;
	additionalData.hooks.addHandler('nodeExecuteAfter', async () => {
		await Promise.resolve();
		if (data.resultData.runData[name]?.length === kept) saved = storedCopy(data);
	});
	jest.spyOn(additionalData.hooks, 'addHandler').mockReturnValue(undefined);
	await new WorkflowExecute(additionalData, 'trigger', data).processRunExecutionData(workflow);
	saved?.executionData?.nodeExecutionStack.push(...later);
	if (saved === undefined) throw new Error('nothing was stored');
	return saved;
}

/** Retries a failed execution. n8n is killed during the retry, so nothing of it is stored. */
export async function retryKilled(failed: Pick<IRun, 'data'>, workflow: Workflow): Promise<void> {
	await runUntilKilled(workflow, dataOfRetry(failed, workflow), 'retry');
}

async function runUntilKilled(
	workflow: Workflow,
	data: IRunExecutionData,
	mode: WorkflowExecuteMode,
): Promise<void> {
	const additionalData = makeAdditionalData(mode);
	jest.spyOn(additionalData.hooks, 'addHandler').mockReturnValue(undefined);
	await new WorkflowExecute(additionalData, mode, data).processRunExecutionData(workflow);
}

/** The context of a node's `execute()`, with n8n's own code for parameters, stored data, and Stop. */
export function executeContext(
	node: INode,
	items: INodeExecutionData[],
	{
		mode = 'trigger',
		workflow = makeWorkflow([node]),
		additionalData = makeAdditionalData(mode),
		data = createRunExecutionData({ executionData: {} }),
		run = 0,
		task = {},
		signal,
	}: {
		mode?: WorkflowExecuteMode;
		workflow?: Workflow;
		additionalData?: IWorkflowExecuteAdditionalData;
		data?: IRunExecutionData;
		run?: number;
		/** The source of the items. */
		task?: Partial<IExecuteData>;
		signal?: AbortSignal | undefined;
	} = {},
): ExecuteContext {
	const input = { main: [items] };
	const executeData = { node, data: input, source: null, ...task };
	return new ExecuteContext(
		workflow,
		node,
		additionalData,
		mode,
		data,
		run,
		items,
		input,
		executeData,
		[],
		signal,
	);
}

/** The return value of `execute()`, before the engine fills in a missing `pairedItem`. */
export async function executeRaw(node: INode, input: INodeExecutionData[]): Promise<unknown> {
	const context = executeContext(node, input);
	return await nodeTypes.getByNameAndVersion(node.type, node.typeVersion).execute?.call(context);
}

/** The list of a resource locator, as the editor shows it. */
export async function searchList(
	node: INode,
	method: string,
	filter?: string,
): Promise<INodeListSearchResult> {
	const context = new LoadOptionsContext(
		makeWorkflow([node]),
		node,
		makeAdditionalData('internal'),
		'',
	);
	const search = nodeTypes.getByNameAndVersion(node.type).methods?.listSearch?.[method];
	if (search === undefined) throw new Error(`${node.type} has no list ${method}`);
	return await search.call(context, filter);
}

/** The items of one output of a node's last run. */
export function output(run: IRun, node: string, index = 0): INodeExecutionData[] {
	return run.data.resultData.runData[node]?.at(-1)?.data?.main?.[index] ?? [];
}

/** The records of one output of a node's last run. */
export const records = (run: IRun, node = 'Node', index = 0) =>
	output(run, node, index).map(({ json }) => json);

/** The hints of a node's last run. */
export const hintsOf = (run: IRun, node = 'Node') =>
	(run.data.resultData.runData[node]?.at(-1)?.hints ?? []).map(({ message }) => message);
