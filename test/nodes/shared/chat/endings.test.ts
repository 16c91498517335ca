import { ServiceRejection } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { AttemptEnd, EndingKind } from '../../../../nodes/shared/chat/reconnectPolicy';
import { describeEnding, serviceReason } from '../../../../nodes/shared/chat/endings';

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
	end: { cause: 'closed', code, reason, openForMs: 0 },
	claimed: false,
});
const noToken = (error: unknown): AttemptEnd => ({
	kind: 'mint',
	result: { kind: 'rejected', error },
});

const KINDS: EndingKind[] = [
	'session_closed',
	'agent_inactive',
	'in_use_or_inactive',
	'token_rejected',
	'unreachable',
	'mint_rejected',
	'bad_url',
	'displaced',
	'client_bug',
];

test.each(KINDS)('%s: message and resolution', (kind) => {
	const { message, resolution } = describeEnding(kind, socketEnd(1006), '');
	expect(`${message}.\n${resolution}`).toMatchSnapshot();
});

test('includes what the service reported and the close code', () => {
	expect(describeEnding('unreachable', socketEnd(1011), 'close code 1011')).toMatchObject({
		kind: 'unreachable',
		originalMessage: 'close code 1011',
		code: 1011,
		status: null,
	});
	expect(describeEnding('unreachable', socketEnd(null), '').originalMessage).toBeUndefined();
});

test('explains a rejected token with the error table, with its status', () => {
	expect(describeEnding('mint_rejected', noToken(rejection), 'agent_not_found')).toMatchObject({
		message: 'The agent is unknown',
		resolution: 'Check the agent.',
		status: 403,
		code: null,
	});
	expect(describeEnding('unreachable', noToken(rejection), '').message).toBe(
		'The connection to the chat session keeps failing',
	);
	expect(describeEnding('mint_rejected', noToken(new Error('x')), '').message).toBe(
		'The service issues no WebSocket token for this session',
	);
});

test.each<[AttemptEnd, string]>([
	[socketEnd(1008, 'agent inactive'), 'close code 1008 · agent inactive'],
	[socketEnd(1006), 'close code 1006'],
	[socketEnd(null), ''],
	[noToken(rejection), 'agent_not_found'],
	[noToken(new Error('down')), 'down'],
	[noToken('down'), ''],
	[{ kind: 'url', wsUrl: 'https://h.example.com/p?token=s' }, 'https://h.example.com/p'],
])('reports %j as %j', (end, reason) => {
	expect(serviceReason(end)).toBe(reason);
});
