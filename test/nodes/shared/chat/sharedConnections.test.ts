import { SharedConnections } from '../../../../nodes/shared/chat/sharedConnections';
import type { LeaseIdentity, LeaseOptions } from '../../../../nodes/shared/chat/lease';
import type { ChatEnded } from '../../../../nodes/shared/chat/endings';
import type { MintResult } from '../../../../nodes/shared/chat/token';
import { messageFrame } from '../../../../nodes/shared/chat/frames';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import {
	eventFrame,
	FakeClock,
	fakeSockets,
	freshToken,
	hideApiToken,
	messageSent,
	settle,
	outgoing,
} from './fakes';

/** The connections of one process, with a fake service and clock. */
function processHarness(mint?: (n: number, clock: FakeClock) => Promise<MintResult>) {
	const clock = new FakeClock();
	const { sockets, socket, connect, openSocket } = fakeSockets(clock);
	const mintedBy: string[] = [];
	const connections = new SharedConnections({ openSocket, clock, random: () => 0.5 });
	const identity = {
		sessionId: 's-1',
		baseUrl: 'https://api.example.com',
		account: 'account-1',
		node: 'node-1',
	};
	const lease = (
		usedBy: LeaseOptions['usedBy'] = 'action',
		changes: Partial<LeaseOptions> = {},
	) => {
		const events: unknown[] = [];
		const endings: ChatEnded[] = [];
		const joined = connections.lease({
			...identity,
			instanceId: 'instance-1',
			usedBy,
			disconnectOther: false,
			mintToken: async () => {
				mintedBy.push(usedBy);
				return await (mint ?? freshToken)(mintedBy.length, clock);
			},
			hideApiToken,
			log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
			onEvent: ({ eventId }) => events.push(eventId),
			onEnded: (ending) => endings.push(ending),
			...changes,
		});
		return { lease: joined, events, endings };
	};
	/** Waits as the trigger of `lease`. Counts when another node has connected the session. */
	const whenConnected = (changes: Partial<LeaseIdentity> = {}) => {
		const onConnected = jest.fn();
		const stop = connections.whenConnected({ ...identity, ...changes }, onConnected);
		return { onConnected, stop };
	};
	const clientIds = () => sockets.map(({ query }) => query.get('client_id'));
	return { clock, sockets, socket, lease, whenConnected, connect, mintedBy, clientIds };
}

describe('one connection for a session', () => {
	it('is shared by all leases of the same session and account', async () => {
		const { lease, sockets, connect } = processHarness();
		const [one, two] = [lease(), lease('trigger')];
		await connect();
		expect(await one.lease.ready()).toEqual({ kind: 'open' });
		expect(await two.lease.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(1);
	});

	it.each<[string, Partial<LeaseOptions>]>([
		['session', { sessionId: 's-2' }],
		['service', { baseUrl: 'https://other.example.com' }],
		['account', { account: 'account-2' }],
	])('differs for another %s', async (_name, changes) => {
		const { lease, sockets, clientIds } = processHarness();
		lease();
		lease('action', changes);
		await settle();
		expect(sockets).toHaveLength(2);
		expect(new Set(clientIds()).size).toBe(2);
	});

	it('stays open until 0.5 seconds after its last lease', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		one.close();
		await clock.advance(60_000);
		expect(socket().closeCalls).toEqual([]);
		two.close();
		await clock.advance(499);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
	});

	it('counts that time from the end of the last lease', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		one.close();
		await clock.advance(400);
		two.close();
		await clock.advance(499);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
	});

	it('is reused by a lease within that time, and stays open', async () => {
		const { lease, sockets, connect, clock } = processHarness();
		const first = lease().lease;
		await connect();
		first.close();
		await clock.advance(400);
		const next = lease().lease;
		expect(await next.ready()).toEqual({ kind: 'open' });
		await clock.advance(60_000);
		next.close();
		await clock.advance(499);
		expect(sockets).toHaveLength(1);
		expect(sockets[0]?.closeCalls).toEqual([]);
	});

	it('is opened again after that, when the old socket has ended', async () => {
		const { lease, sockets, socket, connect, clock } = processHarness();
		const first = lease().lease;
		await connect();
		socket().deaf = true;
		first.close();
		await clock.advance(500);
		const next = lease().lease;
		await settle();
		expect(sockets).toHaveLength(1);
		socket().ends(1000);
		await connect();
		expect(sockets).toHaveLength(2);
		expect(await next.ready()).toEqual({ kind: 'open' });
	});

	it('leaves no timer', async () => {
		const { lease, connect, clock } = processHarness();
		const trigger = lease('trigger').lease;
		await connect();
		trigger.close();
		await clock.advance(5_000);
		expect(clock.pending).toBe(0);
	});
});

