import { NeverConnected, awaitEvent, type EventFilter } from '../../../nodes/ChatSession/chatWait';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
import { ChatEnded } from '../../../nodes/shared/chat/endings';
import type { OnTooLarge } from '../../../nodes/shared/chat/eventDispatcher';
import type { Readiness } from '../../../nodes/shared/chat/ackWaiter';
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
	{ message: 'The connection does not hold', resolution: forEveryone('Check the service.') },
	'close code 1006',
	1006,
);

/** A wait of ten seconds, and what happens to its session. */
function waiting(
	wish: Partial<EventFilter> = {},
	setback: ChatEnded | null = null,
	{ isHeld = true, clock = new FakeClock() } = {},
) {
	const ending = new AbortController();
	let listener: ((event: ChatEvent) => void) | undefined;
	let tooLarge: OnTooLarge | undefined;
	let unsubscribed = 0;
	let readyIs: (readiness: Readiness) => void = () => {};
	const ready = new Promise<Readiness>((resolve) => {
		readyIs = resolve;
	});
	const result = awaitEvent(
		{
			ready: async () => await ready,
			lastFailure: setback,
			isHeld,
			signal: ending.signal,
			subscribe: (onEvent, onTooLarge) => {
				listener = onEvent;
				tooLarge = onTooLarge;
				return () => unsubscribed++;
			},
		},
		{ types: null, ms: 10_000, known: new Set(), reader: 'onScreen', ...wish },
		clock,
	);
	return {
		clock,
		result,
		happens: (...events: ChatEvent[]) => events.forEach((one) => listener?.(one)),
		isTooLarge: () => tooLarge?.(9_000_000),
		connects: async () => {
			readyIs({ kind: 'open' });
			await settle();
		},
		ends: (readiness: Readiness) => {
			readyIs(readiness);
			ending.abort();
		},
		unsubscribed: () => unsubscribed,
	};
}

test('the first event ends the wait at once, and only that one is given out', async () => {
	const wait = waiting();
	await wait.connects();
	wait.happens(event('nudge_sent', 'e-1'), event('mode_changed', 'e-2'));
	expect(await wait.result).toMatchObject({
		end: { kind: 'event', event: { eventId: 'e-1' } },
		seen: [],
	});
	expect(wait.unsubscribed()).toBe(1);
});

