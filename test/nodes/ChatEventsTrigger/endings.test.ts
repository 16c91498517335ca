import { WorkflowExecute } from 'n8n-core';
import type { INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	makeAdditionalData,
	makeWorkflow,
	nodeTypes,
	output,
	speedUp,
	triggerContext,
} from '../../engine';
import { eventually, otherClient } from '../chatHarness';
import { eventsOf, sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();

/** The error that a user gets on activation. */
async function rejection(
	parameters: INodeParameters,
	activation?: WorkflowActivateMode,
): Promise<{ message: string; description: unknown }> {
	const error = await harness.start(parameters, activation).then(
		() => undefined,
		(caught: unknown) => caught,
	);
	if (!(error instanceof Error)) throw new Error('It was activated');
	// n8n wraps the message in its own sentence and keeps the description.
	const message = /^There was a problem activating the workflow: "(.*)"$/.exec(error.message)?.[1];
	return { message: message ?? '', description: 'description' in error ? error.description : '' };
}

describe('activating', () => {
	test.each([
		['no session', {}, "'Session IDs' is empty", /Enter the sessions/],
		[
			'an unknown session',
			{ sessionIds: sessions.unknown },
			/isn't connected: the service didn't find the chat session/,
			/^Check the session ID\. .*'Base URL'.* The sessionId of n8n's Chat Trigger is another ID\./,
		],
		[
			'an invalid ID',
			{ sessionIds: 'hello' },
			/^'Session IDs' must list session IDs \(got "hello"\)$/,
			/Use the/,
		],
		[
			'a closed session',
			{ sessionIds: sessions.closed },
			/isn't connected: the chat session is closed/,
			/use another session/,
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
		expect(error.description).not.toMatch(/tries again automatically/);
		expect(JSON.stringify(error)).not.toContain(harness.service().token);
	});

	test('without WebSocket, which older versions of Node.js lack', async () => {
		const { WebSocket } = globalThis;
		Reflect.deleteProperty(globalThis, 'WebSocket');
		const rejected = rejection({ sessionIds: sessions.open });
		const error = await rejected.finally(() => (globalThis.WebSocket = WebSocket));
		expect(error.message).toBe('Live chat needs Node.js 22 or later, so nothing was sent');
		expect(error.description).toMatch(/^Ask your n8n administrator to update Node\.js\./);
	});

	test('a list may have duplicates', async () => {
		const ids = [sessions.open, sessions.dormant, sessions.open];
		await harness.start({ sessionIds: `={{ ${JSON.stringify(ids)} }}` });
		await harness.connected(2);
		expect(harness.service().sessions.openSockets(sessions.open)).toBe(1);
	});

	test('an unknown session stops all sessions, and is reported once', async () => {
		const node = await harness.node({ sessionIds: `${sessions.open}, ${sessions.unknown}` });
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

	test.each(['activate', 'create', 'update'] as const)(
		'%s: a user sees why a session is not connected, and a later loss is reported',
		async (activation) => {
			const { message } = await rejection({ sessionIds: sessions.unknown }, activation);
			expect(message).toContain(sessions.unknown);
			const active = await harness.start({ sessionIds: sessions.open }, activation);
			await harness.connected();
			harness.loseForGood(sessions.open);
			await eventually(() => active.failed.length === 1);
			expect(active.failed[0]?.message).toContain(sessions.open);
		},
	);

	test.each(['init', 'leadershipChange'] as const)(
		'%s: no user waits, so a session that is rejected for good is reported once, without further requests',
		async (activation) => {
			const active = await harness.start({ sessionIds: sessions.unknown }, activation);
			await eventually(() => active.failed.length === 1);
			expect(active.failed[0]).toMatchObject({
				message: expect.stringContaining(sessions.unknown),
				description: expect.not.stringMatching(/tries again automatically/),
			});
			speedUp(100_000);
			await clock.sleep(100_000);
			expect(harness.service().requests).toHaveLength(1);
			expect(active.errors).toEqual([]);
		},
	);
});

test('with Disconnect Other Connection, it takes the session from the other client', async () => {
	await otherClient(harness.service(), sessions.open);
	await harness.start({ sessionIds: sessions.open, disconnectOther: true });
	const clientIds = () => harness.service().sessions.clientIds(sessions.open);
	await eventually(() => !clientIds().includes('desk'));
	expect(clientIds()).toEqual([expect.stringMatching(/^n8n-[0-9a-f]{32}$/)]);
});

describe('losing sessions', () => {
	test.each([
		[503, /^Chat session .* isn't connected: /],
		[401, /rejected the API token/],
	])('a session that fails with status %i is retried, and reported once', async (...one) => {
		const [status, message] = one;
		const active = await harness.start({ sessionIds: sessions.open });
		await harness.connected();
		speedUp(2_000);
		const { sessions: control, faults, requests } = harness.service();
		faults.respond(/ws_token/, status);
		control.expireTokens();
		control.closeSockets(4401);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]).toMatchObject({
			message: expect.stringMatching(message),
			description: expect.stringMatching(/tries again automatically/),
		});
		// Attempts after the report.
		const before = requests.length;
		await eventually(() => requests.length > before + 2);
		faults.clear();
		await harness.connected(1);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
		expect(active.failed).toHaveLength(1);
		expect(active.errors).toEqual([]);
	});

	test('a closed session is only logged', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		await harness.connected();
		const node = await harness.node({});
		const { logger } = triggerContext(active.workflow, node);
		const log = jest.spyOn(logger, 'info');
		harness.service().sessions.close(sessions.open);
		await harness.connected(0);
		expect(eventsOf(active)).toEqual(['session_closed']);
		await active.stop();
		expect([...active.errors, ...active.failed]).toEqual([]);
		expect(log.mock.calls).toContainEqual([
			"Stopped listening to a chat session, because it's closed",
			{ sessionId: sessions.open },
		]);
	});
});

describe('listening for a test event in the editor', () => {
	const listen = async (parameters: INodeParameters) => {
		const startNode = await harness.node(parameters);
		const data = makeAdditionalData('manual');
		return new WorkflowExecute(data, 'manual').run({
			workflow: makeWorkflow([startNode]),
			startNode,
		});
	};

	test('ends at the first event', async () => {
		const listening = listen({ sessionIds: sessions.open });
		await harness.connected();
		harness.service().sessions.nudge(sessions.open);
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
		await clock.sleep(2_000);
		harness.loseForGood(sessions.open);
		const run = await listening;
		expect(run.data.resultData.error?.message).toContain(
			`Chat session ${sessions.open} isn't connected: `,
		);
	});
});
