import {
	type ErrorOrigin,
	InvalidInput,
	NotSent,
	ServiceRejection,
} from '../../../../nodes/core/service/errors';
import {
	type AttemptEnd,
	describeEnding,
	type EndingKind,
	ReconnectPolicy,
} from '../../../../nodes/core/chat/reconnectPolicy';
import type { SocketEnd } from '../../../../nodes/core/chat/socket';

// Without jitter.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

function ended(end: Partial<SocketEnd>): AttemptEnd {
	return {
		kind: 'socket',
		end: { code: null, reason: '', openForMs: 100, ...end },
	};
}

const closed = (code: number, openForMs = 100) => ended({ code, openForMs });
const noToken = (error: unknown): AttemptEnd => ({ kind: 'token', error });
const rejection = (status: number, isTransient = false) =>
	new ServiceRejection(
		{ message: 'The agent is unknown', resolution: 'Check the agent.', isTransient },
		'agent_not_found',
		status,
		{ texts: [] },
	);

const closedSession = new ServiceRejection(
	{ message: 'closed', resolution: 'Go on.' },
	'session_closed',
	409,
	{ code: 'session_closed', texts: ['session_closed'] },
);

const unusable = new InvalidInput('The URL is unusable', 'Report it.');

const retry = (
	seconds: number,
	token: 'keep' | 'new',
	why = 'unreachable',
	isLasting = false,
): object => ({ kind: 'retry', why, afterMs: seconds * 1_000, token, isLasting });
const end = (why: EndingKind) => ({ kind: 'end', why });

/** The seconds until the next attempt, and the reason, after each of these ends. */
const delaysAfter = (attempts: AttemptEnd[], policy = new ReconnectPolicy()) =>
	attempts.map((attempt) => {
		const step = policy.next(attempt);
		return step.kind === 'end' ? step.why : step.afterMs / 1_000;
	});
const times = (count: number, attempt: AttemptEnd) => Array.from({ length: count }, () => attempt);

describe('ReconnectPolicy', () => {
	it.each([
		[0, 1_000],
		[1, 800],
	])('adds jitter: random %d, %d ms', (random, afterMs) => {
		jest.spyOn(Math, 'random').mockReturnValue(random);
		expect(new ReconnectPolicy().next(closed(1006))).toMatchObject({ afterMs });
	});

	const codes = (ends: number[], step: object) =>
		ends.map((code): [string, AttemptEnd, object] => [String(code), closed(code), step]);

	it.each<[string, AttemptEnd, object]>([
		...codes([1000, 1001, 1005, 1006, 1009, 1011, 1012, 1013, 1014], retry(1, 'keep')),
		...codes([4401], retry(1, 'new', 'no_token')),
		// The last ones are undocumented.
		...codes([1008, 1003, 1002, 4999], retry(1, 'new', 'rejected')),
		['no connection', ended({ openForMs: 0 }), retry(1, 'keep')],
		['a missing ack', ended({}), retry(1, 'keep')],
		['the end of the session', { kind: 'session_closed' }, end('session_closed')],
		['no token: session closed', noToken(closedSession), end('session_closed')],
		['no token: rejected', noToken(rejection(403)), end('no_token')],
		// The API token may be accepted again later.
		['no token: 401', noToken(rejection(401)), retry(1, 'new', 'no_token')],
		['no token: another conflict', noToken(rejection(409)), end('no_token')],
		['no token: too many requests', noToken(rejection(429, true)), retry(1, 'new')],
		['no token: unreachable', noToken(new Error('down')), retry(1, 'new')],
		['no usable token', noToken(unusable), end('no_token')],
	])('%s', (_name, attempt, step) => {
		expect(new ReconnectPolicy().next(attempt)).toMatchObject(step);
	});

	it.each([1011, 4401])('%d: 6 attempts within a minute, then at intervals of minutes', (code) => {
		expect(delaysAfter(times(12, closed(code)))).toEqual([
			1, 2, 4, 8, 16, 30, 60, 120, 240, 480, 900, 900,
		]);
	});

	it('1008: a quick attempt and 30 slow polls, then intervals of minutes', () => {
		const policy = new ReconnectPolicy();
		const delays = delaysAfter(times(33, closed(1008)), policy);
		expect(delays).toEqual([1, ...Array.from({ length: 30 }, () => 20), 60, 120]);
		// They don't delay the attempts after another end.
		expect(delaysAfter([closed(1011)], policy)).toEqual([1]);
		expect(policy.next(closed(1008))).toMatchObject({ isLasting: true });
	});

	it('an undocumented code: one careful reconnect, then intervals of minutes', () => {
		const policy = new ReconnectPolicy();
		policy.next(closed(4409));
		expect(policy.next(closed(4409))).toMatchObject(retry(60, 'new', 'rejected', true));
		expect(policy.next(closed(4409))).toMatchObject(retry(120, 'new', 'rejected', true));
	});

	it.each([1006, 1008, 4409])(
		'%d: begins again after a connection of 25 seconds, a renewal, or for a new user',
		(code) => {
			const policy = new ReconnectPolicy();
			expect(policy.next(closed(code))).toMatchObject({ isFirst: true });
			expect(policy.next(closed(code, 24_999))).toMatchObject({ isFirst: false });
			expect(policy.next(closed(code, 25_000))).toMatchObject({ afterMs: 1_000, isFirst: true });
			policy.wasHealthy();
			expect(policy.next(closed(code))).toMatchObject({ afterMs: 1_000, isFirst: true });
			policy.restart();
			expect(policy.next(closed(code))).toMatchObject({ afterMs: 1_000, isFirst: false });
		},
	);
});

