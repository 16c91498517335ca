import {
	type ChatLease,
	type LeaseOptions,
	SharedConnections,
} from '../../../../nodes/shared/chat/sharedConnections';
import type { ChatEnded } from '../../../../nodes/shared/chat/reconnectPolicy';
import { sendTurn } from '../../../../nodes/shared/chat/turn';
import {
	eventFrame,
	FakeClock,
	fakeSockets,
	freshToken,
	leaseOptions,
	messageSent,
	settle,
	outgoing,
	messageFrame,
} from './fakes';

/** The connections of one process, with a fake service and clock. */
function processHarness() {
	const clock = new FakeClock();
	const { sockets, socket, connect, openSocket } = fakeSockets(clock);
	const mintedBy: string[] = [];
	const connections = new SharedConnections({ openSocket, clock, random: () => 0.5 });
	const lease = (
		usedBy: LeaseOptions['usedBy'] = 'action',
		changes: Partial<LeaseOptions> = {},
	) => {
		const events: unknown[] = [];
		const endings: ChatEnded[] = [];
		const losses: ChatEnded[] = [];
		const joined = connections.lease({
			...leaseOptions,
			usedBy,
			mintToken: async () => {
				mintedBy.push(usedBy);
				return await freshToken(mintedBy.length);
			},
			onEvent: ({ eventId }) => events.push(eventId),
			onLost: (ending) => losses.push(ending),
			onEnded: (ending) => endings.push(ending),
			...changes,
		});
		return { lease: joined, events, endings, losses };
	};
	const clientIds = () => sockets.map(({ query }) => query.get('client_id'));
	const publish = () => connections.addPublishedTrigger({});
	return { clock, sockets, socket, lease, connect, mintedBy, clientIds, publish };
}

const isReady = async ({ connection, signal }: ChatLease) => await connection.ready(signal);

const send = async ({ connection, signal }: ChatLease, text: string) =>
	await connection.sendWithAck(outgoing(text), 10_000, signal);

describe('one connection for a session', () => {
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

	it('is shared, stays open until 0.5 seconds after its last action, and is reused within that time', async () => {
		const { lease, sockets, socket, connect, clock } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		expect([one.connection.isConnected, two.connection.isConnected]).toEqual([true, true]);
		one.close();
		await clock.advance(60_000);
		two.close();
		await clock.advance(400);
		const next = lease().lease;
		expect(await isReady(next)).toBe(true);
		await clock.advance(60_000);
		next.close();
		await clock.advance(499);
		expect([sockets.length, socket().closeCalls]).toEqual([1, []]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
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
		expect(await isReady(next)).toBe(true);
	});

	it('closes with its last trigger at once, and leaves no timer', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const trigger = lease('trigger').lease;
		await connect();
		trigger.close();
		expect(socket().closeCalls).toEqual([1000]);
		await clock.advance(2_000);
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

	it('that arrive between two actions are missed events of the second one only', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const first = lease();
		await connect();
		await clock.advance(1_000);
		first.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const [second, third] = [lease(), lease()];
		socket().receives(eventFrame('nudge_sent', 'e2'));
		const missed = [first, second, third].map((one) => one.lease.missed.map(([e]) => e.eventId));
		expect(missed).toEqual([[], ['e1'], []]);
		expect([second.events, third.events]).toEqual([['e2'], ['e2']]);
	});

	it('that arrive between two actions are missed also while a trigger uses the session', async () => {
		const { lease, socket, connect } = processHarness();
		const [, first] = [lease('trigger'), lease()];
		await connect();
		first.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect(lease('trigger').lease.missed).toEqual([]);
		expect(lease().lease.missed.map(([e]) => e.eventId)).toEqual(['e1']);
	});

	it('that arrive after the second of two actions are missed for half a second from its end', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const first = lease();
		await connect();
		first.lease.close();
		await clock.advance(100);
		const second = lease();
		await clock.advance(350);
		second.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(400);
		expect(lease().lease.missed).toEqual([[expect.objectContaining({ eventId: 'e1' }), 'no']]);
	});

	it('that arrive while a trigger is published again reach it by the next replay, also if an action keeps the connection', async () => {
		const { lease, socket, connect, clock } = processHarness();
		const [before, other] = [lease('trigger'), lease()];
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		const after = lease('trigger');
		for (let reconnect = 0; reconnect < 2; reconnect++) {
			socket().ends(1011);
			await clock.advance(1_000);
			await connect();
			for (const id of ['e1', 'e2', 'e3']) socket().receives(eventFrame('nudge_sent', id));
		}
		// n8n has stored the key of e1, which the former lease got.
		expect(after.events).toEqual(['e1', 'e2', 'e3']);
		expect(other.events).toEqual(['e1', 'e2', 'e3']);
	});
});

