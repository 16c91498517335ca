import compact from 'lodash/compact';
import { NodeOperationError, type IExecuteFunctions, type NodeApiError } from 'n8n-workflow';
import { pause } from '../../core/values/clock';
import { asSentence, NotSent } from '../../core/service/errors';
import { clock } from '../clock';
import type { CallerRun } from '../caller/caller';

const CANCELED = 'The execution was canceled';

/**
 * Waits, and throws if the execution is stopped in between.
 *
 * @param doneBefore for the error: what the node did before
 */
export function cancellableSleep(
	run: CallerRun,
	doneBefore?: string,
): (milliseconds: number) => Promise<void> {
	const signal = cancelSignal(run);
	return async (milliseconds) => {
		if (!(await pause(clock, milliseconds, signal))) throw canceledError(run.context, doneBefore);
	};
}

/** Aborted when the execution is stopped, or when a tool reaches its time limit. */
export function cancelSignal({ context, caller }: CallerRun): AbortSignal {
	// Undefined for an execution that can't be stopped.
	const signals = [context.getExecutionCancelSignal(), caller.deadline?.signal];
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Whether n8n has stopped the execution. */
export function isCanceled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}

/** @throws NotSent if n8n has stopped the execution before this item, or the tool has reached its time limit */
export function requireRunning(run: CallerRun): void {
	if (cancelSignal(run).aborted) throw stoppedBeforeItem();
}

export function stoppedBeforeItem(): NotSent {
	return new NotSent(
		'The execution was stopped before this item',
		'Nothing was sent for this item. Run it in a new execution.',
	);
}

/** Ends the work on an item of a stopped execution. `texts` say what the node did before. */
export function canceledError(
	context: IExecuteFunctions,
	...texts: Array<string | null | undefined>
): NodeOperationError {
	const description = compact([WHY_CANCELED, ...texts])
		.map(asSentence)
		.join(' ');
	return new NodeOperationError(context.getNode(), CANCELED, { description });
}

/** n8n doesn't tell a node why it cancels an execution. */
export const WHY_CANCELED = 'A time limit of n8n was reached, or someone stopped the execution.';

/**
 * The final error of a stopped execution. n8n recognizes a canceled execution by this message. With another one, it
 * would run the error workflow.
 */
export function asCanceled(
	context: IExecuteFunctions,
	error: NodeOperationError | NodeApiError,
): NodeOperationError | NodeApiError {
	const isCanceledError = error.message === CANCELED;
	return isCanceledError ? error : canceledError(context, error.message, error.description);
}
