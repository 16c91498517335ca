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
import { fixtures } from '../../simulator';
import { eventually, otherClient } from '../chatHarness';
import { eventsOf, sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();
const { agents } = fixtures;

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
			'an invalid ID',
			{ sessionIds: 'hello' },
			/^'Session IDs' must list session IDs \(got "hello"\)$/,
			/Use the/,
		],
		[
			'a closed session',
			{ sessionIds: sessions.closed },
			/isn't connected: the chat session is closed/,
			/Create a session/,
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
		expect(JSON.stringify(error)).not.toContain(harness.service().token);
	});

	test("a closed session doesn't stop the other sessions", async () => {
		await harness.start({ sessionIds: `${sessions.closed}, ${sessions.open}` });
		expect(harness.service().sessions.openSockets()).toBe(1);
	});

	test('an unknown session stops all sessions, and is reported once', async () => {
		const node = await harness.node({ sessionIds: `${sessions.open}, ${sessions.unknown}` });
		const context = triggerContext(harness.credentials, makeWorkflow([node]), node);
		const saved = jest.spyOn(context, 'saveFailedExecution').mockReturnValue();
		const type = nodeTypes.getByNameAndVersion(node.type);
		await expect(type.trigger?.call(context)).rejects.toMatchObject({
			message: expect.stringMatching(`^Chat session ${sessions.unknown} isn't connected: `),
			description: expect.stringContaining('The service said: session_not_found'),
		});
		expect(saved).not.toHaveBeenCalled();
		await harness.connected(0);
	});

	test('a session that is lost after the start is reported, even after a manual activation', async () => {
		const active = await harness.start({ sessionIds: sessions.open }, 'create');
		harness.service().sessions.closeSockets(1003, sessions.open);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain(sessions.open);
	});

	test.each(['activate', 'create', 'update'] as const)(
		'%s: a user sees the error',
		async (activation) => {
			const { message } = await rejection({ sessionIds: sessions.unknown }, activation);
			expect(message).toContain(sessions.unknown);
		},
	);

	test.each(['init', 'leadershipChange'] as const)(
		'%s: no user waits, so the error is reported instead of thrown',
		async (activation) => {
			const active = await harness.start({ sessionIds: sessions.unknown }, activation);
			await eventually(() => active.failed.length === 1);
			expect(active.failed[0]?.message).toContain(sessions.unknown);
		},
	);
});

describe('Disconnect Other Connection', () => {
	test("off: doesn't take a session that is in use by another client", async () => {
		const desk = await otherClient(harness.service(), sessions.open);
		const { sessions: control } = harness.service();
		speedUp(2_000);
		const active = await harness.start({ sessionIds: sessions.open }, 'init');
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]).toMatchObject({
			message: expect.stringContaining('the service rejects the connection'),
			description: expect.stringMatching(/turn on 'Disconnect Other Connection'/),
		});
		expect(control.clientIds(sessions.open)).toEqual(['desk']);
		const claims = harness.service().requests.filter(({ query }) => query.claim !== undefined);
		expect(claims).toEqual([]);
		desk.close();
	});

	test('on: takes the session from the other client', async () => {
		await otherClient(harness.service(), sessions.open);
		await harness.start({ sessionIds: sessions.open, disconnectOther: true });
		const [clientId] = harness.service().sessions.clientIds(sessions.open);
		expect(clientId).toMatch(/^n8n-/);
	});

	test('two triggers of one n8n instance share the connection, and each gets every event', async () => {
		const one = await harness.start({ sessionIds: sessions.open });
		const other = await harness.start(
			{ sessionIds: sessions.open },
			'init',
			{},
			{ id: 'other-node' },
		);
		harness.service().sessions.nudge(sessions.open);
		await eventually(() => one.emitted.length === 1 && other.emitted.length === 1);
		expect(one.emitted[0]?.deduplicationKey).not.toBe(other.emitted[0]?.deduplicationKey);
		const opened = harness.service().requests.filter(({ path }) => path.endsWith('user-stream'));
		expect(opened).toHaveLength(1);
	});
});