describe('a trigger whose session is lost', () => {
	it('is told once an outage, and connects again after a minute', async () => {
		const { lease, sockets, connect, socket, clock } = processHarness();
		const trigger = lease('trigger');
		await settle();
		for (const seconds of [1, 2, 4, 8, 16, 30, 0]) {
			socket().breaks();
			await clock.advance(seconds * 1_000);
		}
		expect(trigger.losses).toMatchObject([{ kind: 'unreachable' }]);
		await clock.advance(59_999);
		expect(sockets).toHaveLength(7);
		await clock.advance(1);
		await connect();
		expect(await isReady(trigger.lease)).toBe(true);
		await clock.advance(60_000);
		for (let minute = 1; minute <= 150; minute++) {
			if (socket().readyState < 3) socket().breaks();
			await clock.advance(60_000);
		}
		expect(trigger.losses).toHaveLength(2);
		expect(trigger.endings).toEqual([]);
		trigger.lease.close();
	});

	it('is told after a minute of 1008', async () => {
		const { lease, socket, clock } = processHarness();
		const trigger = lease('trigger');
		await settle();
		for (const seconds of [1, 20, 20, 20]) {
			expect(trigger.losses).toEqual([]);
			socket().opens();
			socket().ends(1008, 'policy');
			await clock.advance(seconds * 1_000);
		}
		expect(trigger.losses).toEqual([]);
		socket().ends(1008, 'policy');
		await settle();
		expect(trigger.losses).toMatchObject([{ kind: 'rejected' }]);
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
		const unsent = send(action.lease, 'a');
		await settle();
		await reject(use, 1_000);
		expect(action.endings).toEqual([]);
		await reject(use, 0);
		const [ending] = action.endings;
		expect(await unsent).toEqual({ kind: 'not_sent', ending });
		expect(action.endings).toMatchObject([{ kind: 'rejected', outcome: 'not_sent' }]);
		expect(await isReady(action.lease)).toBe(false);
		expect(action.lease.signal.reason).toBe(ending);
		expect(trigger.endings).toEqual([]);
		await use.clock.advance(20_000);
		expect(use.sockets).toHaveLength(3);
		await use.connect();
		expect(await isReady(trigger.lease)).toBe(true);
	});

	it('an action during a slow poll triggers an immediate attempt, and gives up after a second one', async () => {
		const use = processHarness();
		use.lease('trigger');
		await settle();
		for (const ms of [1_000, 20_000, 5_000]) await reject(use, ms);
		expect(use.sockets).toHaveLength(3);
		const action = use.lease();
		await settle();
		expect(use.sockets).toHaveLength(4);
		await reject(use, 1_200);
		expect([use.sockets.length, action.endings.length]).toEqual([5, 0]);
		await reject(use, 0);
		expect(action.endings).toHaveLength(1);
		// The trigger continues with slow polls.
		await use.clock.advance(20_000);
		expect(use.sockets).toHaveLength(6);
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
		expect(await isReady(action.lease)).toBe(true);
	});

	it.each([0, 20, 60])(
		'an action that was connected for %i s gives up after 4 attempts, and a longer wait and the trigger retry',
		async (seconds) => {
			const use = processHarness();
			const [action, trigger] = [use.lease(), use.lease('trigger')];
			const wait = use.lease('action', { patienceMs: 60_000 });
			await settle();
			if (seconds > 0) await use.connect();
			await use.clock.advance(seconds * 1_000);
			use.socket().breaks();
			for (const delay of [1, 2, 4, 8]) {
				await use.clock.advance(delay * 1_000);
				expect(action.endings).toEqual([]);
				use.socket().breaks();
			}
			await settle();
			expect(action.endings).toMatchObject([{ kind: 'unreachable' }]);
			expect([wait.endings, trigger.endings, trigger.losses]).toEqual([[], [], []]);
		},
	);

	it('sends claim=1 only while a lease may take over, and requests tokens for the trigger', async () => {
		const use = processHarness();
		const disconnecting = use.lease('action', { disconnectOther: true });
		await settle();
		use.lease('trigger');
		use.lease();
		use.socket().ends(4401);
		disconnecting.lease.close();
		await use.clock.advance(1_000);
		expect(use.sockets.map(({ query }) => query.get('claim'))).toEqual(['1', null]);
		expect(use.mintedBy).toEqual(['action', 'trigger']);
	});
});

