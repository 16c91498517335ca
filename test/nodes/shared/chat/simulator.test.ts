import { setTimeout as realSleep } from 'node:timers/promises';
import { ChatConnection } from '../../../../nodes/shared/chat/connection';
import { type ChatEvent } from '../../../../nodes/shared/chat/frames';
import { mintToken } from '../../../../nodes/shared/chat/token';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import { requestWsToken } from '../../../../nodes/shared/api/endpoints';
import { ApiClient } from '../../../../nodes/shared/api/client';
import { FastClock } from '../../../engine/fastClock';
import { eventually } from '../../chatHarness';
import { dialects, fixtures, startSimulator } from '../../../simulator';
import type { Simulator } from '../../../simulator';
import { type ConnectionChanges, messageFrame } from './fakes';

const SPEEDUP = 20;

const clock = new FastClock(SPEEDUP);

const random = () => 0.5;

const session = fixtures.sessions.open;

describe.each(Object.values(dialects))('against the simulator, dialect $name', (dialect) => {
	let sim: Simulator;
	let connections: ChatConnection[];

	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => {
		sim.reset();
		connections = [];
	});
	afterEach(async () => {
		await Promise.all(connections.map(async (connection) => await connection.close()));
	});
	afterAll(async () => {
		await sim.stop();
	});

	function connect({ disconnectOther = false, ...options }: ConnectionChanges = {}) {
		const events: ChatEvent[] = [];
		const client = new ApiClient(
			async ({ method, path, body }) => {
				const response = await fetch(sim.baseUrl + path, {
					method,
					headers: { 'API-Token': sim.token, 'Content-Type': 'application/json' },
					body: JSON.stringify(body),
				});
				return { status: response.status, headers: {}, text: await response.text() };
			},
			clock,
			random,
		);
		const connection = new ChatConnection({
			sessionId: session,
			baseUrl: sim.baseUrl,
			clientId: 'client-1',
			mayDisconnectOther: () => disconnectOther,
			mintToken: async () => await mintToken(async () => await requestWsToken(client, session)),
			hideApiToken: (text) => client.hideApiToken(text),
			openSocket: (url) => new WebSocket(url),
			clock,
			random,
			log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
			...options,
		});
		connection.subscribe((event) => events.push(event));
		connection.start();
		connections.push(connection);
		return { connection, events };
	}

	const say = async (connection: ChatConnection, content: string, key?: string) =>
		await sendTurn(connection, messageFrame(content, { idempotencyKey: key }), {
			clock,
			random,
			ackTimeoutMs: 20_000,
		});

	it.each<[string, object]>([
		['Hello', { kind: 'ack', ack: { state: 'default' } }],
		['please send garbage', { kind: 'ack', ack: { state: 'default' } }],
		['please never ack', { kind: 'unknown', why: 'no_ack', hasKey: false }],
		['please drop me', { kind: 'unknown', why: 'lost', hasKey: false }],
	])('%s', async (content, outcome) => {
		const { connection } = connect();
		expect(await say(connection, content)).toMatchObject(outcome);
	});

	it('sends again with a key after the connection broke, and the turn runs once', async () => {
		const { connection, events } = connect();
		await say(connection, 'please drop me', 'key-1');
		const ofCustomer = events.filter(({ payload }) => payload.role === 'user');
		expect(ofCustomer).toHaveLength(1);
	});

	it('delivers each event once while the socket is cut repeatedly', async () => {
		const { connection, events } = connect();
		await connection.ready();
		for (let round = 0; round < 3; round += 1) {
			sim.sessions.nudge(session, round);
			sim.sessions.cutSockets(session);
			sim.sessions.nudge(session, round + 100);
			await eventually(() => sim.sessions.openSockets(session) === 1);
			await connection.ready();
		}
		await eventually(() => events.length >= 6);
		expect(events.map(({ payload }) => payload.idle_seconds)).toEqual([0, 100, 1, 101, 2, 102]);
	});

	/** Renews the connection every few hundred milliseconds, while `during` runs. */
	async function renewingOften(
		settings: { replayMaxEvents?: number },
		during: () => Promise<void>,
	) {
		clock.times = 100;
		sim.configure({ wsTokenLifetimeMs: 40_000, ...settings });
		try {
			await during();
		} finally {
			clock.times = SPEEDUP;
			const { maxEvents } = dialect.socket.replay;
			sim.configure({ wsTokenLifetimeMs: 300_000, replayMaxEvents: maxEvents });
		}
	}

	/** Sends events until the connection has been renewed four times. */
	async function sendDuringRenewals(): Promise<number> {
		const sockets = () => sim.requests.filter(({ path }) => path.endsWith('stream')).length;
		let sent = 0;
		for (const before = sockets(); sockets() < before + 4; sent += 1) {
			sim.sessions.nudge(session, sent);
			await realSleep(3);
		}
		return sent;
	}

	it('replaces a half-open socket with the next token, and gets the missed events', async () => {
		await renewingOften({}, async () => {
			const { connection, events } = connect();
			await connection.ready();
			sim.sessions.dropSilently(session);
			sim.sessions.nudge(session, 7);
			await eventually(() => events.length > 0);
			expect(events.map(({ type }) => type)).toEqual(['nudge_sent']);
		});
	});

	it('delivers each event of a stream once and in order while the connection is renewed four times', async () => {
		await renewingOften({}, async () => {
			const { connection, events } = connect();
			await connection.ready();
			const sent = await sendDuringRenewals();
			await eventually(() => events.length >= sent);
			const order = events.map(({ payload }) => payload.idle_seconds);
			expect(order).toEqual(Array.from({ length: sent }, (_, index) => index));
		});
	});

	it('without a replay, loses only what happens during a renewal', async () => {
		await renewingOften({ replayMaxEvents: 0 }, async () => {
			const { connection, events } = connect();
			await connection.ready();
			const sent = await sendDuringRenewals();
			await connection.ready();
			sim.sessions.nudge(session, sent);
			await eventually(() => events.at(-1)?.payload.idle_seconds === sent);
			const order = events.map(({ payload }) => Number(payload.idle_seconds));
			expect(order).toEqual([...new Set(order)].toSorted((one, two) => one - two));
			const gaps = order.filter((number, index) => number > (order[index - 1] ?? -1) + 1);
			expect(gaps.length).toBeLessThanOrEqual(4);
		});
	});

	it('reconnects after all tokens expired', async () => {
		const { connection, events } = connect();
		await connection.ready();
		sim.sessions.expireTokens();
		sim.sessions.closeSockets(4401);
		await eventually(() => sim.sessions.openSockets(session) === 1);
		await connection.ready();
		sim.sessions.nudge(session);
		await eventually(() => events.length === 1);
		expect(events.map(({ type }) => type)).toEqual(['nudge_sent']);
	});

	it("doesn't take a session from another client without Disconnect Other Connection", async () => {
		const other = connect({ clientId: 'other' });
		await other.connection.ready();
		const waiting = connect();
		await eventually(() => waiting.connection.lastFailure !== null);
		expect(waiting.connection.lastFailure).toMatchObject({
			kind: 'in_use_or_inactive',
			originalMessage: ['close code 1008', dialect.socket.closeReason('claim_conflict')]
				.filter(Boolean)
				.join(' · '),
		});
		await waiting.connection.close();
		expect(sim.sessions.clientIds(session)).toEqual(['other']);
		const disconnecting = connect({ disconnectOther: true });
		expect(await disconnecting.connection.ready()).toEqual({ kind: 'open' });
		expect(sim.sessions.clientIds(session)).toEqual(['client-1']);
	});

	it("a client that lost the session to another one with Disconnect Other Connection doesn't take it back", async () => {
		const one = connect({ disconnectOther: true });
		await one.connection.ready();
		const other = connect({ clientId: 'other', disconnectOther: true });
		await other.connection.ready();
		// Several attempts of the first one.
		await clock.sleep(30_000);
		const claims = sim.requests.filter(({ query }) => query.claim === '1');
		expect(claims).toHaveLength(2);
		expect(sim.sessions.clientIds(session)).toEqual(['other']);
	});

	it('reconnects automatically when the agent is active again', async () => {
		const { connection } = connect();
		await connection.ready();
		sim.sessions.setAgentActive(fixtures.agents.full, false);
		await eventually(() => sim.sessions.openSockets(session) === 0);
		sim.sessions.setAgentActive(fixtures.agents.full, true);
		await eventually(() => sim.sessions.openSockets(session) === 1);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	it('ends when the session is closed', async () => {
		const { connection, events } = connect();
		await connection.ready();
		sim.sessions.close(session);
		await eventually(() => connection.signal.aborted);
		expect(events.map(({ type }) => type)).toEqual(['session_closed']);
		expect(await connection.ready()).toMatchObject({ ending: { kind: 'session_closed' } });
		const late = connect();
		expect(await late.connection.ready()).toMatchObject({ ending: { kind: 'session_closed' } });
	});
});
