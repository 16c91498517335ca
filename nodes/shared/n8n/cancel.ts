import { NodeOperationError, sleep, type IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../service/chatSocket/pause';

const systemClock = { now: () => Date.now(), sleep };

/** A sleep that ends when the person stops the execution, so that nothing goes on behind it. */
export function cancellableSleep(
	context: IExecuteFunctions,
): (milliseconds: number) => Promise<void> {
	// An execution that cannot be stopped has no signal.
	const signal = context.getExecutionCancelSignal() ?? new AbortController().signal;
	return async (milliseconds) => {
		if (!(await pause(systemClock, milliseconds, signal))) throw stopped(context);
	};
}

/** What ends the work on an item when the person stops the execution. */
export function stopped(context: IExecuteFunctions): NodeOperationError {
	return new NodeOperationError(context.getNode(), 'The execution was stopped while it waited');
}