describe('client_id', () => {
	// Reconnects keep it: connection.test.ts.
	it('differs in another process', async () => {
		const [one, two] = [processHarness(), processHarness()];
		one.lease();
		two.lease();
		await settle();
		expect(two.clientIds()[0]).not.toBe(one.clientIds()[0]);
	});

	it('is the same in every process with a published trigger, also without a session and for actions', async () => {
		const [before, after] = [processHarness(), processHarness()];
		before.publish();
		before.lease('trigger');
		after.publish();
		after.lease();
		await settle();
		expect(after.clientIds()).toEqual(before.clientIds());
	});

	it('stays the same as long as a connection lasts, and is that of the process again when the last trigger has closed', async () => {
		const { publish, lease, connect, clientIds, socket, clock } = processHarness();
		const action = async () => {
			const { lease: opened } = lease();
			await connect();
			return opened;
		};
		const close = async (opened: ChatLease) => {
			opened.close();
			await clock.advance(500);
		};
		await close(await action());
		const removals = [publish(), publish()];
		const during = await action();
		for (const remove of removals) remove();
		lease().lease.close();
		socket().ends(1011);
		await clock.advance(1_000);
		await connect();
		await close(during);
		await action();
		const [ofProcess, ofTriggers] = clientIds();
		expect(ofTriggers).not.toBe(ofProcess);
		expect(clientIds()).toEqual([ofProcess, ofTriggers, ofTriggers, ofProcess]);
	});

	it('changes without a pause when a trigger joins the connection of an action, after the ack of its frame', async () => {
		const { publish, lease, connect, clientIds, sockets, socket, clock } = processHarness();
		const { lease: action } = lease();
		await connect();
		const sending = send(action, 'a');
		await settle();
		publish();
		const trigger = lease('trigger');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(1);
		socket().receives(messageSent);
		expect((await sending).kind).toBe('ack');
		await connect();
		const [ofProcess, ofTriggers, ...others] = clientIds();
		expect([ofTriggers === ofProcess, others]).toEqual([false, []]);
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect(trigger.events).toEqual(['e1']);
		lease('trigger');
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
	});
});

describe('sending', () => {
	it('returns immediately if its lease ends, and the next frame still waits for the ack', async () => {
		const { lease, socket, connect } = processHarness();
		const [one, two] = [lease().lease, lease().lease];
		await connect();
		const left = send(one, 'a');
		const next = send(two, 'b');
		await settle();
		one.close();
		expect(await left).toEqual({ kind: 'unknown' });
		expect(socket().sent).toEqual(['a']);
		socket().receives(messageSent);
		await settle();
		expect(socket().sent).toEqual(['a', 'b']);
		socket().receives(messageSent);
		expect((await next).kind).toBe('ack');
	});

	it("isn't repeated after its lease was closed, also with a key", async () => {
		const { clock, lease, socket, connect } = processHarness();
		const { lease: one } = lease();
		await connect();
		const outcome = sendTurn(one, messageFrame('hi', 'k'), { clock, random: () => 0.5 });
		await settle();
		one.close();
		expect(await outcome).toEqual({ kind: 'unknown', hasKey: true });
		expect(socket().sent).toHaveLength(1);
	});
});
