import { ExecuteContext } from 'n8n-core';
import { createEmptyRunExecutionData } from 'n8n-workflow';
import { cancellableSleep } from '../../../../nodes/shared/n8n/cancel';
import {
	makeAdditionalData,
	makeNode,
	makeWorkflow,
	setupEngine,
	TestCredentialsHelper,
} from '../../../engine';

beforeAll(async () => {
	await setupEngine();
});

function contextWith(signal?: AbortSignal): ExecuteContext {
	const node = makeNode({ type: 'test.sink' });
	const data = { main: [[{ json: {} }]] };
	return new ExecuteContext(
		makeWorkflow([node]),
		node,
		makeAdditionalData(new TestCredentialsHelper()),
		'trigger',
		createEmptyRunExecutionData(),
		0,
		[{ json: {} }],
		data,
		{ node, data, source: null },
		[],
		signal,
	);
}

test('sleeps its time', async () => {
	const before = Date.now();
	await cancellableSleep(contextWith(new AbortController().signal))(30);
	expect(Date.now() - before).toBeGreaterThanOrEqual(29);
	await cancellableSleep(contextWith())(1);
});

test('ends when the person stops the execution, and does not begin after that', async () => {
	const controller = new AbortController();
	const sleep = cancellableSleep(contextWith(controller.signal));
	// A clock that stands still: only the abort can end these sleeps.
	jest.useFakeTimers();
	const asleep = sleep(60_000);
	controller.abort();
	await expect(asleep).rejects.toThrow('The execution was stopped while it waited');
	await expect(sleep(60_000)).rejects.toThrow('The execution was stopped while it waited');
	jest.useRealTimers();
});
