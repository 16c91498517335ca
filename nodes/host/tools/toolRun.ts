import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Explanation } from '../../core/service/resolution';
import type { AskingRow } from './askingRow';

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
export function isHumanReview(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('HitlTool');
}

/** Whether such a node returns its errors as output. Otherwise, n8n would tell the model that the person rejected. */
export function returnsErrorsToReview(context: IExecuteFunctions): boolean {
	return isHumanReview(context) && context.getNode().onError !== 'stopWorkflow';
}

/** Whether an agent uses the node, as a tool or to ask a person. Errors then go to it, in a format of their own. */
export function isUsedByAgent(context: IExecuteFunctions): boolean {
	return runsAsTool(context) || isHumanReview(context);
}

/** n8n 1 doesn't have this function. There, only the node type shows a tool. */
export function isToolExecution(context: IExecuteFunctions): boolean {
	return 'isToolExecution' in context && context.isToolExecution();
}

/** A request that a tool has completed, for its result. */
export type CompletedRequest = {
	output: INodeExecutionData[];
	happened: string;
	/** Undefined if nothing more is to do for it. */
	nextStep?: string | undefined;
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
	askingRow?: AskingRow;
	/** What the result must say besides, such as that a list isn't whole. */
	hints?: Explanation[];
};

const toolRuns = new WeakMap<object, ToolRun>();

/** Empty until something is noted. */
export function toolRunOf(context: object): Readonly<ToolRun> {
	return toolRuns.get(context) ?? {};
}

export function setToolRun(context: object, more: ToolRun): void {
	toolRuns.set(context, { ...toolRunOf(context), ...more });
}

/** Of the requests for several agents, the last one stands for all. */
export function setCompleted(context: IExecuteFunctions, completed: CompletedRequest): void {
	const isReplay = completed.isReplay && toolRunOf(context).completed?.isReplay !== false;
	setToolRun(context, { completed: { ...completed, isReplay } });
}

/** Notes that other requests than the completed ones failed. */
export function setPartly(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	rejected: string[],
): void {
	const { completed } = toolRunOf(context);
	if (completed === undefined) return;
	const output = [{ json: { completed: items.map(({ json }) => json), rejected } }];
	setToolRun(context, { completed: { ...completed, output, isPartial: true } });
}

/**
 * Marks the tool as one that only reads.
 *
 * @param readSummary what happened, for the result, if it succeeds
 */
export function setReadOnly(context: IExecuteFunctions, readSummary = 'The data was read.'): void {
	setToolRun(context, { readSummary });
}

/** A time limit, capped if the node runs as a tool. */
export function capInTools(context: IExecuteFunctions, ms: number): number {
	return runsAsTool(context) ? Math.min(ms, TOOL_LIMITS.waitMs) : ms;
}
