/** One connection of a session for all nodes of a process: through Chat Events Trigger and Chat Send, with the simulated service. */
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../nodes/host/clock';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { passTime, records, speedUp, storedCredentials, stoppedResult, TOKEN } from '../engine';
import { untilIdle } from '../n8n/until';
import { chatHarness, eventIds, eventually, sessions, stopMessage } from './chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendingMethod: 'socket',
	sessionId: sessions.open,
	message: '={{ $json.text }}',
});
const OTHER_TRIGGER = { id: 'other-trigger' };

const control = () => harness.simulator().sessions;
const send = async (text: string, parameters: INodeParameters = {}) =>
	await harness.run(parameters, { items: [{ text }] });
const publish = async (sessionIds: string = sessions.open, activation?: 'init', over = {}) =>
	await harness.publish({ sessionIds }, activation, {}, over);

const sockets = async (count: number) => await eventually(() => harness.sockets().length === count);
const frames = async (count: number) => await eventually(() => control().frames().length === count);
const texts = () =>
	control()
		.frames()
		.map(({ text }) => /"content":"(.*?)"/.exec(text)?.[1]);
const ack = () => harness.acks({ state: 'default', reply: 'Yes' });
const event = (event_id: string) => harness.receives({ type: 'nudge_sent', event_id });

/** The longest pause between two attempts passes, once the response to the last one is read. */
const nextAttempt = async () => {
	await clock.sleep(5_000);
	passTime(900_000);
};

/** A message that is sent without an ack until the test sends one. */
const UNACKED = 'please never ack';

describe('the connection of a session', () => {
	test('is not used with another API token or base URL', async () => {
		await publish();
		const items = [{ text: 'Hello' }];
		const stranger = { apiToken: TOKEN };
		const { message } = stopMessage(await harness.run({}, { items, credential: stranger }));
		expect(message).toContain('API token');
		const elsewhere = { baseUrl: harness.simulator().baseUrl.replace('127.0.0.1', 'localhost') };
		const { description } = stopMessage(await harness.run({}, { items, credential: elsewhere }));
		expect(description).toContain('The session is in use by another client');
		expect(control().frames()).toEqual([]);
	});

	test('is opened again when the socket before it has ended', async () => {
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		class SlowToClose extends WebSocket {
			override close(code?: number): void {
				void released.then(() => super.close(code));
			}
		}
		jest.spyOn(globalThis, 'WebSocket').mockImplementation((url) => new SlowToClose(url));
		await send('One');
		speedUp(0);
		passTime(500);
		const next = send('Two');
		await untilIdle();
		expect(harness.sockets()).toHaveLength(1);
		release();
		speedUp(50);
		expect(records(await next)).toMatchObject([{ reply: 'You said: Two' }]);
		expect(harness.sockets()).toHaveLength(2);
	});
});

describe('events', () => {
	test('start each trigger once, from its start to its end', async () => {
		const one = await publish();
		await harness.settled();
		event('e-1');
		await eventually(() => one.emitted.length === 1);
		const other = await publish(sessions.open, undefined, OTHER_TRIGGER);
		await sockets(2);
		await harness.settled();
		for (const id of ['e-2', 'e-2']) event(id);
		await eventually(() => other.emitted.length === 1);
		await one.stop();
		event('e-3');
		await eventually(() => other.emitted.length === 2);
		expect([eventIds(one), eventIds(other)]).toEqual([
			['e-1', 'e-2'],
			['e-2', 'e-3'],
		]);
		// n8n would ignore an event whose key another trigger has used.
		expect(one.emitted[1]?.deduplicationKey).not.toBe(other.emitted[0]?.deduplicationKey);
	});
});

test('what happened while n8n was down starts each trigger, also one that joins after the replay', async () => {
	const before = await publish();
	await harness.settled();
	await before.stop();
	await harness.connected(0);
	const missed = control().nudge(sessions.open);
	const first = await publish(sessions.open, 'init');
	await harness.settled();
	const joinedAt = clock.elapsed();
	const second = await publish(sessions.open, 'init', OTHER_TRIGGER);
	await eventually(() => second.emitted.length === 1);
	// Not only when the token is renewed, which may be after the time that the service replays.
	expect(clock.elapsed() - joinedAt).toBeLessThan(60_000);
	expect([eventIds(first), eventIds(second)]).toEqual([[missed], [missed]]);
});

