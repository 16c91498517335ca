import { NodeOperationError } from 'n8n-workflow';
import {
	asCanceled,
	cancellableSleep,
	canceledError,
	WHY_CANCELED,
} from '../../../../../nodes/shared/n8n/run/cancel';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { executeContext, makeNode, setupEngine } from '../../../../engine';

beforeAll(async () => {
	await setupEngine();
});

const contextWith = (signal?: AbortSignal) =>
	executeContext(makeNode({ type: 'test.sink' }), [{ json: {} }], { signal });

describe('when the execution is stopped', () => {
	const STOPPED = 'The execution was canceled';

	/** The clock doesn't advance, so only the abort can end a wait. */
	function beginning() {
		const controller = new AbortController();
		const context = contextWith(controller.signal);
		jest.useFakeTimers();
		return { controller, sleep: cancellableSleep(context) };
	}
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});

	test('a wait ends immediately, and its timer is gone a second later', async () => {
		const { controller, sleep } = beginning();
		// Not all timers, because n8n's libraries have some.
		const sleeps = jest.spyOn(clock, 'sleep');
		const waiting = sleep(60_000);
		controller.abort();
		await expect(waiting).rejects.toThrow(STOPPED);
		await jest.advanceTimersByTimeAsync(1_000);
		const results: Array<{ value: unknown }> = sleeps.mock.results;
		await Promise.all(results.map(({ value }) => value));
		expect(sleeps).toHaveBeenCalledTimes(1);
	});
});

describe('the error of a stopped execution', () => {
	const context = contextWith();

	test.each([undefined, null])('leaves out a description that is %s', (empty) => {
		const error = new NodeOperationError(context.getNode(), 'The connection was lost');
		error.description = empty;
		expect(asCanceled(context, error).description).toBe(`${WHY_CANCELED} The connection was lost.`);
	});

	test('stays unchanged if it is canceled already', () => {
		const error = canceledError(context);
		expect(asCanceled(context, error)).toBe(error);
	});
});