describe('losing sessions', () => {
	test('several together are reported in one execution, and the others continue', async () => {
		const third = harness.service().sessions.create().sessionId;
		const active = await harness.start({
			sessionIds: [sessions.open, sessions.dormant, third],
		});
		const { sessions: control } = harness.service();
		control.closeSockets(1003, sessions.dormant);
		control.closeSockets(1003, third);
		await eventually(() => active.failed.length > 0);
		expect(active.failed.map(({ message }) => message)).toEqual([
			"2 chat sessions aren't connected",
		]);
		expect(active.errors).toEqual([]);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
	});

	test('a failed session is retried, and reported once', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		speedUp(2_000);
		const { sessions: control, faults, requests } = harness.service();
		faults.inject({ kind: 'status', status: 503, match: { path: /ws_token/ } });
		control.expireTokens();
		control.closeSockets(4401);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]).toMatchObject({
			message: expect.stringMatching(/^Chat session .* isn't connected: /),
			description: expect.stringMatching(/tries again automatically/),
		});
		// Attempts after the report.
		const before = requests.length;
		await eventually(() => requests.length > before + 3);
		faults.clear();
		await harness.connected(1);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
		expect(active.failed).toHaveLength(1);
		expect(active.errors).toEqual([]);
	});

	test("a temporarily rejected API token doesn't lose a session", async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		speedUp(2_000);
		const { sessions: control, faults, requests } = harness.service();
		const rejected = { kind: 'status', status: 401, match: { path: /ws_token/ } } as const;
		faults.inject({ ...rejected, times: 3 });
		control.expireTokens();
		control.closeSockets(4401);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain('rejected the API token');
		await harness.connected(1);
		expect(requests.filter(({ outcome }) => outcome.status === 401)).toHaveLength(3);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
		expect(active.failed).toHaveLength(1);
	});

	test('the only session, rejected for good: reported once, without further requests', async () => {
		const active = await harness.start({ sessionIds: sessions.unknown }, 'init');
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain(sessions.unknown);
		expect(active.failed[0]).toMatchObject({
			description: expect.not.stringMatching(/tries again automatically/),
		});
		speedUp(100_000);
		await clock.sleep(100_000);
		expect(harness.service().requests).toHaveLength(1);
		expect(active.errors).toEqual([]);
	});

	test('deactivation ends the wait for a retry', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		speedUp(2_000);
		harness.service().sessions.setAgentActive(agents.full, false);
		await eventually(() => active.failed.length === 1);
		speedUp(1);
		await active.stop();
		const before = harness.service().requests.length;
		speedUp(100_000);
		await clock.sleep(100_000);
		expect(harness.service().requests).toHaveLength(before);
	});

	test('a closed session is only logged', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		const node = await harness.node({});
		const { logger } = triggerContext(harness.credentials, active.workflow, node);
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

	test('deactivation during a reconnect leaves nothing open', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		const { sessions: control } = harness.service();
		control.cutSockets();
		await active.stop();
		const minted = harness.service().requests.length;
		control.nudge(sessions.open);
		expect(active.emitted).toEqual([]);
		expect([...active.errors, ...active.failed]).toEqual([]);
		expect(harness.service().requests).toHaveLength(minted);
	});
});

describe('listening for a test event in the editor', () => {
	const listen = async (parameters: INodeParameters) => {
		const startNode = await harness.node(parameters);
		const data = makeAdditionalData(harness.credentials, 'manual');
		return new WorkflowExecute(data, 'manual').run({
			workflow: makeWorkflow([startNode]),
			startNode,
		});
	};

	test('ends at the first event, as a separate client', async () => {
		// Not used by other tests, because a connection that a trigger has just ended would be reused.
		const sessionId = sessions.dormant;
		const listening = listen({ sessionIds: sessionId });
		await harness.connected();
		const { sessions: control } = harness.service();
		const [testClient] = control.clientIds(sessionId);
		control.nudge(sessionId);
		const run = await listening;
		expect(output(run, 'Trigger').map(({ json }) => json.type)).toEqual(['nudge_sent']);
		await harness.connected(0);
		await harness.start({ sessionIds: sessionId });
		expect(control.clientIds(sessionId)).not.toEqual([testClient]);
	});

	test("a session that can't be connected ends it with the reason", async () => {
		const run = await listen({ sessionIds: sessions.closed });
		expect(run.data.resultData.error?.message).toMatch(/the chat session is closed/);
	});

	test("a closed session among others doesn't end it", async () => {
		const listening = listen({ sessionIds: `${sessions.closed}, ${sessions.open}` });
		await harness.connected();
		harness.service().sessions.nudge(sessions.open);
		const run = await listening;
		expect(run.data.resultData.error).toBeUndefined();
		expect(output(run, 'Trigger').map(({ json }) => json.type)).toEqual(['nudge_sent']);
	});

	test('a session that is lost after the start ends it with the reason', async () => {
		const listening = listen({ sessionIds: sessions.open });
		await harness.connected();
		// Until the start has ended.
		await clock.sleep(2_000);
		harness.service().sessions.closeSockets(1003);
		const run = await listening;
		expect(run.data.resultData.error?.message).toContain(
			`Chat session ${sessions.open} isn't connected: `,
		);
	});
});