describe('a session that the service rejects', () => {
	test('ends an action at its second attempt, and the trigger is connected later', async () => {
		speedUp(10);
		await publish(sessions.inactiveAgent, 'init');
		// After 1 second, and 20 more.
		await sockets(3);
		await harness.connected(0);
		await untilIdle();
		const action = send('Hello', { sessionId: sessions.inactiveAgent });
		// At once, and then soon.
		const run = await action;
		expect(stopMessage(run).message).toContain('The service rejects the connection');
		expect(harness.sockets()).toHaveLength(5);
		speedUp(100);
		for (const agent of harness.simulator().state.agents.values()) agent.active = true;
		await harness.connected();
	});
});

test('an unreachable session ends an action after 10 seconds, and no trigger', async () => {
	const trigger = await publish();
	await harness.settled();
	speedUp(0);
	control().cutSockets();
	await harness.connected(0);
	const action = send('Hello');
	// At once, and after 1, 2, 4, and 8 seconds.
	for (let attempt = 0; attempt < 5; attempt++) {
		await eventually(() => {
			passTime(100);
			return control().openSockets() === 1;
		});
		control().cutSockets();
		await harness.connected(0);
	}
	expect(stopMessage(await action).message).toBe(
		'The connection to the chat session keeps failing, so nothing was sent',
	);
	passTime(20_000);
	speedUp(50);
	await harness.settled();
	control().nudge(sessions.open);
	await eventually(() => trigger.emitted.length === 1);
	expect(trigger.failed).toEqual([]);
});

