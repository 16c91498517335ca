import { randomUUID } from 'node:crypto';
import { WorkflowExecute } from 'n8n-core';
import type { INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { makeAdditionalData, makeWorkflow, nodeTypes, output, triggerContext } from '../../engine';
import { chatHarness, eventually, sessions, typesOf } from '../chatHarness';

const harness = chatHarness('chatEventsTrigger', {});

/** The error that a user gets on activation. */
async function rejection(
	parameters: INodeParameters,
	activation?: WorkflowActivateMode,
): Promise<{ message: string; description: string }> {
	const error = await harness.publish(parameters, activation).then(
		() => undefined,
		(caught: unknown) => caught,
	);
	if (!(error instanceof Error)) throw new Error('It was activated');
	// n8n wraps the message in its own sentence and keeps the description.
	const message = /^There was a problem activating the workflow: "(.*)"$/.exec(error.message)?.[1];
	return {
		message: message ?? '',
		description: 'description' in error ? String(error.description) : '',
	};
}

describe('activating', () => {
	test.each([
		['no session', {}, "'Session IDs' is empty", /In n8n, enter the sessions/],
		[
			'an unknown session',
			{ sessionIds: sessions.unknown },
			/isn't connected: the service didn't find this/,
			/^Check the IDs, .* In n8n, also check 'Base URL'/,
		],
		[
			'an invalid ID',
			{ sessionIds: 'hello' },
			/^'Session IDs' must list session IDs \(got "hello"\)$/,
			/Enter the session_id/,
		],
		[
			'a closed session',
			{ sessionIds: sessions.closed },
			/isn't connected: the chat session is closed/,
			/another session is needed/,
		],
		[
			"two sessions that can't be connected",
			{ sessionIds: [sessions.unknown, sessions.closed].join(' ') },
			"2 chat sessions aren't connected",
			new RegExp(`${sessions.unknown}: .* ${sessions.closed}: The chat session is closed`),
		],
	])('%s: rejected with advice', async (_case, parameters, message, advice) => {
		const error = await rejection(parameters);
		expect(error.message).toMatch(message);
		expect(error.description).toMatch(advice);
		expect(error.description).not.toMatch(/tries again automatically|workflow again/);
		expect(JSON.stringify(error)).not.toContain(harness.simulator().token);
	});

	test('without WebSocket, which older versions of Node.js lack', async () => {
		const { WebSocket } = globalThis;
		Reflect.deleteProperty(globalThis, 'WebSocket');
		const rejected = rejection({ sessionIds: sessions.open });
		const error = await rejected.finally(() => (globalThis.WebSocket = WebSocket));
		expect(error.message).toBe('Live chat needs Node.js 22 or later, so nothing was sent');
		expect(error.description).toMatch(/^In n8n, ask your n8n administrator to update Node\.js, or/);
	});

	test('a list may have duplicates', async () => {
		const ids = [sessions.open, sessions.dormant, sessions.open];
		await harness.publish({ sessionIds: `={{ ${JSON.stringify(ids)} }}` });
		await harness.connected(2);
		expect(harness.simulator().sessions.openSockets(sessions.open)).toBe(1);
	});

	test('an unknown session stops all sessions, and is reported once', async () => {
		const node = await harness.triggerNode({ sessionIds: `${sessions.open}, ${sessions.unknown}` });
		const context = triggerContext(makeWorkflow([node]), node);
		const saved = jest.spyOn(context, 'saveFailedExecution').mockReturnValue();
		const type = nodeTypes.getByNameAndVersion(node.type);
		await expect(type.trigger?.call(context)).rejects.toMatchObject({
			message: expect.stringMatching(`^Chat session ${sessions.unknown} isn't connected: `),
			description: expect.stringContaining('The service said: session_not_found'),
		});
		expect(saved).not.toHaveBeenCalled();
		await harness.connected(0);
	});

	test('names 50 of 60 sessions that are not connected', async () => {
		const sessionIds = Array.from({ length: 60 }, () => randomUUID()).join();
		const { description } = await rejection({ sessionIds });
		expect(description.match(/: The service didn't find/g)).toHaveLength(50);
		expect(description.endsWith(' And 10 more sessions.')).toBe(true);
	});

	test.each(['init', 'leadershipChange'] as const)(
		'%s: no user waits, so a session that is rejected for good is reported once, without further requests',
		async (activation) => {
			const active = await harness.publish({ sessionIds: sessions.unknown }, activation);
			await harness.reported(active);
			expect(active.failed[0]).toMatchObject({
				message: expect.stringContaining(sessions.unknown),
				description: expect.stringMatching(
					/^(?!.*tries again).* Unpublish the workflow, then publish it\. A session that was watched needs /,
				),
			});
			await clock.sleep(100_000);
			expect(harness.simulator().requests).toHaveLength(1);
			expect(active.errors).toEqual([]);
		},
	);
});

describe('losing sessions', () => {
	test('a closed session is only logged', async () => {
		const active = await harness.publish({ sessionIds: sessions.open });
		await harness.connected();
		const node = await harness.triggerNode({});
		const { logger } = triggerContext(active.workflow, node);
		const log = jest.spyOn(logger, 'info');
		harness.simulator().sessions.close(sessions.open);
		await harness.connected(0);
		expect(typesOf(active)).toEqual(['session_closed']);
		await eventually(() => log.mock.calls.length > 1);
		expect(log.mock.calls).toContainEqual([
			"Stopped listening to a chat session, because it's closed",
			{ sessionId: sessions.open },
		]);
		await active.stop();
		expect([...active.errors, ...active.failed]).toEqual([]);
	});
});

describe('listening for a test event in the editor', () => {
	const listen = async (parameters: INodeParameters) => {
		const startNode = await harness.triggerNode(parameters);
		const data = makeAdditionalData('manual');
		return new WorkflowExecute(data, 'manual').run({
			workflow: makeWorkflow([startNode]),
			startNode,
		});
	};

	test('ends at the first event', async () => {
		const listening = listen({ sessionIds: sessions.open });
		await harness.connected();
		harness.simulator().sessions.nudge(sessions.open);
		const run = await listening;
		expect(output(run, 'Trigger').map(({ json }) => json.type)).toEqual(['nudge_sent']);
		await harness.connected(0);
	});

	test("a session that can't be connected ends it with the reason", async () => {
		const run = await listen({ sessionIds: sessions.closed });
		expect(run.data.resultData.error?.message).toMatch(/the chat session is closed/);
	});

	test('a session that is lost after the start ends it with the reason', async () => {
		const listening = listen({ sessionIds: sessions.open });
		await harness.connected();
		// Until the start has ended.
		await clock.sleep(1_000);
		harness.loseForGood(sessions.open);
		const run = await listening;
		expect(run.data.resultData.error).toMatchObject({
			message: expect.stringContaining(`Chat session ${sessions.open} isn't connected: `),
			description: expect.not.stringContaining('publish'),
		});
	});
});
