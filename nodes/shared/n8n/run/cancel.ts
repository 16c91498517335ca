import { NodeOperationError, type IExecuteFunctions, type NodeApiError } from 'n8n-workflow';
import { pause } from '../../clock';
import { asSentence } from '../../api/errors';
import { clock } from '../http/accountClient';
import { deadlineOf } from '../tools/toolDeadline';

const CANCELED = 'The execution was canceled';

/** A sleep that ends when the person stops the execution, so that nothing goes on behind it. */
export function cancellableSleep(
	context: IExecuteFunctions,
): (milliseconds: number) => Promise<void> {
	const signal = cancelSignal(context);
	return async (milliseconds) => {
		if (!(await pause(clock, milliseconds, signal))) throw stopped(context);
	};
}

/** Aborted when the person stops the execution, and when the time of a tool is over. */
export function cancelSignal(context: IExecuteFunctions): AbortSignal {
	// An execution that cannot be stopped has none.
	const signals = [context.getExecutionCancelSignal(), deadlineOf(context)?.signal];
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** What ends the work on an item when the person stops the execution. */
export function stopped(context: IExecuteFunctions): NodeOperationError {
	return new NodeOperationError(context.getNode(), CANCELED);
}

/**
 * What a stopped execution ends with, whatever broke off: n8n takes it for canceled by its words, and for failed
 * otherwise, which would run the error workflow.
 */
export function asCanceled(
	context: IExecuteFunctions,
	error: NodeOperationError | NodeApiError,
): NodeOperationError | NodeApiError {
	if (error.message === CANCELED) return error;
	const known = [error.message, error.description].filter((text) => typeof text === 'string');
	const description = known.map(asSentence).join(' ');
	return new NodeOperationError(context.getNode(), CANCELED, { description });
}
