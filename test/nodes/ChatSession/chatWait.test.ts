import { awaitEvent, type EventFilter } from '../../../nodes/ChatSession/chatWait';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { NotSent } from '../../../nodes/shared/api/errors';
import { ChatEnded } from '../../../nodes/shared/chat/reconnectPolicy';
import type { OnEvent, Replay } from '../../../nodes/shared/chat/eventDispatcher';
import type { ChatEvent } from '../../../nodes/shared/chat/frames';
import { FakeClock, settle } from '../shared/chat/fakes';

const event = (type: string, eventId: string | null = null, ts?: string | number): ChatEvent => ({
	type,
	eventId,
	payload: {},
	envelope: { type, ...(ts !== undefined && { ts }) },
});

const rejected = new ChatEnded(
	'unreachable',
	{ message: 'The connection fails', resolution: forEveryone('Check the service.') },
	{ originalMessage: 'close code 1006' },
);

/** Starts a wait of 10 seconds, with controls for its session. */
function waiting(
	filter: Partial<EventFilter> = {},
	{
		isConnected = true,
		clock = new FakeClock(),
		missed = [],
	}: { isConnected?: boolean; clock?: FakeClock; missed?: Array<Parameters<OnEvent>> } = {},
) {
	const ending = new AbortController();
	let listener: OnEvent | undefined;
	let replay: Replay = 'possible';
	let resolveReady: (isReady: boolean) => void = () => {};
	const ready = new Promise<boolean>((resolve) => {
		resolveReady = resolve;
	});
	const connection = {
		ready: async () => await ready,
		isConnected,
		subscribe: (onEvent: OnEvent) => {
			listener = onEvent;
			return () => {
				listener = undefined;
			};
		},
	};
	const result = awaitEvent(
		{ connection, signal: ending.signal, missed },
		{ types: null, timeoutMs: 10_000, ...filter },
		clock,
	);
	// A test may look at it only later.
	result.catch(() => {});
	return {
		clock,
		result,
		isListening: () => listener !== undefined,
		happens: (...events: ChatEvent[]) => events.forEach((one) => listener?.(one, replay)),
		connects: async () => {
			resolveReady(true);
			await settle();
			replay = 'no';
		},
		/** From now on, events may be replays, or certainly are. */
		replays: (which: Replay) => {
			replay = which;
		},
		ends: (reason: ChatEnded | 'stopped') => {
			resolveReady(false);
			ending.abort(reason);
		},
	};
}

test('an event that arrived since the action before ends the wait', async () => {
	const missed: Array<Parameters<OnEvent>> = [
		[event('mode_changed', 'e-0'), 'certain'],
		[event('nudge_sent', 'e-1'), 'no'],
		[event('mode_changed', 'e-2'), 'no'],
	];
	const wait = waiting({ types: new Set(['mode_changed']) }, { missed });
	expect(await wait.result).toMatchObject({
		end: { kind: 'event', event: { eventId: 'e-2' } },
		seen: [{ eventId: 'e-0' }, { eventId: 'e-1' }],
	});
});

test('other events are in seen', async () => {
	const wait = waiting({ types: new Set(['mode_changed']) });
	await wait.connects();
	wait.happens(event('nudge_sent', 'e-1'), event('nudge_sent'), event('mode_changed', 'e-3'));
	expect(wait.isListening()).toBe(true);
	const { end, seen } = await wait.result;
	expect(wait.isListening()).toBe(false);
	expect(end).toMatchObject({ kind: 'event', event: { eventId: 'e-3' } });
	expect(seen.map(({ eventId }) => eventId)).toEqual(['e-1', null]);
});

describe('a session that is closed, and whose connection stays for others', () => {
	test.each([
		['nudge_sent', { end: { kind: 'session_closed' }, seen: [{}, { eventId: 'e-2' }] }],
		['turn_result', { end: { kind: 'event', event: { eventId: 'e-2' } } }],
	])('ends the wait two seconds later, unless it gets its event: %s', async (type, result) => {
		const wait = waiting({ types: new Set(['turn_result']) });
		await wait.connects();
		wait.happens(event('session_closed', 'e-1'));
		await wait.clock.advance(1_900);
		wait.happens(event(type, 'e-2'));
		await wait.clock.advance(100);
		expect(await wait.result).toMatchObject(result);
	});

	test("doesn't end the wait if the service only replays that it was closed", async () => {
		const wait = waiting({ types: new Set(['turn_result']) });
		wait.happens(event('session_closed', 'e-1', '2020-01-01T00:00:00Z'));
		await wait.connects();
		await wait.clock.advance(10_000);
		expect(await wait.result).toMatchObject({ end: { kind: 'timed_out' } });
	});
});

