import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/modelAdvice';
import type { AttemptEnd, EndingKind } from '../../../../nodes/shared/chat/reconnectPolicy';
import { describeEnding, saidByService } from '../../../../nodes/shared/chat/endings';

const rejection = new ServiceRejection(
	'The agent is unknown',
	forEveryone('Check the agent.'),
	'agent_not_found',
	403,
	{
		texts: ['agent_not_found'],
		body: {},
	},
);
const socketEnd = (code: number | null, reason = ''): AttemptEnd => ({
	kind: 'socket',
	end: { cause: 'closed', code, reason, openForMs: null },
	claimed: false,
});
const noToken = (error: unknown): AttemptEnd => ({
	kind: 'mint',
	result: { kind: 'rejected', error },
});

const KINDS: EndingKind[] = [
	'session_closed',
	'agent_inactive',
	'held_or_inactive',
	'token_rejected',
	'unreachable',
	'mint_rejected',
	'token_missed',
	'bad_address',
	'lost_place',
	'defect',
];

test.each(KINDS)('%s in words', (kind) => {
	const { message, resolution } = describeEnding(kind, socketEnd(1006), '', '');
	expect(`${message}.\n${resolution}`).toMatchSnapshot();
});

test('what the service said stays beside them, with the close code', () => {
	expect(describeEnding('unreachable', socketEnd(1011), 'close code 1011', '')).toMatchObject({
		kind: 'unreachable',
		originalMessage: 'close code 1011',
		code: 1011,
		status: null,
	});
	expect(describeEnding('unreachable', socketEnd(null), '', '').originalMessage).toBeUndefined();
});

test('of an address that cannot be used its own is shown, without its query', () => {
	const end = describeEnding(
		'bad_address',
		socketEnd(null),
		'x',
		'https://h.example.com/p?token=s',
	);
	expect(end.originalMessage).toBe('https://h.example.com/p');
});

test('a rejection of the token is told in the words of the error table, with its status', () => {
	expect(describeEnding('mint_rejected', noToken(rejection), 'agent_not_found', '')).toMatchObject({
		message: 'The agent is unknown',
		resolution: 'Check the agent.',
		status: 403,
		code: null,
	});
	expect(describeEnding('unreachable', noToken(rejection), '', '').message).toBe(
		'The connection to the chat session does not hold',
	);
	expect(describeEnding('mint_rejected', noToken(new Error('x')), '', '').message).toBe(
		'The service gives no WebSocket token for this session',
	);
});

test.each<[AttemptEnd, string]>([
	[socketEnd(1008, 'agent inactive'), 'close code 1008 · agent inactive'],
	[socketEnd(1006), 'close code 1006'],
	[socketEnd(null), ''],
	[noToken(rejection), 'agent_not_found'],
	[noToken(new Error('down')), 'down'],
	[noToken('down'), ''],
])('of %j it is told: %j', (end, words) => {
	expect(saidByService(end)).toBe(words);
});
