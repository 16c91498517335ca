import isObject from 'lodash/isObject';
import type { IExecuteFunctions, IRunExecutionData, ITaskData } from 'n8n-workflow';

/** Identifies a node in all workflows. */
export function nodeKey(context: Pick<IExecuteFunctions, 'getWorkflow' | 'getNode'>): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** The run of the node, as in a loop, from 0. */
export function runIndexOf(context: IExecuteFunctions): number {
	return Number(context.getWorkflowDataProxy(0).$runIndex);
}

/**
 * The same run in a retry, from 0. After n8n was killed, it gives a node a run that it has made up, and a retry begins with the
 * next index.
 */
export function runNumberOf(context: IExecuteFunctions): number {
	const index = runIndexOf(context);
	const runs = executionDataOf(context)?.resultData.runData[context.getNode().name] ?? [];
	return index - runs.slice(0, index).filter(isMadeUp).length;
}

function isMadeUp({ executionStatus, data }: ITaskData): boolean {
	const [item] = data?.main?.[0] ?? [];
	return executionStatus === 'crashed' || item?.json.isArtificialRecoveredEventItem === true;
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
