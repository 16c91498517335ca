import { NodeOperationError } from 'n8n-workflow';
import { asCanceled, cancellableSleep, stopped } from '../../../../../nodes/shared/n8n/run/cancel';
import { executeContext, makeNode, setupEngine } from '../../../../engine';

beforeAll(async () => {
	await setupEngine();
});

const contextWith = (signal?: AbortSignal) =>
	executeContext(makeNode({ type: 'test.sink' }), [{ json: {} }], { signal });

test('sleeps its time', async () => {
	const before = Date.now();
	await cancellableSleep(contextWith(new AbortController().signal))(30);
	expect(Date.now() - before).toBeGreaterThanOrEqual(29);
	await cancellableSleep(contextWith())(1);
});

describe('when the person stops the execution', () => {
	const STOPPED = 'The execution was canceled';

	/** On a clock that stands still: only the abort can end a sleep. */
	function beginning() {
		const controller = new AbortController();
		const context = contextWith(controller.signal);
		jest.useFakeTimers();
		return { controller, sleep: cancellableSleep(context) };
	}
	afterEach(() => {
		jest.useRealTimers();
	});

	test('a sleep under way ends at once, and its timer is gone a second later', async () => {
		const { controller, sleep } = beginning();
		const asleep = sleep(60_000);
		expect(jest.getTimerCount()).toBe(1);
		controller.abort();
		await expect(asleep).rejects.toThrow(STOPPED);
		await jest.advanceTimersByTimeAsync(1_000);
		expect(jest.getTimerCount()).toBe(0);
	});

	test('no further sleep begins', async () => {
		const { controller, sleep } = beginning();
		controller.abort();
		await expect(sleep(60_000)).rejects.toThrow(STOPPED);
		expect(jest.getTimerCount()).toBe(0);
	});
});

describe('what a stopped execution ends with', () => {
	const context = contextWith();

	test('is canceled, and says what broke off', () => {
		const error = new NodeOperationError(context.getNode(), 'The connection was lost', {
			description: 'Look at the conversation',
		});
		const canceled = asCanceled(context, error);
		expect(canceled.message).toBe('The execution was canceled');
		expect(canceled.description).toBe('The connection was lost. Look at the conversation.');
	});

	test.each([undefined, null])('says no more than there is: a description that is %s', (none) => {
		const error = new NodeOperationError(context.getNode(), 'The connection was lost');
		error.description = none;
		expect(asCanceled(context, error).description).toBe('The connection was lost.');
	});

	test('stays as it is where it is canceled already', () => {
		const error = stopped(context);
		expect(asCanceled(context, error)).toBe(error);
	});
});
