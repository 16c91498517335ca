/** How a session stays connected, and what is read from its sockets: through Chat Events Trigger and Chat Send, with the simulated service. */
import type { INodeParameters } from 'n8n-workflow';
import { type ActiveWorkflow, passTime, records, speedUp, triggerContext } from '../engine';
import { untilIdle } from '../n8n/until';
import { chatHarness, eventIds, eventually, sessions, stopMessage } from './chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendingMethod: 'socket',
	sessionId: sessions.open,
});
const LISTED = { sessionIds: sessions.open };
const CLAIMING = { ...LISTED, options: { disconnectOther: true } };

const control = () => harness.simulator().sessions;
const send = async (message: string, parameters: INodeParameters = {}) =>
	await harness.run({ message, ...parameters });
const sockets = async (count: number) => await eventually(() => harness.sockets().length === count);

/** The next token is due after 210 to 240 seconds. */
const [NOT_DUE_MS, DUE_MS] = [200_000, 41_000];

/** Publishes the trigger, and lets a token pass into the time in which the next one is due. */
async function publishedLongAgo(parameters: INodeParameters = LISTED) {
	const active = await harness.publish(parameters);
	await harness.settled();
	passTime(NOT_DUE_MS + DUE_MS);
	return active;
}

describe('a socket that ends', () => {
	test('is followed by one of the same client, with a new token only if the service rejected the token or the connection', async () => {
		await harness.publish(CLAIMING);
		const ends = [
			() => control().closeSockets(1011),
			() => control().closeSockets(4401),
			() => control().cutSockets(),
			() => control().closeSockets(1008),
			() => control().closeSockets(4409),
		];
		for (const [index, end] of ends.entries()) {
			await harness.settled();
			end();
			await sockets(index + 2);
		}
		const tokens = harness.sockets().map(({ token }) => token);
		const distinct = [...new Set(tokens)];
		expect(tokens.map((token) => distinct.indexOf(token))).toEqual([0, 0, 1, 1, 2, 2]);
		const [{ client_id } = { client_id: '' }] = harness.sockets();
		expect(client_id).toMatch(/^n8n-[0-9a-f]{32}$/);
		// Two clients would displace each other forever if they took the session again.
		expect(harness.sockets()).toMatchObject([
			{ client_id, claim: '1' },
			...Array(5).fill({ client_id }),
		]);
		expect(harness.sockets().filter(({ claim }) => claim !== undefined)).toHaveLength(1);
	});

	test('takes the session on each attempt until it was connected, with Disconnect Other Connection', async () => {
		speedUp(1_000);
		const sessionIds = sessions.inactiveAgent;
		await harness.publish({ ...CLAIMING, sessionIds }, 'init');
		await eventually(() => harness.sockets().length >= 4);
		expect(new Set(harness.sockets().map(({ claim }) => claim))).toEqual(new Set(['1']));
	});
});

