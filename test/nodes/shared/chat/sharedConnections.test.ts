import { SharedConnections } from '../../../../nodes/shared/chat/sharedConnections';
import type { LeaseOptions } from '../../../../nodes/shared/chat/lease';
import type { ChatEnded } from '../../../../nodes/shared/chat/endings';
import type { MintResult } from '../../../../nodes/shared/chat/token';
import {
	eventFrame,
	FakeClock,
	fakeSockets,
	freshToken,
	messageSent,
	settle,
	outgoing,
} from './fakes';

/** The connections of one process, with fakes for all that is outside. */
function processRig(mint?: (n: number, clock: FakeClock) => Promise<MintResult>) {
	const clock = new FakeClock();
	const { sockets, socket, hold, openSocket } = fakeSockets(clock);
	const mintedBy: string[] = [];
	const connections = new SharedConnections({ openSocket, clock, random: () => 0.5 });
	const lease = (holder: LeaseOptions['holder'] = 'action', over: Partial<LeaseOptions> = {}) => {
		const events: unknown[] = [];
		const endings: ChatEnded[] = [];
		const joined = connections.lease({
			sessionId: 's-1',
			baseUrl: 'https://api.example.com',
			account: 'account-1',
			instanceId: 'instance-1',
			holder,
			node: 'node-1',
			takeOver: false,
			mintToken: async () => {
				mintedBy.push(holder);
				return await (mint ?? freshToken)(mintedBy.length, clock);
			},
			log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
			onEvent: ({ eventId }) => events.push(eventId),
			onEnded: (ending) => endings.push(ending),
			...over,
		});
		return { lease: joined, events, endings };
	};
	const clientIds = () => sockets.map(({ query }) => query.get('client_id'));
	return { clock, sockets, socket, lease, hold, mintedBy, clientIds };
}