test.each([
	[401, /rejected the API token/, /tries again automatically, [^.]*\.$/],
	[503, /^Chat session .* isn't connected: /, /tries again automatically, [^.]*\.$/],
])(
	'a trigger whose session gets no token (status %i) reports it after about a minute, once an outage',
	async (...one) => {
		const [status, message, description] = one;
		const trigger = await publish();
		for (const outage of [1, 2]) {
			await harness.settled();
			passTime(25_000);
			harness.simulator().faults.respond(/ws_token/, status);
			control().expireTokens();
			control().closeSockets(4401);
			const lostAt = clock.elapsed();
			speedUp(1_000);
			await eventually(() => trigger.failed.length === outage);
			const seconds = (clock.elapsed() - lostAt) / 1_000;
			expect(seconds).toBeGreaterThan(75);
			expect(seconds).toBeLessThan(105);
			expect(trigger.failed.at(-1)).toMatchObject({
				message: expect.stringMatching(message),
				description: expect.stringMatching(description),
			});
			expect(trigger.failed.at(-1)).toMatchObject({
				description: expect.not.stringMatching(/publish/),
			});
			const tokens = harness.tokens();
			await nextAttempt();
			await eventually(() => harness.tokens() > tokens);
			expect(trigger.failed).toHaveLength(outage);
			harness.simulator().faults.clear();
			await nextAttempt();
			await harness.connected();
			speedUp(50);
		}
		control().nudge(sessions.open);
		await eventually(() => trigger.emitted.length === 1);
		expect(trigger.errors).toEqual([]);
	},
);

test('a trigger uses an API token that is changed in its credential after the one before was rejected, and shares its connection', async () => {
	const trigger = await publish();
	await harness.settled();
	const service = harness.simulator();
	const { token } = service;
	const details = trigger.workflow.getNode('Trigger')?.credentials?.[CREDENTIAL];
	const edit = async (apiToken: string) =>
		await storedCredentials.add(
			CREDENTIAL,
			{ ...credentialFor(service), apiToken },
			details?.id ?? '',
		);
	try {
		service.token = 'simulator-token2';
		control().expireTokens();
		control().closeSockets(4401);
		await eventually(() => service.requests.at(-1)?.outcome.status === 401);
		// A half-done edit changes nothing.
		await edit('');
		await nextAttempt();
		await edit(service.token);
		passTime(900_000);
		await sockets(2);
		await harness.settled();
		control().nudge(sessions.open);
		await eventually(() => trigger.emitted.length === 1);
		const setting = { items: [{ text: 'Hello' }], credential: { apiToken: service.token } };
		expect(records(await harness.run({}, setting))).toMatchObject([{ reply: 'You said: Hello' }]);
		expect([control().openSockets(), harness.sockets().length]).toEqual([1, 2]);
		expect([...trigger.failed, ...trigger.errors]).toEqual([]);
	} finally {
		service.token = token;
	}
});

describe('Stop', () => {
	test('ends an action at once, and the next message still waits for the ack of the one before', async () => {
		const { execution } = await harness.start(
			{ options: { idempotencyKey: 'k-1' } },
			{ items: [{ text: UNACKED }] },
		);
		await frames(1);
		const next = send('Hello');
		await untilIdle();
		execution.cancel();
		expect((await stoppedResult(execution)).error?.description).toContain(
			"The message was sent, but the service didn't confirm it.",
		);
		await untilIdle();
		expect(texts()).toEqual([UNACKED]);
		ack();
		expect(records(await next)).toMatchObject([{ reply: 'You said: Hello' }]);
		expect(texts()).toEqual([UNACKED, 'Hello']);
	});

	test('while the service is busy: the message was not sent', async () => {
		const { execution } = await harness.start({}, { items: [{ text: UNACKED }] });
		await frames(1);
		speedUp(0);
		harness.acks({ state: 'busy', error: 'server_busy' });
		await untilIdle();
		execution.cancel();
		expect((await stoppedResult(execution)).error?.description).toContain(
			"The message wasn't sent because the execution was stopped",
		);
		expect(texts()).toEqual([UNACKED]);
	});

	test.each([
		['to other sessions', 2, [sessions.open, sessions.dormant, sessions.inactiveAgent]],
		['of the same session', 1, [sessions.open, sessions.open, sessions.open]],
	])('sends no later messages %s', async (_which, count, ids) => {
		const parameters = { sessionId: '={{ $json.session }}', options: { concurrency: 2 } };
		const items = ids.map((session) => ({ session, text: UNACKED }));
		const overrides = { onError: 'continueRegularOutput' as const };
		const { execution } = await harness.start(parameters, { items, overrides });
		await frames(count);
		execution.cancel();
		await stoppedResult(execution);
		await harness.connected(0);
		expect([harness.sockets().length, texts().length]).toEqual([count, count]);
	});
});

describe('the client_id', () => {
	test('is that of the process, and another one for a trigger, also after it has left, until the connection ends', async () => {
		const action = async () => {
			await send('Hello');
			await harness.connected(0);
		};
		await action();
		const trigger = await publish();
		const sending = send(UNACKED, { options: { idempotencyKey: 'k-1' } });
		await frames(2);
		await trigger.stop();
		speedUp(0);
		harness.acks({ state: 'busy', error: 'server_busy' });
		await untilIdle();
		control().cutSockets();
		await harness.connected(0);
		speedUp(50);
		await frames(3);
		ack();
		await sending;
		await harness.connected(0);
		await action();
		await publish();
		const ids = harness.sockets().map(({ client_id }) => client_id);
		const distinct = [...new Set(ids)];
		expect(ids.map((id) => distinct.indexOf(id))).toEqual([0, 1, 1, 0, 1]);
	});

	test('changes when a trigger joins the connection of an action, after the ack of its message', async () => {
		const action = send(UNACKED);
		await frames(1);
		const trigger = await publish();
		await untilIdle();
		expect(harness.sockets()).toHaveLength(1);
		speedUp(0);
		ack();
		await action;
		await sockets(2);
		const [first, second] = harness.sockets();
		expect(second?.client_id).not.toBe(first?.client_id);
		event('e-1');
		await eventually(() => trigger.emitted.length > 0);
		expect(eventIds(trigger).at(-1)).toBe('e-1');
	});
});
