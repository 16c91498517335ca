import { NodeOperationError, sleep, type IExecuteFunctions } from 'n8n-workflow';

/** A sleep that ends when the person stops the execution, so that nothing goes on behind it. */
export function cancellableSleep(
	context: IExecuteFunctions,
): (milliseconds: number) => Promise<void> {
	const signal = context.getExecutionCancelSignal();
	const stopped = new Promise<void>((resolve) => {
		signal?.addEventListener('abort', () => resolve(), { once: true });
	});
	return async (milliseconds) => {
		await Promise.race([sleep(milliseconds), stopped]);
		if (signal?.aborted === true) {
			throw new NodeOperationError(context.getNode(), 'The execution was stopped while it waited');
		}
	};
}