describe('events', () => {
	it('reach every lease once, from its start to its end', async () => {
		const { lease, socket, connect } = processHarness();
		const one = lease();
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const two = lease('trigger');
		for (const id of ['e2', 'e2']) socket().receives(eventFrame('nudge_sent', id));
		one.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e3'));
		expect(one.events).toEqual(['e1', 'e2']);
		expect(two.events).toEqual(['e2', 'e3']);
	});

	it('reach other leases once if one listener fails, and that one at a replay', async () => {
		const { lease, socket, connect } = processHarness();
		let isFull = true;
		const delivered: unknown[] = [];
		lease('trigger', {
			onEvent: ({ eventId }) => {
				if (isFull) throw new Error('full');
				delivered.push(eventId);
			},
		});
		const other = lease();
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		isFull = false;
		for (const id of ['e1', 'e1']) socket().receives(eventFrame('nudge_sent', id));
		expect(other.events).toEqual(['e1']);
		expect(delivered).toEqual(['e1']);
	});

	it('that arrive while a trigger is published again reach its next lease', async () => {
		const { lease, sockets, socket, connect, clock } = processHarness();
		const before = lease('trigger');
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(2_999);
		const after = lease('trigger');
		// Not before the trigger has the lease.
		expect(after.events).toEqual([]);
		await settle();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(after.events).toEqual(['e1', 'e2']);
		expect(sockets).toHaveLength(1);
		const third = lease('trigger');
		await settle();
		expect(third.events).toEqual([]);
	});

	it("aren't kept for a trigger whose next lease began before it ended", async () => {
		const { lease, socket, connect } = processHarness();
		const [before, successor] = [lease('trigger'), lease('trigger')];
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const third = lease('trigger');
		await settle();
		expect(successor.events).toEqual(['e1']);
		expect(third.events).toEqual([]);
	});

	it('are kept again each time a trigger is published', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const before = lease('trigger');
		await connect();
		before.lease.close();
		await clock.advance(1_000);
		lease('trigger').lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(2_500);
		const after = lease('trigger');
		await settle();
		expect(after.events).toEqual(['e1']);
	});

	/** A trigger on a connection that an action opened. An event arrives after both have ended. */
	async function unpublished() {
		const use = processHarness();
		const action = use.lease('action');
		await use.connect();
		const trigger = use.lease('trigger');
		action.lease.close();
		trigger.lease.close();
		use.socket().receives(eventFrame('nudge_sent', 'e1'));
		return use;
	}

	it('reach a trigger that is published again on a connection that an action opened, even if another trigger starts first', async () => {
		const { lease, sockets, clock } = await unpublished();
		const other = lease('trigger', { node: 'node-2' });
		await clock.advance(200);
		const again = lease('trigger');
		await settle();
		expect(again.events).toEqual(['e1']);
		expect(other.events).toEqual([]);
		expect(sockets).toHaveLength(1);
	});

	it('reach a trigger that is published again alone on a connection that an action opened', async () => {
		const { lease, sockets, clock } = await unpublished();
		await clock.advance(500);
		const again = lease('trigger');
		await settle();
		expect(again.events).toEqual(['e1']);
		expect(sockets).toHaveLength(1);
	});

	it('reach a trigger that is published again with a new API token, whose connection waits for the end of the old one', async () => {
		const { lease, socket, sockets, connect, clock } = processHarness();
		const before = lease('trigger');
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const after = lease('trigger', { account: 'account-2' });
		expect(socket().closeCalls).toEqual([1000]);
		await settle();
		expect(sockets).toHaveLength(2);
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect([before.events, after.events]).toEqual([[], ['e1', 'e2']]);
		after.lease.close();
		await clock.advance(3_000);
	});

	it('are kept for a trigger that is published again: the latest 1,000', async () => {
		const { lease, socket, connect } = processHarness();
		const before = lease('trigger');
		await connect();
		before.lease.close();
		for (let id = 0; id <= 1_000; id += 1) socket().receives(eventFrame('nudge_sent', id));
		const { events } = lease('trigger');
		await settle();
		expect(events).toHaveLength(1_000);
		expect([events[0], events.at(-1)]).toEqual(['1', '1000']);
	});

	it('reach a trigger that is published again while another one uses the session', async () => {
		const { lease, socket, connect } = processHarness();
		const before = lease('trigger');
		const other = lease('trigger', { node: 'node-2' });
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const newcomer = lease('trigger', { node: 'node-3' });
		const after = lease('trigger');
		await settle();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(after.events).toEqual(['e1', 'e2']);
		expect(other.events).toEqual(['e1', 'e2']);
		expect(newcomer.events).toEqual(['e2']);
	});

	it('reach a trigger that is published again while it is tested in the editor', async () => {
		const { lease, socket, connect } = processHarness();
		const before = lease('trigger');
		lease('test');
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const after = lease('trigger');
		await settle();
		expect(after.events).toEqual(['e1']);
	});

	it("in the meantime don't reach a later trigger or a test in the editor", async () => {
		const { lease, socket, connect, clock } = processHarness();
		lease();
		const before = lease('trigger');
		await connect();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const testing = lease('test');
		await clock.advance(3_000);
		const late = lease('trigger');
		await settle();
		expect(testing.events).toEqual([]);
		expect(late.events).toEqual([]);
	});
});

