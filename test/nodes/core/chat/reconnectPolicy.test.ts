import {
	type ErrorOrigin,
	InvalidInput,
	NotSent,
	ServiceRejection,
} from '../../../../nodes/core/service/errors';
import {
	type AttemptEnd,
	delayMs,
	describeEnding,
	type EndingKind,
	nextStep,
} from '../../../../nodes/core/chat/reconnectPolicy';

const closed = (code: number | null, reason = ''): AttemptEnd => ({
	end: { code, reason, openForMs: 100 },
});
const noToken = (error: unknown): AttemptEnd => ({ error });
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

test.each<[string, AttemptEnd, ...ReturnType<typeof nextStep>]>([
	// The last ones are undocumented.
	...[null, 1000, 1006, 1011, 1003, 4999].map(
		(code): [string, AttemptEnd, EndingKind, 'sameToken'] => [
			`close code ${code}`,
			closed(code),
			'unreachable',
			'sameToken',
		],
	),
	['close code 4401', closed(4401), 'no_token', 'newToken'],
	['close code 1008', closed(1008), 'rejected', 'newToken'],
	['no token: session closed', noToken(closedSession), 'session_closed', 'end'],
	['no token: rejected', noToken(rejection(403)), 'no_token', 'end'],
	['no token: API token rejected', noToken(rejection(401)), 'no_token', 'newToken'],
	['no token: another conflict', noToken(rejection(409)), 'no_token', 'end'],
	['no token: too many requests', noToken(rejection(429, true)), 'unreachable', 'newToken'],
	['no token: unreachable', noToken(new Error('down')), 'unreachable', 'newToken'],
	['no usable token', noToken(new InvalidInput('Unusable', 'Report it.')), 'no_token', 'end'],
])('after %s', (_name, attempt, why, then) => {
	expect(nextStep(attempt)).toEqual([why, then]);
});

/** In seconds, without jitter. */
const delays = (why: EndingKind, failures: number) => {
	jest.spyOn(Math, 'random').mockReturnValue(0);
	return Array.from({ length: failures }, (_, index) => delayMs(why, index + 1) / 1_000);
};

test.each<[EndingKind, number[]]>([
	['unreachable', [1, 2, 4, 8, 16, 30, 60, 120, 240, 480, 900, 900]],
	['no_token', [1, 2, 4, 8, 16, 30, 60, 120, 240, 480, 900, 900]],
	['rejected', [1, ...Array<number>(30).fill(20), 60, 120, 240, 480, 900, 900]],
])('%s: the seconds before each attempt', (why, seconds) => {
	expect(delays(why, seconds.length)).toEqual(seconds);
});

test('a delay may be a fifth shorter', () => {
	jest.spyOn(Math, 'random').mockReturnValue(1);
	expect(delayMs('unreachable', 1)).toBe(800);
});

const endingOf = (kind: EndingKind, attempt: AttemptEnd) =>
	describeEnding(kind, attempt, (text) => text);
const down = new NotSent("The service can't be reached", 'Check the URL.', {
	originalMessage: 'ECONNREFUSED',
});

test.each<[EndingKind, unknown, string, string]>([
	['session_closed', closedSession, 'closed', 'Go on.'],
	['no_token', rejection(403), 'The agent is unknown', 'Check the agent.'],
	['no_token', new Error('x'), 'The service issues no WebSocket token', 'Check the session ID.'],
	[
		'unreachable',
		down,
		'The connection to the chat session keeps failing',
		"The service issued no WebSocket token. The service can't be reached. Check the URL. The network reported: ECONNREFUSED.",
	],
])('%s, because of %p, says so', (kind, error, message, description) => {
	expect(endingOf(kind, noToken(error))).toMatchObject({
		message: expect.stringContaining(message),
		description: expect.stringContaining(description),
	});
});

test.each<[AttemptEnd, string | undefined, ErrorOrigin]>([
	[closed(1008, 'agent inactive'), 'close code 1008 · agent inactive', 'service'],
	[closed(1006), 'close code 1006', 'network'],
	[closed(null), undefined, 'service'],
	[noToken(rejection(403)), 'agent_not_found', 'service'],
	[noToken(new Error('down')), 'down', 'n8n'],
])('%j is reported as %j by %j', (attempt, originalMessage, origin) => {
	expect(endingOf('rejected', attempt)).toMatchObject({ originalMessage, origin });
});
