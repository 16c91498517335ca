import { setTimeout as realSleep } from 'node:timers/promises';
import { WorkflowExecute } from 'n8n-core';
import type { INodeParameters, WorkflowActivateMode } from 'n8n-workflow';
import { makeAdditionalData, makeWorkflow, nodeTypes, output, triggerContext } from '../../engine';
import { fixtures } from '../../simulator';
import { eventually, otherClient } from '../chatHarness';
import { eventsOf, hurry, sessions, triggerHarness } from './triggerHarness';

const harness = triggerHarness();
const { agents } = fixtures;

/** What the person reads who activates the workflow. */
async function rejection(
	parameters: INodeParameters,
	activation?: WorkflowActivateMode,
): Promise<{ message: string; description: unknown }> {
	const error = await harness.start(parameters, activation).then(
		() => undefined,
		(caught: unknown) => caught,
	);
	if (!(error instanceof Error)) throw new Error('It was activated');
	// n8n's own error repeats the message in its own sentence and keeps the description.
	const message = /^There was a problem activating the workflow: "(.*)"$/.exec(error.message)?.[1];
	return { message: message ?? '', description: 'description' in error ? error.description : '' };
}

describe('activating', () => {
	test.each([
		['no session at all', {}, 'There is no chat session to listen to', /Watched Sessions/],
		['a word in place of an ID', { sessionIds: 'hello' }, /"hello" is not a session ID/, /form/],
		[
			'a session the service does not know',
			{ sessionIds: sessions.unknown },
			new RegExp(`^The chat session ${sessions.unknown} is not followed: `),
			/The service said: session_not_found/,
		],
		[
			'a closed session',
			{ sessionIds: sessions.closed },
			/is not followed: the chat session is closed/,
			/Create a session/,
		],
		[
			'two sessions that cannot be followed',
			{ sessionIds: [sessions.unknown, sessions.closed].join(' ') },
			'2 chat sessions are not followed',
			new RegExp(`${sessions.unknown}: .* ${sessions.closed}: The chat session is closed`),
		],
	])('%s: rejected with what to do', async (_case, parameters, message, advice) => {
		const originalMessage = await rejection(parameters);
		expect(originalMessage.message).toMatch(message);
		expect(originalMessage.description).toMatch(advice);
		expect(JSON.stringify(originalMessage)).not.toContain(harness.service().token);
	});

	test('a closed session among others does not stop the others', async () => {
		await harness.start({ sessionIds: `${sessions.closed}, ${sessions.open}` });
		expect(harness.service().sessions.openSockets()).toBe(1);
	});

	test('one that the service does not know among others stops them all, and is told once', async () => {
		const node = await harness.node({ sessionIds: `${sessions.open}, ${sessions.unknown}` });
		const context = triggerContext(harness.credentials, makeWorkflow([node]), node);
		const saved = jest.spyOn(context, 'saveFailedExecution').mockReturnValue();
		const type = nodeTypes.getByNameAndVersion(node.type);
		await expect(type.trigger?.call(context)).rejects.toMatchObject({
			message: expect.stringMatching(`^The chat session ${sessions.unknown} is not followed: `),
		});
		expect(saved).not.toHaveBeenCalled();
		await harness.connected(0);
	});

	test('one that is lost after it has begun is told, although somebody was at the screen', async () => {
		const active = await harness.start({ sessionIds: sessions.open }, 'create');
		harness.service().sessions.closeSockets(1003, sessions.open);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain(sessions.open);
	});

	test.each(['activate', 'create', 'update'] as const)(
		'%s: somebody is at the screen and is told',
		async (activation) => {
			const { message } = await rejection({ sessionIds: sessions.unknown }, activation);
			expect(message).toContain(sessions.unknown);
		},
	);

	test.each(['init', 'leadershipChange'] as const)(
		'%s: nobody waits, so what cannot be followed is reported, not thrown',
		async (activation) => {
			const active = await harness.start({ sessionIds: sessions.unknown }, activation);
			await eventually(() => active.failed.length === 1);
			expect(active.failed[0]?.message).toContain(sessions.unknown);
		},
	);
});

