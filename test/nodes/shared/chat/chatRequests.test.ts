import { ApiClient } from '../../../../nodes/shared/api/client';
import { requireTaken } from '../../../../nodes/ChatSend/messageState';
import {
	InvalidInput,
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/modelAdvice';
import type { ApiResponse } from '../../../../nodes/shared/api/http';
import { ApiMapping, type MappingName } from '../../../../nodes/shared/apiMapping';
import {
	acceptedTurn,
	asyncValues,
	createdSessionId,
	createValues,
	inboundValues,
	requireRecipient,
	sendKeyed,
} from '../../../../nodes/shared/chat/chatRequests';
import type { JsonValue } from '../../../../nodes/shared/json';

const mapping = (details: { [name in MappingName]?: string }) => new ApiMapping(details);
const MESSAGE = { sessionId: 's-1', agentUuid: 'agent_a', message: 'Hello' };
const REJECTION = { texts: [], body: {} };
const answer = (body: JsonValue): ApiResponse => ({ status: 200, body });

test.each([
	['a session', { ...MESSAGE, agentUuid: '' }],
	['an agent', { ...MESSAGE, sessionId: '' }],
	['both', MESSAGE],
])('%s says whom a message is for', (_who, message) => {
	expect(requireRecipient(message)).toBe(message);
});

test('neither a session nor an agent is told', () => {
	const told = () => {
		try {
			return requireRecipient({ ...MESSAGE, sessionId: '', agentUuid: '' });
		} catch (error) {
			return error;
		}
	};
	expect(told()).toMatchObject({
		message: 'Neither a session nor an agent says whom the message is for',
		resolution: expect.stringMatching(/^Fill in Session ID, or choose an agent in Agent/),
	});
});

describe('each value goes under the name and to the place that the credential says', () => {
	const INBOUND = mapping({
		chatInboundSessionName: 'session',
		chatInboundSessionPlacement: 'query',
		chatInboundAgentName: 'agent',
		chatInboundAgentPlacement: 'query',
		chatInboundMessageName: 'text',
		chatInboundMessagePlacement: 'body',
	});
	const ASYNC = mapping({
		chatAsyncSessionName: 'of.session',
		chatAsyncAgentName: 'agent_id',
		chatAsyncAgentPlacement: 'query',
		chatAsyncMessageName: 'content',
		chatAsyncMessagePlacement: 'query',
	});
	const CREATE = mapping({
		chatCreateAgentName: 'agent',
		chatCreateAgentPlacement: 'query',
		chatCreatePersonName: 'person.name',
	});

	test('of a message', () => {
		expect(inboundValues(INBOUND, MESSAGE)).toEqual({
			query: { session: 's-1', agent: 'agent_a' },
			body: { text: 'Hello' },
		});
	});

	test('of a message with a later reply, the idempotency key beside them', () => {
		expect(asyncValues(ASYNC, MESSAGE, 'k-1')).toEqual({
			query: { agent_id: 'agent_a', content: 'Hello' },
			body: { of: { session: 's-1' }, idempotency_key: 'k-1' },
		});
		expect(asyncValues(ASYNC, MESSAGE, '').body).toEqual({ of: { session: 's-1' } });
	});

	test('of a new session', () => {
		expect(createValues(CREATE, { agentUuid: 'agent_a', personName: 'Asha' })).toEqual({
			query: { agent: 'agent_a' },
			body: { person: { name: 'Asha' } },
		});
	});

	test('what is empty is not sent and needs no name', () => {
		const details = mapping({ chatInboundMessageName: 'text' });
		expect(inboundValues(details, { sessionId: '', agentUuid: '', message: 'Hello' }).body).toEqual(
			{
				text: 'Hello',
			},
		);
	});

	test('all that is not said yet is named at once', () => {
		const details = mapping({ chatInboundMessageName: 'text' });
		expect(() => inboundValues(details, MESSAGE)).toThrow(/has no value for .+ and .+/);
	});
});

test.each<[string, JsonValue, string | null]>([
	['at the top', { session_id: 's-1' }, 's-1'],
	['in the envelope', { success: true, data: { session_id: 's-1' } }, 's-1'],
	['in a list', { of: [{ it: [{ session_id: 's-1' }] }] }, 's-1'],
	['the outermost of several', { data: { a: { session_id: 'in' }, session_id: 'out' } }, 'out'],
	['a number', { session_id: 7 }, '7'],
	['zero', { session_id: 0 }, '0'],
	['behind one that is empty', { session_id: '', data: { session_id: 's-1' } }, 's-1'],
	['behind one that is no ID', { session_id: { id: 1 }, data: { session_id: 's-1' } }, 's-1'],
	['nowhere', { session: 's-1' }, null],
	['null', { session_id: null }, null],
	['in what is no object', 'session_id', null],
])('the ID of a created session is found %s', (_where, body, id) => {
	expect(createdSessionId(mapping({}), answer(body))).toBe(id);
});

test.each<[string, string | null]>([
	['data.id', 's-1'],
	['data.number', '7'],
	['data.empty', null],
	['data.none', null],
	['data', null],
])('where the credential names the place %s it is %p', (path, id) => {
	const body = { data: { id: 's-1', number: 7, empty: '', session_id: 's-2' } };
	expect(createdSessionId(mapping({ chatCreateSessionPath: path }), answer(body))).toBe(id);
});

test.each<[{ [name in MappingName]?: string }, JsonValue, object]>([
	[{}, { data: { turn_id: 't-1', message_id: 7 } }, { turnId: 't-1', messageId: '7', reply: null }],
	[
		{ chatAsyncTurnPath: 'data.turn' },
		{ data: { turn: 't-9', turn_id: 't-1', reply: 'Hi' } },
		{ turnId: 't-9', messageId: null, reply: 'Hi' },
	],
	[
		{},
		{ state: 'merged', turn_id: 't-1', merged_into: 't-2' },
		{ turnId: 't-2', messageId: null, reply: null },
	],
	[
		{ chatAsyncTurnPath: 'data.turn_id' },
		{ data: { turn_id: 't-2' }, last: { turn_id: 't-1', merged_into: 't-0', reply: 'Hi' } },
		{ turnId: 't-2', messageId: null, reply: null },
	],
])('with %j the turn accepted by %j is %j', (details, body, turn) => {
	expect(acceptedTurn(mapping(details), answer(body))).toEqual(turn);
});

describe('a message whose fate is not known', () => {
	const unknown = () => new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET');

	beforeEach(() => {
		jest.spyOn(Math, 'random').mockReturnValue(0.5);
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	async function sent(keyed: boolean, ...results: Array<ApiResponse | Error>) {
		const sleeps: number[] = [];
		const clock = {
			now: () => 0,
			elapsed: () => 0,
			sleep: async (ms: number) => {
				sleeps.push(ms);
				await Promise.resolve();
			},
		};
		let tries = 0;
		const client = new ApiClient(
			async () => await Promise.reject(new Error('unused')),
			clock,
			() => 0,
		);
		const send = async () => {
			const next = results[Math.min(tries++, results.length - 1)];
			await Promise.resolve();
			if (next === undefined || next instanceof Error) throw next ?? new Error('no result');
			return next;
		};
		const result: unknown = await sendKeyed(client, keyed, send, requireTaken).catch(
			(error: unknown) => error,
		);
		return { result, tries, sleeps };
	}

	test('is sent again with its key', async () => {
		const done = answer({ success: true });
		expect(await sent(true, unknown(), done)).toEqual({ result: done, tries: 2, sleeps: [500] });
	});

	test('is sent three times in all, and then told that a repeat is safe', async () => {
		const { result, tries, sleeps } = await sent(true, unknown());
		expect([tries, sleeps]).toEqual([3, [500, 1_000]]);
		expect(result).toMatchObject({
			outcome: 'unknown',
			message: 'It broke',
			resolution:
				'It was sent again with the same idempotency key, which is safe. Running this item once more with the same key is safe as well.',
		});
	});

	test('is sent once without a key', async () => {
		const { result, tries } = await sent(false, unknown());
		expect(tries).toBe(1);
		expect(result).toMatchObject({ resolution: 'Look there.' });
	});

	const failures: Array<[string, ApiResponse | Error]> = [
		[
			'a rejection',
			new ServiceRejection('No', forEveryone('Fix it.'), 'agent_inactive', 422, REJECTION),
		],
		[
			'too many requests',
			new ServiceRejection('No', forEveryone('Wait.'), 'slow down', 429, REJECTION),
		],
		['no connection', new NotSent('Not sent', forEveryone('Check it.'), 'ECONNREFUSED')],
		['the state "invalid"', answer({ data: { state: 'invalid', error: 'agent_inactive' } })],
		['the state "busy"', answer({ data: { state: 'busy', error: 'server_busy' } })],
	];

	test.each(failures)('is not settled by %s of a later attempt', async (_name, later) => {
		const { result, tries } = await sent(true, unknown(), later);
		expect(tries).toBe(2);
		expect(result).toBeInstanceOf(OutcomeUnknown);
		expect(result).toMatchObject({
			message: expect.stringContaining('may have taken the message'),
			resolution: expect.stringContaining('Look for the message in the conversation'),
			originalMessage: expect.stringMatching(/agent_inactive|slow down|ECONNREFUSED|server_busy/),
		});
	});

	test.each(failures)('is no question where the first attempt has %s', async (_name, first) => {
		const { result, tries } = await sent(true, first);
		expect(tries).toBe(1);
		expect(result).not.toBeInstanceOf(OutcomeUnknown);
	});

	test('is something else than a rejection', async () => {
		const rejected = new InvalidInput('No', forEveryone('Correct it.'));
		expect(await sent(true, rejected)).toEqual({ result: rejected, tries: 1, sleeps: [] });
	});
});