describe('a trigger whose connection has ended', () => {
	it('joins when an action has connected the session, and gets the events since its connection began', async () => {
		const { lease, whenConnected, socket, sockets, clock } = processHarness();
		const { onConnected } = whenConnected();
		lease('action', { node: 'node-2' });
		await settle();
		socket().opens();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(499);
		expect(onConnected).not.toHaveBeenCalled();
		await clock.advance(1);
		expect(onConnected).toHaveBeenCalledTimes(1);
		const trigger = lease('trigger');
		await settle();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(trigger.events).toEqual(['e1', 'e2']);
		await clock.advance(10_000);
		expect([sockets.length, onConnected.mock.calls.length]).toEqual([1, 1]);
	});

	it('joins after attempts of the action that failed for longer than a trigger is published again', async () => {
		const { lease, whenConnected, socket, connect, clock } = processHarness();
		const { onConnected } = whenConnected();
		lease();
		await settle();
		for (const seconds of [1, 2, 4]) {
			socket().breaks();
			await clock.advance(seconds * 1_000);
		}
		socket().opens();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(500);
		expect(onConnected).toHaveBeenCalledTimes(1);
		const trigger = lease('trigger');
		await connect();
		expect(trigger.events).toEqual(['e1']);
	});

	it("doesn't join a connection that fails, or one of another session or account", async () => {
		const { lease, whenConnected, socket, connect, clock } = processHarness();
		const { onConnected } = whenConnected();
		lease('action', { sessionId: 's-2' });
		await connect();
		lease('action', { account: 'account-2' });
		await connect();
		lease();
		await settle();
		for (const ms of [1_000, 0]) {
			socket().opens();
			socket().ends(1008);
			await clock.advance(ms);
		}
		await clock.advance(60_000);
		expect(onConnected).not.toHaveBeenCalled();
	});

	it("doesn't join after it stopped waiting, and later leases don't get the events", async () => {
		const { lease, whenConnected, socket, connect, clock } = processHarness();
		const { onConnected, stop } = whenConnected();
		lease();
		await settle();
		stop();
		socket().opens();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await connect();
		await clock.advance(3_000);
		const trigger = lease('trigger');
		await settle();
		expect(onConnected).not.toHaveBeenCalled();
		expect(trigger.events).toEqual([]);
	});
});