describe('one connection for a session', () => {
	it('is shared by all who ask for the same session of the same account', async () => {
		const { lease, sockets, hold } = processRig();
		const [one, two] = [lease(), lease('trigger')];
		await hold();
		expect(await one.lease.ready()).toEqual({ kind: 'open' });
		expect(await two.lease.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(1);
	});

	it.each<[string, Partial<LeaseOptions>]>([
		['session', { sessionId: 's-2' }],
		['service', { baseUrl: 'https://other.example.com' }],
		['account', { account: 'account-2' }],
	])('is another one for another %s', async (_what, over) => {
		const { lease, sockets, clientIds } = processRig();
		lease();
		lease('action', over);
		await settle();
		expect(sockets).toHaveLength(2);
		expect(new Set(clientIds()).size).toBe(2);
	});

	it('lives until its last holder has left, and half a second longer', async () => {
		const { lease, socket, hold, clock } = processRig();
		const [one, two] = [lease().lease, lease().lease];
		await hold();
		one.close();
		await clock.advance(60_000);
		expect(socket().closeCalls).toEqual([]);
		two.close();
		await clock.advance(499);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
	});

	it('counts that time from the last one who leaves, however long before another one left', async () => {
		const { lease, socket, hold, clock } = processRig();
		const [one, two] = [lease().lease, lease().lease];
		await hold();
		one.close();
		await clock.advance(400);
		two.close();
		await clock.advance(499);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
	});

	it('is found open by who comes within that time, and then lives on', async () => {
		const { lease, sockets, hold, clock } = processRig();
		const first = lease().lease;
		await hold();
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

	it('is opened anew after that, once the old socket is gone', async () => {
		const { lease, sockets, socket, hold, clock } = processRig();
		const first = lease().lease;
		await hold();
		socket().deaf = true;
		first.close();
		await clock.advance(500);
		const next = lease().lease;
		await settle();
		expect(sockets).toHaveLength(1);
		socket().ends(1000);
		await hold();
		expect(sockets).toHaveLength(2);
		expect(await next.ready()).toEqual({ kind: 'open' });
	});

	it('leaves no timer behind', async () => {
		const { lease, hold, clock } = processRig();
		const trigger = lease('trigger').lease;
		await hold();
		trigger.close();
		await clock.advance(5_000);
		expect(clock.pending).toBe(0);
	});
});

describe('events', () => {
	it('reach every holder once, from its coming to its leaving', async () => {
		const { lease, socket, hold } = processRig();
		const one = lease();
		await hold();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const two = lease('trigger');
		for (const id of ['e2', 'e2']) socket().receives(eventFrame('nudge_sent', id));
		one.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e3'));
		expect(one.events).toEqual(['e1', 'e2']);
		expect(two.events).toEqual(['e2', 'e3']);
	});

	it('reach the others once though one holder could not take them, and that one at a replay', async () => {
		const { lease, socket, hold } = processRig();
		let isFull = true;
		const taken: unknown[] = [];
		lease('trigger', {
			onEvent: ({ eventId }) => {
				if (isFull) throw new Error('full');
				taken.push(eventId);
			},
		});
		const other = lease();
		await hold();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		isFull = false;
		for (const id of ['e1', 'e1']) socket().receives(eventFrame('nudge_sent', id));
		expect(other.events).toEqual(['e1']);
		expect(taken).toEqual(['e1']);
	});

	it('that come while a trigger is published again reach it when it is back', async () => {
		const { lease, sockets, socket, hold, clock } = processRig();
		const before = lease('trigger');
		await hold();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(2_999);
		const after = lease('trigger');
		// Not before the trigger holds the lease.
		expect(after.events).toEqual([]);
		await settle();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(after.events).toEqual(['e1', 'e2']);
		expect(sockets).toHaveLength(1);
		const third = lease('trigger');
		await settle();
		expect(third.events).toEqual([]);
	});

	it('are not kept for a trigger whose successor was there before it left', async () => {
		const { lease, socket, hold } = processRig();
		const [before, successor] = [lease('trigger'), lease('trigger')];
		await hold();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const third = lease('trigger');
		await settle();
		expect(successor.events).toEqual(['e1']);
		expect(third.events).toEqual([]);
	});

	it('are kept each time anew for a trigger that is published again and again', async () => {
		const { lease, socket, hold, clock } = processRig();
		const before = lease('trigger');
		await hold();
		before.lease.close();
		await clock.advance(1_000);
		lease('trigger').lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		await clock.advance(2_500);
		const after = lease('trigger');
		await settle();
		expect(after.events).toEqual(['e1']);
	});

	it('are kept for a trigger that is published again up to a thousand: the latest ones', async () => {
		const { lease, socket, hold } = processRig();
		const before = lease('trigger');
		await hold();
		before.lease.close();
		for (let id = 0; id <= 1_000; id += 1) socket().receives(eventFrame('nudge_sent', id));
		const { events } = lease('trigger');
		await settle();
		expect(events).toHaveLength(1_000);
		expect([events[0], events.at(-1)]).toEqual(['1', '1000']);
	});

	it('reach a trigger that is published again while another one follows the session on', async () => {
		const { lease, socket, hold } = processRig();
		const before = lease('trigger');
		const other = lease('trigger', { node: 'node-2' });
		await hold();
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

	it('reach a trigger that is published again while it is tried out in the editor', async () => {
		const { lease, socket, hold } = processRig();
		const before = lease('trigger');
		lease('trial');
		await hold();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const after = lease('trigger');
		await settle();
		expect(after.events).toEqual(['e1']);
	});

	it('that came in the meantime are nothing for a trigger that comes later, or a trial', async () => {
		const { lease, socket, hold, clock } = processRig();
		lease();
		const before = lease('trigger');
		await hold();
		before.lease.close();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		const trial = lease('trial');
		await clock.advance(3_000);
		const late = lease('trigger');
		await settle();
		expect(trial.events).toEqual([]);
		expect(late.events).toEqual([]);
	});
});

describe('holders of different patience', () => {
	const reject = async ({ socket, clock }: ReturnType<typeof processRig>, ms: number) => {
		socket().opens();
		socket().ends(1008, 'policy');
		await clock.advance(ms);
	};

	it('an action is told after a second that the session is not to be had; the trigger waits on', async () => {
		const use = processRig();
		const [action, trigger] = [use.lease(), use.lease('trigger')];
		const unsent = action.lease.sendWithAck(outgoing('a'), 10_000);
		await settle();
		expect(trigger.lease.lastFailure).toBeNull();
		await reject(use, 1_000);
		expect(action.endings).toEqual([]);
		expect(trigger.lease.lastFailure).toMatchObject({ kind: 'held_or_inactive' });
		await reject(use, 0);
		const [ending] = action.endings;
		expect(await unsent).toEqual({ kind: 'not_sent', readiness: { kind: 'ended', ending } });
		expect(action.lease.ending).toBe(ending);
		expect(action.endings).toMatchObject([{ kind: 'held_or_inactive', outcome: 'not_sent' }]);
		expect(await action.lease.ready()).toEqual({ kind: 'ended', ending: action.endings[0] });
		expect(action.lease.signal.aborted).toBe(true);
		expect(trigger.endings).toEqual([]);
		await use.clock.advance(20_000);
		expect(use.sockets).toHaveLength(3);
		await use.hold();
		expect(await trigger.lease.ready()).toEqual({ kind: 'open' });
	});

	it('an action is told after four more attempts that nothing can be reached; the trigger waits on', async () => {
		const use = processRig();
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

	it('an action that comes during a slow poll has it tried at once, and is told what came of it', async () => {
		const use = processRig();
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

	it('an attempt that was under way when it came does not count for it, and the next one follows soon', async () => {
		const use = processRig();
		use.lease('trigger');
		await settle();
		await reject(use, 1_000);
		use.socket().opens();
		const action = use.lease('action', { takeOver: true });
		use.socket().ends(1008);
		await settle();
		expect(action.endings).toEqual([]);
		await use.clock.advance(1_000);
		expect(use.sockets.map(({ query }) => query.get('claim'))).toEqual([null, null, '1']);
		await use.hold();
		expect(await action.lease.ready()).toEqual({ kind: 'open' });
	});

	it('gives up for actions alone as soon as they do', async () => {
		const use = processRig();
		const warn = jest.fn();
		const { endings, lease } = use.lease('action', { log: { debug: warn, info: warn, warn } });
		await settle();
		await reject(use, 1_000);
		await reject(use, 60_000);
		expect(endings).toHaveLength(1);
		expect(warn.mock.calls).toEqual([
			['Connecting to the chat session again', expect.anything()],
			[endings[0]?.message, expect.anything()],
		]);
		expect(use.sockets).toHaveLength(2);
		lease.close();
		expect(endings).toHaveLength(1);
		use.lease();
		await settle();
		expect(use.sockets).toHaveLength(3);
	});

	it('carries claim=1 only while somebody who may take over holds it', async () => {
		const use = processRig();
		use.lease('trigger');
		const taker = use.lease('action', { takeOver: true });
		await settle();
		use.socket().breaks();
		taker.lease.close();
		await use.clock.advance(1_000);
		expect(use.sockets.map(({ query }) => query.get('claim'))).toEqual(['1', null]);
	});

	it('asks for tokens in the name of the trigger, which stays', async () => {
		const use = processRig();
		use.lease();
		await settle();
		use.lease('trigger');
		use.lease();
		use.socket().ends(4401);
		await use.clock.advance(1_000);
		expect(use.mintedBy).toEqual(['action', 'trigger']);
	});

	it('tells the others of the end though one of them throws, and logs that', async () => {
		const { lease, socket, hold } = processRig();
		const warn = jest.fn();
		const onEnded = () => {
			throw new Error('no matter');
		};
		lease('action', { onEnded, log: { debug: jest.fn(), info: jest.fn(), warn } });
		const other = lease();
		await hold();
		socket().ends(1003);
		await settle();
		expect(other.endings.map(({ kind }) => kind)).toEqual(['defect']);
		expect(warn).toHaveBeenCalledWith(
			'The end of a chat session connection could not be handed on',
			{ cause: 'Error: no matter' },
		);
	});

	it('tells everybody once when the session is over', async () => {
		const use = processRig(async () => ({ kind: 'session_closed', error: null }));
		const all = [use.lease(), use.lease('trigger'), use.lease('trial')];
		await settle();
		expect(all.map(({ endings }) => endings.map(({ kind }) => kind))).toEqual([
			['session_closed'],
			['session_closed'],
			['session_closed'],
		]);
	});
});

describe('client_id', () => {
	it('is the same over reconnects, and another one in another process', async () => {
		const [one, two] = [processRig(), processRig()];
		one.lease();
		two.lease();
		await settle();
		one.socket().breaks();
		await one.clock.advance(1_000);
		expect(new Set(one.clientIds()).size).toBe(1);
		expect(two.clientIds()[0]).not.toBe(one.clientIds()[0]);
	});

	it('is the same in every process that an active trigger runs in, so that it survives a restart', async () => {
		const [before, after] = [processRig(), processRig()];
		before.lease('trigger');
		after.lease('trigger', { sessionId: 's-2' });
		after.lease('action', { sessionId: 's-2' });
		after.lease();
		await settle();
		expect(after.clientIds()).toContain(before.clientIds()[0]);
	});

	it('stays what it is over reconnects though a trigger has come meanwhile', async () => {
		const { lease, socket, hold, clock, clientIds } = processRig();
		const action = lease();
		await hold();
		lease('trigger');
		action.lease.close();
		socket().ends(1006, '');
		await clock.advance(2_000);
		expect(clientIds()).toHaveLength(2);
		expect(new Set(clientIds()).size).toBe(1);
	});

	it('of a trigger that comes where only an action was is the one that survives a restart', async () => {
		const { lease, sockets, hold, clock, clientIds } = processRig();
		const action = lease();
		await hold();
		action.lease.close();
		const events = lease('trigger').events;
		sockets[0]?.ends(1000, '');
		await hold();
		await clock.advance(1_000);
		const afterRestart = processRig();
		afterRestart.lease('trigger');
		await settle();
		expect(clientIds()).toEqual([expect.any(String), ...afterRestart.clientIds()]);
		expect(clientIds()[0]).not.toBe(clientIds()[1]);
		sockets[1]?.receives(eventFrame('nudge_sent', 'e1'));
		expect(events).toEqual(['e1']);
	});

	it('of a trigger that has just left stays with the action that finds its connection', async () => {
		const { lease, sockets, hold } = processRig();
		const trigger = lease('trigger');
		await hold();
		trigger.lease.close();
		expect(await lease().lease.ready()).toEqual({ kind: 'open' });
		expect(sockets).toHaveLength(1);
		expect(sockets[0]?.closeCalls).toEqual([]);
	});

	it('of a trial is none of an active trigger', async () => {
		const [active, trial] = [processRig(), processRig()];
		active.lease('trigger');
		trial.lease('action', { sessionId: 's-2' });
		trial.lease('trial');
		await settle();
		expect(trial.clientIds()).not.toContain(active.clientIds()[0]);
	});

	it('tells nothing of the instance, the session or the account', async () => {
		const { lease, clientIds } = processRig();
		lease('trigger');
		await settle();
		expect(clientIds()).toEqual([expect.stringMatching(/^n8n-[0-9a-f]{32}$/)]);
	});
});

describe('sending', () => {
	it('goes one holder after another, in the order of asking', async () => {
		const { lease, socket, hold } = processRig();
		const [one, two] = [lease().lease, lease().lease];
		const order: string[] = [];
		const send = async (from: typeof one, texts: string[]) => {
			const done = await from.acquireSend();
			for (const text of texts) {
				order.push(text);
				await from.sendWithAck(outgoing(text), 10_000);
			}
			done();
		};
		const both = Promise.all([send(one, ['a1', 'a2']), send(two, ['b1'])]);
		await hold();
		socket().answer = () => socket().receives(messageSent);
		socket().receives(messageSent);
		await both;
		expect(order).toEqual(['a1', 'a2', 'b1']);
		expect(socket().sent).toEqual(['a1', 'a2', 'b1']);
	});

	it('of a holder that leaves is answered at once; the next frame still waits for the ack', async () => {
		const { lease, socket, hold } = processRig();
		const [one, two] = [lease().lease, lease().lease];
		await hold();
		const left = one.sendWithAck(outgoing('a'), 10_000);
		const next = two.sendWithAck(outgoing('b'), 10_000);
		await settle();
		one.close();
		expect(await left).toEqual({ kind: 'lost', code: null });
		expect(socket().sent).toEqual(['a']);
		socket().receives(messageSent);
		await settle();
		expect(socket().sent).toEqual(['a', 'b']);
		socket().receives(messageSent);
		expect((await next).kind).toBe('ack');
	});

	it('of a holder that leaves before its turn surely does not take place', async () => {
		const { lease, socket, hold } = processRig();
		const [one, two] = [lease().lease, lease().lease];
		await hold();
		void one.sendWithAck(outgoing('a'), 10_000);
		const never = two.sendWithAck(outgoing('b'), 10_000);
		two.close();
		expect(await never).toEqual({ kind: 'not_sent', readiness: { kind: 'closed_by_us' } });
		socket().receives(messageSent);
		await settle();
		expect(socket().sent).toEqual(['a']);
	});

	it('while waiting for a turn, a holder that leaves goes on and the others keep their order', async () => {
		const { lease, hold } = processRig();
		const [one, two, three] = [lease().lease, lease().lease, lease().lease];
		await hold();
		const order: string[] = [];
		const endOne = await one.acquireSend();
		const turnOfTwo = two.acquireSend();
		const turnOfThree = three.acquireSend().then(() => order.push('three'));
		await settle();
		two.close();
		(await turnOfTwo)();
		await settle();
		expect(order).toEqual([]);
		endOne();
		await turnOfThree;
		expect(order).toEqual(['three']);
	});
});
