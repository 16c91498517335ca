import { awaitEvent, type EventFilter } from '../../../nodes/ChatSession/chatWait';
import { ExplainedError } from '../../../nodes/shared/api/errors';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../nodes/shared/chat/reconnectPolicy';
import type { OnEvent, Replay } from '../../../nodes/shared/chat/eventDispatcher';
import type { Readiness } from '../../../nodes/shared/chat/connection';
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
	'close code 1006',
);

/** The error of a wait. */
const rejection = async (wait: Promise<unknown>): Promise<ExplainedError> => {
	const error: unknown = await wait.catch((caught: unknown) => caught);
	if (!(error instanceof ExplainedError)) throw new Error('it did not fail');
	return error;
};

/** Starts a wait of 10 seconds, with controls for its session. */
function waiting(
	filter: Partial<EventFilter> = {},
	lastFailure: ChatEnded | null = null,
	{ isConnected = true, clock = new FakeClock() } = {},
) {
	const ending = new AbortController();
	let listener: OnEvent | undefined;
	let replay: Replay = 'possible';
	let unsubscribed = 0;
	let resolveReady: (readiness: Readiness) => void = () => {};
	const ready = new Promise<Readiness>((resolve) => {
		resolveReady = resolve;
	});
	const result = awaitEvent(
		{
			ready: async () => await ready,
			lastFailure,
			isConnected,
			signal: ending.signal,
			subscribe: (onEvent) => {
				listener = onEvent;
				return () => unsubscribed++;
			},
		},
		{ types: null, timeoutMs: 10_000, returnedIds: new Set(), reader: 'onScreen', ...filter },
		clock,
	);
	// A test may look at it only later.
	result.catch(() => {});
	return {
		clock,
		result,
		happens: (...events: ChatEvent[]) => events.forEach((one) => listener?.(one, replay)),
		connects: async () => {
			resolveReady({ kind: 'open' });
			await settle();
			replay = 'no';
		},
		replaysCertainly: () => {
			replay = 'certain';
		},
		reconnects: () => {
			replay = 'possible';
		},
		ends: (readiness: Readiness) => {
			resolveReady(readiness);
			ending.abort();
		},
		unsubscribed: () => unsubscribed,
	};
}

test('other events, and events that were returned before, are in seen', async () => {
	const wait = waiting({ types: new Set(['mode_changed']), returnedIds: new Set(['e-2']) });
	await wait.connects();
	wait.happens(
		event('nudge_sent', 'e-1'),
		event('mode_changed', 'e-2'),
		event('nudge_sent'),
		event('mode_changed', 'e-3'),
	);
	const { end, seen } = await wait.result;
	expect(end).toMatchObject({ kind: 'event', event: { eventId: 'e-3' } });
	expect(seen.map(({ eventId }) => eventId)).toEqual(['e-1', 'e-2', null]);
});

describe('a closed session whose connection stays for others', () => {
	test('ends the wait two seconds later, with the events until then', async () => {
		const wait = waiting({ types: new Set(['turn_result']) });
		await wait.connects();
		wait.happens(event('session_closed', 'e-1'));
		await wait.clock.advance(1_900);
		wait.happens(event('nudge_sent', 'e-2'));
		await wait.clock.advance(100);
		expect(await wait.result).toMatchObject({
			end: { kind: 'session_closed' },
			seen: [{ eventId: 'e-1' }, { eventId: 'e-2' }],
		});
	});

	test('still returns an event that arrives within these two seconds', async () => {
		const wait = waiting({ types: new Set(['turn_result']) });
		await wait.connects();
		wait.happens(event('session_closed', 'e-1'));
		await wait.clock.advance(1_900);
		wait.happens(event('turn_result', 'e-2'));
		await wait.clock.advance(100);
		expect(await wait.result).toMatchObject({ end: { kind: 'event', event: { eventId: 'e-2' } } });
	});

	test("doesn't end the wait if the service only replays that it was closed", async () => {
		const wait = waiting({ types: new Set(['turn_result']) });
		wait.happens(event('session_closed', 'e-1', '2020-01-01T00:00:00Z'));
		await wait.connects();
		await wait.clock.advance(10_000);
		expect(await wait.result).toMatchObject({ end: { kind: 'timed_out' } });
	});
});

test('a long wait keeps the latest 1,000 events', async () => {
	const wait = waiting({ types: new Set(['mode_changed']) });
	await wait.connects();
	wait.happens(...Array.from({ length: 1_001 }, (_, index) => event('nudge_sent', `e-${index}`)));
	await wait.clock.advance(10_000);
	const { end, seen } = await wait.result;
	expect(end).toEqual({ kind: 'timed_out' });
	expect([seen.length, seen[0]?.eventId]).toEqual([1_000, 'e-1']);
});