test('what is not waited for, or was given out before, is seen and not taken', async () => {
	const wait = waiting({ types: new Set(['mode_changed']), known: new Set(['e-2']) });
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

test('of a long wait the newest thousand events are kept', async () => {
	const wait = waiting({ types: new Set(['mode_changed']) });
	await wait.connects();
	wait.happens(...Array.from({ length: 1_001 }, (_, index) => event('nudge_sent', `e-${index}`)));
	await wait.clock.advance(10_000);
	const { end, seen } = await wait.result;
	expect(end).toEqual({ kind: 'time_over' });
	expect([seen.length, seen[0]?.eventId]).toEqual([1_000, 'e-1']);
});

describe('what comes with the connection', () => {
	const BEFORE = '2023-11-14T22:13:19Z';
	const AFTER = '2023-11-14T22:13:21Z';

	const begun = 1_700_000_000;

	test.each<[string, string | number | undefined, boolean, boolean]>([
		['from before the wait, is a replay', BEFORE, false, false],
		[
			'from before the wait by a time with an offset, is a replay',
			'2023-11-15T03:43:19+05:30',
			false,
			false,
		],
		['from before the wait in milliseconds, is a replay', begun * 1_000 - 1, false, false],
		['from before the wait in seconds, is a replay', begun - 1, false, false],
		['from before the wait in a text of seconds, is a replay', `${begun - 1}.25`, false, false],
		['from after it began, is news', AFTER, false, true],
		[
			'from after it began by a time with an offset, is news',
			'2023-11-15T03:43:21+05:30',
			false,
			true,
		],
		['from after it began in milliseconds, is news', begun * 1_000 + 1, false, true],
		['from after it began in seconds, is news', begun + 1, false, true],
		['from after it began in a text of seconds, is news', `${begun}.25`, false, true],
		[
			'by a time of an unknown zone, came before the connection stood: a replay',
			AFTER.slice(0, -1),
			false,
			false,
		],
		['by a time of an unknown zone, once connected, is news', BEFORE.slice(0, -1), true, true],
		['by a number that is no time, is a replay', 12, false, false],
		['by a word, is a replay', 'now', false, false],
		['without a time, is a replay', undefined, false, false],
		['without a time, once connected, is news', undefined, true, true],
		['from before by a clock that goes wrong, once connected, is news', BEFORE, true, true],
	])('%s', async (_what, ts, isConnected, isNews) => {
		const wait = waiting();
		if (isConnected) await wait.connects();
		wait.happens(event('nudge_sent', 'e-1', ts));
		await wait.connects();
		await wait.clock.advance(10_000);
		expect((await wait.result).end.kind).toBe(isNews ? 'event' : 'time_over');
	});
});

test.each(['2023-11-14T22:13:20Z', 1_700_000_000, '1700000000'])(
	'what came in the second in which the wait began may be from before: %p is a replay',
	async (ts) => {
		const wait = waiting({}, null, { clock: new FakeClock(1_700_000_000_700) });
		wait.happens(event('nudge_sent', 'e-1', ts));
		await wait.connects();
		await wait.clock.advance(10_000);
		const { end, seen } = await wait.result;
		expect([end.kind, seen.length]).toEqual(['time_over', 1]);
	},
);

describe('no event', () => {
	test.each([
		[rejected, 'The connection does not hold. Check the service.'],
		[null, 'Check that the service is up and can be reached from n8n.'],
	])('seen, and the connection is down at the end: %p', async (setback, why) => {
		const wait = waiting({}, setback, { isHeld: false });
		await wait.connects();
		await wait.clock.advance(10_000);
		expect((await wait.result).end).toEqual({
			kind: 'time_over',
			notListening: expect.stringContaining(
				`The live connection was down when the wait ended, so an event may be missing. ${why}`,
			),
		});
	});

	test('too large to be read, in a session that was listened to', async () => {
		const wait = waiting();
		await wait.connects();
		wait.isTooLarge();
		await wait.clock.advance(10_000);
		expect((await wait.result).end).toMatchObject({
			kind: 'not_all_read',
			why: {
				name: 'NotAllRead',
				outcome: 'unknown',
				message: expect.stringContaining('too large to be read'),
				resolution: expect.stringContaining('Look at the conversation'),
			},
		});
	});

	test.each([
		[
			null,
			'Check that the service is up and can be reached from n8n. If connecting takes long, raise the Time Limit.',
		],
		[
			rejected,
			`${rejected.message}. ${rejected.resolution} If connecting takes long, raise the Time Limit. The service said: close code 1006.`,
		],
	])('because no connection came about: %o', async (setback, advice) => {
		const wait = waiting({}, setback);
		await wait.clock.advance(10_000);
		const { end } = await wait.result;
		const why = end.kind === 'never_connected' ? end.why : undefined;
		expect(why).toBeInstanceOf(NeverConnected);
		expect(why).toMatchObject({
			name: 'NeverConnected',
			outcome: 'not_sent',
			message:
				'The chat session was not connected within the Time Limit, so no event could be seen',
			description: advice,
		});
	});

	test.each<[Readiness, object]>([
		[
			{ kind: 'ended', ending: rejected },
			{ kind: 'ended', ending: rejected },
		],
		[{ kind: 'closed_by_us' }, { kind: 'stopped' }],
	])('because the connection ended: %o', async (readiness, end) => {
		const wait = waiting();
		wait.ends(readiness);
		expect((await wait.result).end).toEqual(end);
	});
});