const endingOf = (kind: EndingKind, attempt: AttemptEnd) =>
	describeEnding(kind, attempt, (text) => text);

const KINDS: EndingKind[] = ['session_closed', 'rejected', 'unreachable', 'no_token'];

test('the messages', () => {
	const texts = KINDS.map((kind) => {
		const { message, resolution } = endingOf(kind, closed(1006));
		return `${kind}: ${message}.\n\t${resolution}`;
	});
	expect(texts.join('\n')).toMatchSnapshot();
	const isTransient = (kind: EndingKind) => endingOf(kind, closed(1006)).isTransient;
	expect(KINDS.filter(isTransient)).toEqual(['unreachable']);
});

test.each<[EndingKind, unknown, string]>([
	['no_token', rejection(403), 'The agent is unknown'],
	[
		'no_token',
		new Error('x'),
		'The service issues no WebSocket token for this session, or rejects it',
	],
	['unreachable', rejection(403), 'The connection to the chat session keeps failing'],
])('%s, because of %p: %s', (kind, error, message) => {
	expect(endingOf(kind, noToken(error)).message).toBe(message);
});

test('explains a missing token with the error of its request', () => {
	const error = new NotSent("The service can't be reached", 'Check the URL.', {
		originalMessage: 'ECONNREFUSED',
	});
	expect(endingOf('unreachable', noToken(error)).description).toBe(
		"The service issued no WebSocket token. The service can't be reached. Check the URL. The network reported: ECONNREFUSED.",
	);
});

test.each<[AttemptEnd, string | undefined, ErrorOrigin | undefined]>([
	[ended({ code: 1008, reason: 'agent inactive' }), 'close code 1008 · agent inactive', 'service'],
	[closed(1006), 'close code 1006', 'network'],
	[ended({}), undefined, undefined],
	[{ kind: 'session_closed' }, undefined, undefined],
	[noToken(rejection(403)), 'agent_not_found', 'service'],
	[noToken(new Error('down')), 'down', 'n8n'],
])('reports %j as %j by %j', (attempt, originalMessage, origin) => {
	expect(endingOf('rejected', attempt)).toMatchObject({
		originalMessage,
		...(origin && { origin }),
	});
});