describe('before its token expires, a session', () => {
	test('gets a token, and the socket is replaced at once, by the same client, without a claim', async () => {
		const active = await harness.publish(CLAIMING);
		await harness.settled();
		const tokens = harness.tokens();
		passTime(NOT_DUE_MS);
		await untilIdle();
		expect([harness.tokens(), harness.sockets().length]).toEqual([tokens, 1]);
		speedUp(0);
		passTime(DUE_MS);
		await sockets(2);
		expect(harness.tokens()).toBe(tokens + 1);
		const [first, second] = harness.sockets();
		expect(second).toEqual({ client_id: first?.client_id, token: expect.any(String) });
		expect(second?.token).not.toBe(first?.token);
		const eventId = control().nudge(sessions.open);
		await eventually(() => active.emitted.length === 1);
		expect(eventIds(active)).toEqual([eventId]);
	});

	test('waits for the ack of the message in flight, and the next message waits for the new socket', async () => {
		await harness.publish();
		await harness.settled();
		passTime(150_000);
		const slow = send('please never ack');
		await eventually(() => control().frames().length === 1);
		passTime(100_000);
		const next = send('Hello');
		await untilIdle();
		expect([harness.sockets().length, control().openSockets()]).toEqual([1, 1]);
		harness.acks({ state: 'default', reply: 'At last' });
		expect(records(await slow)).toMatchObject([{ reply: 'At last' }]);
		expect(records(await next)).toMatchObject([{ reply: 'You said: Hello' }]);
		expect(harness.sockets()).toHaveLength(2);
	});

	test('stays connected while the service issues no token, and asks for one every 30 seconds', async () => {
		const active = await harness.publish();
		const node = await harness.triggerNode({});
		const log = jest.spyOn(triggerContext(active.workflow, node).logger, 'warn');
		await harness.settled();
		speedUp(0);
		const tokens = harness.tokens();
		const { faults } = harness.simulator();
		const [{ token } = { token: '' }] = harness.sockets();
		faults.respond(/ws_token/, 401, { body: { success: false, error: `Not after ${token}` } });
		passTime(NOT_DUE_MS + DUE_MS);
		await eventually(() => log.mock.calls.length === 1);
		expect(log.mock.calls).toEqual([
			[
				"The token of a chat session couldn't be renewed yet",
				{ sessionId: sessions.open, reason: expect.stringContaining('Not after [hidden]') },
			],
		]);
		passTime(29_000);
		await untilIdle();
		expect([harness.tokens(), control().openSockets()]).toEqual([tokens + 1, 1]);
		passTime(2_000);
		await eventually(() => harness.tokens() === tokens + 2);
		// The old token isn't used for another socket.
		control().closeSockets(1011);
		await harness.connected(0);
		passTime(1_300);
		await eventually(() => harness.tokens() === tokens + 3);
		faults.clear();
		speedUp(1_000);
		await sockets(2);
		expect(new Set(harness.sockets().map(({ token }) => token)).size).toBe(2);
	});

	test('ends if the service then says that it is closed', async () => {
		const active = await harness.publish();
		await harness.settled();
		const closed = { success: false, error: 'session_closed' };
		harness.simulator().faults.respond(/ws_token/, 409, { body: closed });
		passTime(NOT_DUE_MS + DUE_MS);
		await harness.connected(0);
		// The connection asks for a token once more.
		await untilIdle();
		const { length } = harness.simulator().requests;
		passTime(600_000);
		await untilIdle();
		expect(harness.simulator().requests).toHaveLength(length);
		expect(active.failed).toEqual([]);
	});
});

describe('a session that is closed', () => {
	test('delivers events for two more seconds, and is not connected again', async () => {
		const active = await harness.publish();
		await harness.settled();
		speedUp(0);
		const closed = { success: false, error: 'session_closed' };
		harness.simulator().faults.respond(/ws_token/, 409, { body: closed });
		harness.receives({ type: 'session_closed', event_id: 'e-1' });
		await eventually(() => active.emitted.length === 1);
		passTime(1_900);
		harness.receives({ type: 'message_received', event_id: 'e-2' });
		await eventually(() => active.emitted.length === 2);
		expect([eventIds(active), control().openSockets()]).toEqual([['e-1', 'e-2'], 1]);
		passTime(200);
		await harness.connected(0);
		passTime(600_000);
		await untilIdle();
		expect(harness.sockets()).toHaveLength(1);
	});
});