describe('an event on a new socket', () => {
	const startedAt = 1_700_000_000_700;
	const second = 1_700_000_000;

	test.each<
		['connecting' | 'connected' | 'reconnecting', string, string | number | undefined, boolean]
	>([
		['connecting', 'before the wait', '2023-11-14T22:13:19Z', false],
		['connecting', 'before the wait, with an offset', '2023-11-15T03:43:19+05:30', false],
		['connecting', 'before the wait, in milliseconds', startedAt - 1, false],
		['connecting', 'before the wait, in seconds', second - 1, false],
		['connecting', 'before the wait, in seconds as text', `${second - 1}.25`, false],
		[
			'connecting',
			'in the second of the start, which may be before it',
			'2023-11-14T22:13:20Z',
			false,
		],
		['connecting', 'in the second of the start, in seconds', second, false],
		['connecting', 'in the second of the start, as text', `${second}`, false],
		['connecting', 'after the start', '2023-11-14T22:13:21Z', true],
		['connecting', 'after the start, with an offset', '2023-11-15T03:43:21+05:30', true],
		['connecting', 'after the start, in milliseconds', startedAt + 1, true],
		['connecting', 'after the start, in seconds', second + 1, true],
		['connecting', 'a day after the start, in seconds', second + 86_400, true],
		['connecting', 'after the start, in seconds as text', `${second + 1}.25`, true],
		['connecting', 'without an offset', '2023-11-14T22:13:21', false],
		['connecting', "a number that isn't a time", 12, false],
		['connecting', 'a word', 'now', false],
		['connecting', 'without a time', undefined, false],
		['connected', 'before the wait by a wrong clock', '2023-11-14T22:13:19Z', true],
		['connected', 'without a time', undefined, true],
		['reconnecting', 'before the wait', startedAt - 1, false],
		['reconnecting', 'in a second before the wait', '2023-11-14T22:13:19Z', false],
		['reconnecting', 'in the second of the start', '2023-11-14T22:13:20Z', true],
		['reconnecting', 'after the start', startedAt + 1, true],
		['reconnecting', 'without an offset', '2023-11-14T22:13:19', true],
		['reconnecting', 'without a time', undefined, true],
	])('%s, %s (%s): new is %s, otherwise it counts as a replay', async (when, _name, ts, isNew) => {
		const wait = waiting({}, null, { clock: new FakeClock(startedAt) });
		if (when !== 'connecting') await wait.connects();
		if (when === 'reconnecting') wait.reconnects();
		wait.happens(event('nudge_sent', 'e-1', ts));
		await wait.connects();
		await wait.clock.advance(10_000);
		const { end, seen } = await wait.result;
		expect([end.kind, seen.length]).toEqual(isNew ? ['event', 0] : ['timed_out', 1]);
	});
});

test('an event that arrived before the wait is a replay, whatever its time', async () => {
	const wait = waiting();
	await wait.connects();
	wait.replaysCertainly();
	wait.happens(event('nudge_sent', 'e-1', '2099-01-01T00:00:00Z'));
	await wait.clock.advance(10_000);
	expect((await wait.result).end.kind).toBe('timed_out');
});

describe('no event', () => {
	test.each([
		[rejected, 'The connection fails. Check the service.'],
		[null, 'Check that the service is available and that n8n can reach it.'],
	])('and the connection is down at the end: %p', async (lastFailure, why) => {
		const wait = waiting({}, lastFailure, { isConnected: false });
		await wait.connects();
		await wait.clock.advance(10_000);
		expect((await wait.result).end).toEqual({
			kind: 'timed_out',
			disconnected: expect.stringContaining(
				`The live connection was down when the wait ended, so an event may be missing. ${why}`,
			),
		});
	});

	test.each([
		[
			null,
			'',
			"Check that the service is available and that n8n can reach it. If connecting is slow, increase 'Time Limit (Seconds)'.",
		],
		[
			rejected,
			'Check the service. The service said: close code 1006.',
			`${rejected.message}. ${rejected.resolution} If connecting is slow, increase 'Time Limit (Seconds)'. The service said: close code 1006.`,
		],
	])('because the session was never connected: %o', async (lastFailure, adviceForModel, advice) => {
		const wait = waiting({}, lastFailure);
		await wait.clock.advance(10_000);
		const why = await rejection(wait.result);
		expect(why).toMatchObject({
			name: 'NeverConnected',
			outcome: 'not_sent',
			message:
				"The chat session wasn't connected within the time limit, so no event could be received",
			description: advice,
		});
		expect(why.descriptionFor('forModel')).toBe(adviceForModel);
	});

	test('because no connection is possible', async () => {
		const wait = waiting();
		wait.ends({ kind: 'ended', ending: rejected });
		expect(await rejection(wait.result)).toBe(rejected);
	});

	test('because it was stopped', async () => {
		const wait = waiting();
		wait.ends({ kind: 'closed_by_us' });
		expect((await wait.result).end).toEqual({ kind: 'stopped' });
	});
});
