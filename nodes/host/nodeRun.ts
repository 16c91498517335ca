import compact from 'lodash/compact';
import isObject from 'lodash/isObject';
import type { IExecuteFunctions, IRunExecutionData, ISourceData } from 'n8n-workflow';

/** Identifies a node in all workflows. */
export function nodeKey(context: Pick<IExecuteFunctions, 'getWorkflow' | 'getNode'>): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** The run of the node, as in a loop, from 0. */
export function runIndexOf(context: IExecuteFunctions): number {
	return Number(context.getWorkflowDataProxy(0).$runIndex);
}

/** What n8n has of the running execution. No public function returns it. Undefined if this n8n doesn't show it. */
type ExecutionData = Pick<IRunExecutionData, 'startData' | 'resultData' | 'parentExecution'>;

export function executionDataOf(context: IExecuteFunctions): ExecutionData | undefined {
	const data: unknown = 'runExecutionData' in context ? context.runExecutionData : undefined;
	return isExecutionData(data) ? data : undefined;
}

function isExecutionData(data: unknown): data is ExecutionData {
	return isObject(data) && 'resultData' in data && isObject(data.resultData);
}

/**
 * Whether an earlier run of the node led to this one: in a loop, the nodes between them lead back. n8n also runs a node once
 * for each connected output before it, and these runs don't lead to each other.
 *
 * @param earlier the index of the earlier run, from 0
 */
export function followsRun(context: IExecuteFunctions, earlier: number): boolean {
	const { name } = context.getNode();
	const runData = executionDataOf(context)?.resultData.runData ?? {};
	const sources: Array<ISourceData | null> = [...(context.getExecuteData().source?.main ?? [])];
	const seen = new Set<string>();
	// Grows while it's read.
	for (const source of sources) {
		if (source === null) continue;
		const { previousNode, previousNodeRun = 0 } = source;
		if (previousNode === name && previousNodeRun <= earlier) {
			if (previousNodeRun === earlier) return true;
			continue;
		}
		const run = `${previousNodeRun} ${previousNode}`;
		if (seen.has(run)) continue;
		seen.add(run);
		sources.push(...compact(runData[previousNode]?.[previousNodeRun]?.source));
	}
	return false;
}

/** A text in an expression. Two closing braces in it would end the expression. */
export function inExpression(text: string): string {
	return JSON.stringify(text).replaceAll('}', '\\u007d');
}