describe('a trigger that is stopped', () => {
	let release = () => {};

	/** Leaves the published trigger in a state, in which it has requested one socket at most. */
	const states: Array<[string, () => Promise<ActiveWorkflow>]> = [
		[
			'while it requests a token',
			async () => {
				release = harness.simulator().holdResponses(/ws_token/);
				const active = await harness.publish(LISTED, 'init');
				await eventually(() => harness.tokens() === 1);
				return active;
			},
		],
		[
			'while it connects',
			async () => {
				speedUp(0);
				return await harness.publish();
			},
		],
		[
			'while it waits for the next attempt',
			async () => {
				const active = await harness.publish();
				await harness.settled();
				speedUp(0);
				control().closeSockets(1011);
				await harness.connected(0);
				return active;
			},
		],
		[
			'while it renews its token',
			async () => {
				const active = await harness.publish();
				await harness.settled();
				release = harness.simulator().holdResponses(/ws_token/);
				const tokens = harness.tokens();
				passTime(NOT_DUE_MS + DUE_MS);
				await eventually(() => harness.tokens() > tokens);
				return active;
			},
		],
	];

	test.each(states)('%s: requests and reports nothing more', async (_name, publish) => {
		const active = await publish();
		const stopping = active.stop();
		control().nudge(sessions.open);
		await stopping;
		await harness.connected(0);
		release();
		const { length } = harness.simulator().requests;
		passTime(600_000);
		await untilIdle();
		expect(harness.simulator().requests).toHaveLength(length);
		expect([active.emitted, active.failed]).toEqual([[], []]);
	});
});

describe('frames', () => {
	test('of another session, and those that nobody can read, are ignored', async () => {
		const active = await harness.publish();
		const sending = send('please never ack');
		await eventually(() => control().frames().length === 1);
		const other = { session_id: sessions.dormant };
		harness.receives({ type: 'message_received', event_id: 'e-1', ...other });
		harness.receives({ type: 'session_closed', event_id: 'e-2', ...other });
		harness.receives({
			type: 'ws_write_result',
			payload: { state: 'default', reply: 'Theirs' },
			...other,
		});
		const noFrames = ['', '{', '[]', '{}', '{"type":5}', '{"type":"ws_write_result"}'];
		const noAck = '{"type":"ws_write_result","payload":{"state":1}}';
		for (const frame of [Buffer.from('{"type":"binary"}'), ...noFrames, noAck]) {
			control().pushRaw(sessions.open, frame);
		}
		const own = [sessions.open.toUpperCase(), undefined, null];
		for (const [index, session_id] of own.entries()) {
			// Again as text, because the document doesn't give the type of IDs.
			for (const event_id of [index, `${index}`]) {
				harness.receives({ type: 'from_the_future', event_id, session_id });
			}
		}
		harness.acks({ state: 'default', reply: 'Ours' });
		expect(records(await sending)).toMatchObject([{ reply: 'Ours' }]);
		const ofMessages = /^evt_/;
		expect(eventIds(active).filter((id) => !ofMessages.test(String(id)))).toEqual([0, 1, 2]);
		expect(control().openSockets()).toBe(1);
	});

	test('and close reasons show no token: neither that of the account, nor those of this or an earlier socket', async () => {
		const active = await publishedLongAgo();
		const node = await harness.triggerNode({});
		const log = jest.spyOn(triggerContext(active.workflow, node).logger, 'info');
		await sockets(2);
		await harness.settled();
		const secrets = [harness.simulator().token, ...harness.sockets().map(({ token }) => token)];
		const said = `not ${secrets.join(', ')}`;
		const hidden = 'not [hidden], [hidden], [hidden]';
		control().pushEvent(sessions.open, 'mode_changed', { to: said });
		await eventually(() => active.emitted.length === 1);
		expect(active.emitted[0]?.items[0]?.[0]?.json.payload).toEqual({ to: hidden });
		const sending = send('please never ack');
		await eventually(() => control().frames().length === 1);
		harness.acks({ state: 'invalid', error: said });
		expect(stopMessage(await sending).description).toContain(`The service said: ${hidden}.`);
		const [{ ws } = { ws: undefined }] = harness.simulator().hub.connectionsOf();
		ws?.close(1011, said);
		await eventually(() => log.mock.calls.length === 1);
		const originalMessage = `close code 1011 · ${hidden}`;
		expect(log.mock.calls).toEqual([
			[
				'Reconnecting to the chat session',
				{ sessionId: sessions.open, waitMs: expect.any(Number), originalMessage },
			],
		]);
	});
});