describe('leases with different limits', () => {
	const reject = async ({ socket, clock }: ReturnType<typeof processHarness>, ms: number) => {
		socket().opens();
		socket().ends(1008, 'policy');
		await clock.advance(ms);
	};

	it('an action gives up after 1 second if the service rejects it, and the trigger retries', async () => {
		const use = processHarness();
		const [action, trigger] = [use.lease(), use.lease('trigger')];
		const unsent = action.lease.sendWithAck(outgoing('a'), 10_000);
		await settle();
		expect(trigger.lease.lastFailure).toBeNull();
		await reject(use, 1_000);
		expect(action.endings).toEqual([]);
		expect(trigger.lease.lastFailure).toMatchObject({ kind: 'in_use_or_inactive' });
		await reject(use, 0);
		const [ending] = action.endings;
		expect(await unsent).toEqual({ kind: 'not_sent', readiness: { kind: 'ended', ending } });
		expect(action.lease.ending).toBe(ending);
		expect(action.endings).toMatchObject([{ kind: 'in_use_or_inactive', outcome: 'not_sent' }]);
		expect(await action.lease.ready()).toEqual({ kind: 'ended', ending: action.endings[0] });
		expect(action.lease.signal.aborted).toBe(true);
		expect(trigger.endings).toEqual([]);
		await use.clock.advance(20_000);
		expect(use.sockets).toHaveLength(3);
		await use.connect();
		expect(await trigger.lease.ready()).toEqual({ kind: 'open' });
	});

	it('an action gives up after 4 more attempts if the service is unreachable, and the trigger retries', async () => {
		const use = processHarness();
		const [action, trigger] = [use.lease(), use.lease('trigger')];
		await settle();
		for (const seconds of [1, 2, 4, 8]) {
			use.socket().breaks();
			await use.clock.advance(seconds * 1_000);
			expect(trigger.lease.lastFailure).toMatchObject({ kind: 'unreachable' });
			expect(action.endings).toEqual([]);
		}
		use.socket().breaks();
		await settle();
		expect(action.endings).toMatchObject([{ kind: 'unreachable' }]);
		expect(trigger.endings).toEqual([]);
	});

	it('an action during a slow poll triggers an immediate attempt, and gets its result', async () => {
		const use = processHarness();
		use.lease('trigger');
		await settle();
		for (const ms of [1_000, 20_000, 5_000]) await reject(use, ms);
		expect(use.sockets).toHaveLength(3);
		const action = use.lease();
		await settle();
		expect(use.sockets).toHaveLength(4);
		expect(action.endings).toEqual([]);
		await reject(use, 0);
		expect(action.endings).toHaveLength(1);
	});

	it("an attempt that began before the action doesn't count, and the next one follows soon", async () => {
		const use = processHarness();
		use.lease('trigger');
		await settle();
		await reject(use, 1_000);
		use.socket().opens();
		const action = use.lease('action', { disconnectOther: true });
		use.socket().ends(1008);
		await settle();
		expect(action.endings).toEqual([]);
		await use.clock.advance(1_000);
		expect(use.sockets.map(({ query }) => query.get('claim'))).toEqual([null, null, '1']);
		await use.connect();
		expect(await action.lease.ready()).toEqual({ kind: 'open' });
	});

	it("many actions during an outage don't shorten the time for which the trigger retries", async () => {
		const use = processHarness();
		const trigger = use.lease('trigger');
		await settle();
		for (let count = 0; count < 20; count++) {
			use.socket().breaks();
			await settle();
			use.lease();
			await settle();
		}
		expect(trigger.endings).toEqual([]);
	});

	it("many actions while another client uses the session don't shorten it either", async () => {
		const use = processHarness();
		const trigger = use.lease('trigger');
		await settle();
		for (let count = 0; count < 40; count++) {
			await reject(use, 0);
			use.lease();
			await use.clock.advance(1_000);
		}
		expect(trigger.endings).toEqual([]);
	});

	it('gives up if all leases have given up', async () => {
		const use = processHarness();
		const warn = jest.fn();
		const { endings, lease } = use.lease('action', { log: { debug: warn, info: warn, warn } });
		await settle();
		await reject(use, 1_000);
		await reject(use, 60_000);
		expect(endings).toHaveLength(1);
		expect(warn.mock.calls).toEqual([
			['Reconnecting to the chat session', expect.anything()],
			[endings[0]?.message, expect.anything()],
		]);
		expect(use.sockets).toHaveLength(2);
		lease.close();
		expect(endings).toHaveLength(1);
		use.lease();
		await settle();
		expect(use.sockets).toHaveLength(3);
	});

	it('sends claim=1 only while a lease may take over', async () => {
		const use = processHarness();
		use.lease('trigger');
		const disconnecting = use.lease('action', { disconnectOther: true });
		await settle();
		use.socket().breaks();
		disconnecting.lease.close();
		await use.clock.advance(1_000);
		expect(use.sockets.map(({ query }) => query.get('claim'))).toEqual(['1', null]);
	});

	it('requests tokens for the trigger', async () => {
		const use = processHarness();
		use.lease();
		await settle();
		use.lease('trigger');
		use.lease();
		use.socket().ends(4401);
		await use.clock.advance(1_000);
		expect(use.mintedBy).toEqual(['action', 'trigger']);
	});

	it('ends other leases if onEnded of one throws, and logs the error', async () => {
		const { lease, socket, connect } = processHarness();
		const warn = jest.fn();
		const onEnded = () => {
			throw new Error('no matter');
		};
		lease('action', { onEnded, log: { debug: jest.fn(), info: jest.fn(), warn } });
		const other = lease();
		await connect();
		socket().ends(1003);
		await settle();
		expect(other.endings.map(({ kind }) => kind)).toEqual(['client_bug']);
		expect(warn).toHaveBeenCalledWith("The end of a chat session connection couldn't be reported", {
			cause: 'Error: no matter',
		});
	});

	it('ends every lease once when the session is closed', async () => {
		const use = processHarness(async () => ({ kind: 'session_closed', error: null }));
		const all = [use.lease(), use.lease('trigger'), use.lease('test')];
		await settle();
		expect(all.map(({ endings }) => endings.map(({ kind }) => kind))).toEqual([
			['session_closed'],
			['session_closed'],
			['session_closed'],
		]);
	});
});

