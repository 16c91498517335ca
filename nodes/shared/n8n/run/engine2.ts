import type { IExecuteFunctions, ITriggerFunctions } from 'n8n-workflow';

/** n8n also recognizes an execution on Engine 2.0 by this. The IDs of other executions are numbers. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function isOnEngine2(executionId: string): boolean {
	return UUID.test(executionId);
}

/**
 * Whether the execution runs on n8n's preview Engine 2.0. A node has no workflow settings there, so they can't tell. It
 * also has no cancel signal and no records of earlier runs, and the execution can neither wait nor be retried.
 */
export function runsOnEngine2(context: IExecuteFunctions): boolean {
	return isOnEngine2(context.getExecutionId());
}

/** Whether what a trigger emits runs on Engine 2.0. If n8n hasn't turned it on, nothing runs. */
export function startsOnEngine2(trigger: ITriggerFunctions): boolean {
	return trigger.getWorkflowSettings().engineType === 'v2';
}