test('a long wait keeps the latest 20 events', async () => {
	const wait = waiting({ types: new Set(['mode_changed']) });
	await wait.connects();
	wait.happens(...Array.from({ length: 21 }, (_, index) => event('nudge_sent', `e-${index}`)));
	await wait.clock.advance(10_000);
	const { end, seen } = await wait.result;
	expect(end).toEqual({ kind: 'timed_out', isConnected: true });
	expect([seen.length, seen[0]?.eventId]).toEqual([20, 'e-1']);
});

describe('an event on a new socket', () => {
	const startedAt = Date.parse('2023-11-14T22:13:20.700Z');

	test.each<[string, string | number | undefined, boolean]>([
		// Before the wait.
		['connecting', '2023-11-14T22:13:19Z', false],
		['connecting', '2023-11-15T03:43:19+05:30', false],
		['connecting', startedAt - 1, false],
		['connecting', Math.floor(startedAt / 1_000), false],
		// In the second of the start, so it may be before it.
		['connecting', '2023-11-14T22:13:20Z', false],
		// After the start.
		['connecting', '2023-11-14T22:13:21Z', true],
		['connecting', '2023-11-15T03:43:21+05:30', true],
		['connecting', startedAt + 1, true],
		['connecting', Math.ceil(startedAt / 1_000), true],
		['connecting', 12, false],
		// Unknown times prove no replay.
		['connecting', '2023-11-14T22:13:19', true],
		['connecting', 'Tue, 14 Nov 2023 22:13:19', true],
		['connecting', 'now', true],
		['connecting', undefined, true],
		// The clock of the service may be wrong.
		['connected', '2023-11-14T22:13:19Z', true],
		['connected', undefined, true],
		// It arrived before the wait.
		['repeating', '2099-01-01T00:00:00Z', false],
		// Only what is certainly from before the wait is a replay.
		['reconnecting', '2023-11-14T22:13:19Z', false],
		['reconnecting', '2023-11-14T22:13:20Z', true],
		['reconnecting', '2023-11-14T22:13:19', true],
		['reconnecting', undefined, true],
	])('%s, with the time %p: new is %s, otherwise a replay', async (...one) => {
		const [when, ts, isNew] = one;
		const wait = waiting({}, { clock: new FakeClock(startedAt) });
		if (when !== 'connecting') await wait.connects();
		if (when === 'reconnecting') wait.replays('possible');
		if (when === 'repeating') wait.replays('certain');
		wait.happens(event('nudge_sent', 'e-1', ts));
		await wait.connects();
		await wait.clock.advance(10_000);
		const { end, seen } = await wait.result;
		expect([end.kind, seen.length]).toEqual(isNew ? ['event', 0] : ['timed_out', 1]);
	});
});

describe('no event', () => {
	test('and the connection is down at the end', async () => {
		const wait = waiting({}, { isConnected: false });
		await wait.connects();
		await wait.clock.advance(10_000);
		expect((await wait.result).end).toEqual({ kind: 'timed_out', isConnected: false });
	});

	test('because the session was never connected', async () => {
		const wait = waiting();
		await wait.clock.advance(10_000);
		const why: unknown = await wait.result.catch((error: unknown) => error);
		expect(why).toBeInstanceOf(NotSent);
		expect(why).toMatchObject({
			message:
				"The chat session wasn't connected within the time limit, so no event could be received",
			resolution: expect.stringMatching(/^Check that the service is available/),
		});
	});

	test('because no connection is possible', async () => {
		const wait = waiting();
		wait.ends(rejected);
		await expect(wait.result).rejects.toBe(rejected);
	});

	const closed = new ChatEnded('session_closed', {
		message: 'Closed',
		resolution: forEveryone(''),
	});

	test.each([
		['it was stopped', 'stopped' as const, 'stopped'],
		['the session was closed', closed, 'session_closed'],
	])('because %s', async (_why, reason, kind) => {
		const wait = waiting();
		wait.ends(reason);
		expect((await wait.result).end).toEqual({ kind });
	});
});