describe('client_id', () => {
	it('stays the same across reconnects, and differs in another process', async () => {
		const [one, two] = [processHarness(), processHarness()];
		one.lease();
		two.lease();
		await settle();
		one.socket().breaks();
		await one.clock.advance(1_000);
		expect(new Set(one.clientIds()).size).toBe(1);
		expect(two.clientIds()[0]).not.toBe(one.clientIds()[0]);
	});

	it('is the same in every process with an active trigger, so that it survives a restart', async () => {
		const [before, after] = [processHarness(), processHarness()];
		before.lease('trigger');
		after.lease('trigger', { sessionId: 's-2' });
		after.lease('action', { sessionId: 's-2' });
		after.lease();
		await settle();
		expect(after.clientIds()).toContain(before.clientIds()[0]);
	});

	it('of an action while a trigger waits for its connection is the one that survives a restart', async () => {
		const { lease, whenConnected, clientIds } = processHarness();
		whenConnected();
		lease();
		const afterRestart = processHarness();
		afterRestart.lease('trigger');
		await settle();
		expect(clientIds()).toEqual(afterRestart.clientIds());
	});

	it('stays the same across reconnects if a trigger has joined', async () => {
		const { lease, socket, connect, clock, clientIds } = processHarness();
		const action = lease();
		await connect();
		lease('trigger');
		action.lease.close();
		socket().ends(1006, '');
		await clock.advance(2_000);
		expect(clientIds()).toHaveLength(2);
		expect(new Set(clientIds()).size).toBe(1);
	});

	it('of a trigger after an action is the one that survives a restart', async () => {
		const { lease, sockets, connect, clock, clientIds } = processHarness();
		const action = lease();
		await connect();
		action.lease.close();
		const events = lease('trigger').events;
		sockets[0]?.ends(1000, '');
		await connect();
		await clock.advance(1_000);
		const afterRestart = processHarness();
		afterRestart.lease('trigger');
		await settle();
		expect(clientIds()).toEqual([expect.any(String), ...afterRestart.clientIds()]);
		expect(clientIds()[0]).not.toBe(clientIds()[1]);
		sockets[1]?.receives(eventFrame('nudge_sent', 'e1'));
		expect(events).toEqual(['e1']);
	});

	it('of a trigger that has just ended is kept for an action that reuses its connection', async () => {
		const { lease, sockets, connect } = processHarness();
		const trigger = lease('trigger');
		await connect();
		trigger.lease.close();
		expect(await lease().lease.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(1);
		expect(sockets[0]?.closeCalls).toEqual([]);
	});

	it('of a test in the editor differs from that of an active trigger', async () => {
		const [active, testing] = [processHarness(), processHarness()];
		active.lease('trigger');
		testing.lease('action', { sessionId: 's-2' });
		testing.lease('test');
		await settle();
		expect(testing.clientIds()).not.toContain(active.clientIds()[0]);
	});

	it('contains no information about the instance, session, or account', async () => {
		const { lease, clientIds } = processHarness();
		lease('trigger');
		await settle();
		expect(clientIds()).toEqual([expect.stringMatching(/^n8n-[0-9a-f]{32}$/)]);
	});
});

describe('sending', () => {
	it('runs one lease after another, in the order of requests', async () => {
		const { lease, socket, connect } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		const order: string[] = [];
		const send = async (from: typeof one, texts: string[]) => {
			const release = await from.acquireSend();
			for (const text of texts) {
				order.push(text);
				await from.sendWithAck(outgoing(text), 10_000);
			}
			release();
		};
		const both = Promise.all([send(one, ['a1', 'a2']), send(two, ['b1'])]);
		await connect();
		socket().onSend = () => socket().receives(messageSent);
		socket().receives(messageSent);
		await both;
		expect(order).toEqual(['a1', 'a2', 'b1']);
		expect(socket().sent).toEqual(['a1', 'a2', 'b1']);
	});

	it('returns immediately if its lease ends, and the next frame still waits for the ack', async () => {
		const { lease, socket, connect } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		const left = one.sendWithAck(outgoing('a'), 10_000);
		const next = two.sendWithAck(outgoing('b'), 10_000);
		await settle();
		one.close();
		expect(await left).toEqual({ kind: 'aborted' });
		expect(socket().sent).toEqual(['a']);
		socket().receives(messageSent);
		await settle();
		expect(socket().sent).toEqual(['a', 'b']);
		socket().receives(messageSent);
		expect((await next).kind).toBe('ack');
	});

	it.each(['stopped', 'time_limit'] as const)(
		'reports that its lease was closed, not that the connection was lost: %s',
		async (reason) => {
			const { clock, lease, socket, connect } = processHarness();
			const { lease: one } = lease();
			await connect();
			const frame = messageFrame('hi', { idempotencyKey: 'k' });
			const outcome = sendTurn(one, frame, { clock, random: () => 0.5 });
			await settle();
			one.close(reason);
			expect(await outcome).toEqual({ kind: 'unknown', why: reason, hasKey: true });
			expect(socket().sent).toHaveLength(1);
		},
	);

	it("doesn't happen if its lease ends before its turn", async () => {
		const { lease, socket, connect } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		void one.sendWithAck(outgoing('a'), 10_000);
		const never = two.sendWithAck(outgoing('b'), 10_000);
		two.close();
		expect(await never).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
		socket().receives(messageSent);
		await settle();
		expect(socket().sent).toEqual(['a']);
	});

	it('continues if its lease ends while it waits, and the others keep their order', async () => {
		const { lease, connect } = processHarness();
		const [one, two, three] = [lease().lease, lease().lease, lease().lease];
		await connect();
		const order: string[] = [];
		const releaseOne = await one.acquireSend();
		const sendOfTwo = two.acquireSend();
		const sendOfThree = three.acquireSend().then(() => order.push('three'));
		await settle();
		two.close();
		(await sendOfTwo)();
		await settle();
		expect(order).toEqual([]);
		releaseOne();
		await sendOfThree;
		expect(order).toEqual(['three']);
	});
});
