import {
	type IExecuteFunctions,
	type IHookFunctions,
	type IPollFunctions,
	type ITriggerFunctions,
	NodeOperationError,
} from 'n8n-workflow';

/** n8n also recognizes an execution on Engine 2.0 by this. The IDs of other executions are numbers. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Engine 2.0 shows only the message of an error. */
const MESSAGE =
	"This node can't run on Engine 2.0 of n8n, so remove engineType from the settings of the workflow, and of the workflow that starts it";

/**
 * Nothing is sent from n8n's preview Engine 2.0, or from a sub-workflow of a workflow on it. Such an execution can't wait,
 * and a retry of it doesn't know what was sent.
 *
 * @throws NodeOperationError before the node has done anything
 */
export function rejectEngine2(context: IExecuteFunctions): void {
	const ids = [context.getExecutionId(), context.getExecutionContext()?.parentExecutionId];
	if (ids.some((id) => id !== undefined && UUID.test(id))) throw cannotRun(context);
}

/**
 * A trigger isn't published on it. Engine 2.0 doesn't run `execute()` of a trigger, which verifies what it received, and
 * starts no execution whose end a trigger waits for.
 *
 * @throws NodeOperationError if the executions of the trigger would run on Engine 2.0
 */
export function rejectEngine2OfWorkflow(
	context: IHookFunctions | IPollFunctions | ITriggerFunctions,
): void {
	if (context.getWorkflowSettings().engineType === 'v2') throw cannotRun(context);
}

function cannotRun(context: Pick<IExecuteFunctions, 'getNode'>): NodeOperationError {
	return new NodeOperationError(context.getNode(), MESSAGE);
}