describe('Take Over', () => {
	test('off: a session that another client holds is left to it', async () => {
		const desk = await otherClient(harness.service(), sessions.open);
		const { sessions: control } = harness.service();
		hurry(2_000);
		const active = await harness.start({ sessionIds: sessions.open }, 'init');
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]).toMatchObject({
			message: expect.stringContaining('the service rejects the connection'),
			description: expect.stringMatching(/turn on Take Over/),
		});
		expect(control.clientIds(sessions.open)).toEqual(['desk']);
		const claims = harness.service().requests.filter(({ query }) => query.claim !== undefined);
		expect(claims).toEqual([]);
		desk.close();
	});

	test('on: the session is taken from the other client', async () => {
		await otherClient(harness.service(), sessions.open);
		await harness.start({ sessionIds: sessions.open, takeOver: true });
		const [taker] = harness.service().sessions.clientIds(sessions.open);
		expect(taker).toMatch(/^n8n-/);
	});

	test('two triggers of one n8n share the connection, and each is given every event', async () => {
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
	test('one of several: its owner is told by a failed execution, the others go on', async () => {
		const active = await harness.start({
			sessionIds: `${sessions.open}, ${sessions.dormant}`,
		});
		const { sessions: control } = harness.service();
		control.closeSockets(1003, sessions.dormant);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain(sessions.dormant);
		expect(active.errors).toEqual([]);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
	});

	test('several together are told at once', async () => {
		const third = harness.service().sessions.create().sessionId;
		const active = await harness.start({
			sessionIds: [sessions.open, sessions.dormant, third],
		});
		const { sessions: control } = harness.service();
		control.closeSockets(1003, sessions.dormant);
		control.closeSockets(1003, third);
		await eventually(() => active.failed.length > 0);
		expect(active.failed.map(({ message }) => message)).toEqual([
			'2 chat sessions are not followed',
		]);
	});

	test('one that was given up is followed again, and its owner told once', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		hurry(2_000);
		const { sessions: control, faults, requests } = harness.service();
		faults.inject({ kind: 'status', status: 503, match: { path: /ws_token/ } });
		control.expireTokens();
		control.closeSockets(4401);
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]).toMatchObject({
			message: expect.stringMatching(/^The chat session .* is not followed: /),
			description: expect.stringMatching(/tries again by itself/),
		});
		// Two rounds more of attempts, and into the next.
		const before = requests.length;
		await eventually(() => requests.length > before + 15);
		faults.clear();
		await harness.connected(1);
		control.nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
		expect(active.failed).toHaveLength(1);
		expect(active.errors).toEqual([]);
	});

	test('an API token that is not accepted for a while costs no session', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		hurry(2_000);
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

	test('the only one, rejected for good: its owner is told once, and it is asked for no more', async () => {
		const active = await harness.start({ sessionIds: sessions.unknown }, 'init');
		await eventually(() => active.failed.length === 1);
		expect(active.failed[0]?.message).toContain(sessions.unknown);
		expect(active.failed[0]).toMatchObject({
			description: expect.not.stringMatching(/tries again by itself/),
		});
		hurry(100_000);
		await realSleep(200);
		expect(harness.service().requests).toHaveLength(1);
		expect(active.errors).toEqual([]);
	});

	test('deactivating ends the rest of a session', async () => {
		const active = await harness.start({ sessionIds: sessions.open });
		hurry(2_000);
		harness.service().sessions.setAgentActive(agents.full, false);
		await eventually(() => active.failed.length === 1);
		hurry(1);
		await active.stop();
		const asked = harness.service().requests.length;
		hurry(100_000);
		await realSleep(200);
		expect(harness.service().requests).toHaveLength(asked);
	});

	test('a closed session leaves without a word but in the log', async () => {
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
			'A chat session is closed and no longer followed',
			{ sessionId: sessions.open },
		]);
	});

	test('deactivating in the middle of reconnecting leaves nothing behind', async () => {
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

	test('ends at the first event, as a client of its own', async () => {
		// Of no other test: a connection that a trigger has just left would be joined.
		const sessionId = sessions.dormant;
		const listening = listen({ sessionIds: sessionId });
		await harness.connected();
		const { sessions: control } = harness.service();
		const [trial] = control.clientIds(sessionId);
		control.nudge(sessionId);
		const run = await listening;
		expect(output(run, 'Trigger').map(({ json }) => json.type)).toEqual(['nudge_sent']);
		await harness.connected(0);
		await harness.start({ sessionIds: sessionId });
		expect(control.clientIds(sessionId)).not.toEqual([trial]);
	});

	test('a session that cannot be followed ends it with the reason', async () => {
		const run = await listen({ sessionIds: sessions.closed });
		expect(run.data.resultData.error?.message).toMatch(/the chat session is closed/);
	});

	test('a connection that ends for good ends it with the reason', async () => {
		const listening = listen({ sessionIds: sessions.open });
		await harness.connected();
		await eventually(() => harness.service().sessions.openSockets() === 1);
		harness.service().sessions.closeSockets(1003);
		const run = await listening;
		expect(run.data.resultData.error?.message).toContain(sessions.open);
	});
});
