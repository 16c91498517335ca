import { ApiClient } from '../../../../nodes/shared/api/client';
import { requireAccepted } from '../../../../nodes/ChatSend/messageState';
import {
	InvalidInput,
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import type { ApiResponse } from '../../../../nodes/shared/api/http';
import { ApiMapping, type MappingName } from '../../../../nodes/shared/apiMapping';
import {
	asyncValues,
	createdSessionId,
	createValues,
	inboundValues,
	requireRecipient,
	sendKeyed,
} from '../../../../nodes/shared/chat/chatRequests';
import type { JsonValue } from '../../../../nodes/shared/json';

const mapping = (settings: { [name in MappingName]?: string }) => new ApiMapping(settings);
const MESSAGE = { sessionId: 's-1', agentUuid: 'agent_a', message: 'Hello' };
const REJECTION = { texts: [], body: {} };
const response = (body: JsonValue): ApiResponse => ({ status: 200, body });

test.each([
	['a session', { ...MESSAGE, agentUuid: '' }],
	['an agent', { ...MESSAGE, sessionId: '' }],
	['both', MESSAGE],
])('accepts %s as the recipient', (_name, message) => {
	expect(requireRecipient(message)).toBe(message);
});

test('rejects a message without a session and an agent', () => {
	const reject = () => requireRecipient({ ...MESSAGE, sessionId: '', agentUuid: '' });
	expect(caught(reject)).toMatchObject({
		message: 'The message has no session and no agent',
		resolution: expect.stringMatching(/^Fill in 'Session ID'\. .* choose an agent in 'Agent'/),
	});
});

describe('each value is sent under the name and in the place from the credential', () => {
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

	test('of a message with a later reply, with the idempotency key', () => {
		expect(asyncValues(ASYNC, MESSAGE, 'k-1')).toEqual({
			query: { agent_id: 'agent_a', content: 'Hello' },
			body: { of: { session: 's-1' }, idempotency_key: 'k-1' },
		});
		expect(asyncValues(ASYNC, MESSAGE, '').body).toEqual({ of: { session: 's-1' } });
	});

	test("of a message that would get the name of the idempotency key: rejected, so that the key doesn't replace it", () => {
		const names = { chatAsyncSessionName: 's', chatAsyncMessageName: 'idempotency_key' };
		const message = { sessionId: 's-1', agentUuid: '', message: 'Hello' };
		expect(() => asyncValues(mapping(names), message, 'k-1')).toThrow('the same field name');
		expect(asyncValues(mapping(names), message, '')).toEqual({
			body: { s: 's-1', idempotency_key: 'Hello' },
		});
	});

	test('of a new session', () => {
		expect(createValues(CREATE, { agentUuid: 'agent_a', personName: 'Asha' })).toEqual({
			query: { agent: 'agent_a' },
			body: { person: { name: 'Asha' } },
		});
	});

	test("empty values aren't sent and need no name", () => {
		const partial = mapping({ chatInboundMessageName: 'text' });
		expect(inboundValues(partial, { sessionId: '', agentUuid: '', message: 'Hello' }).body).toEqual(
			{
				text: 'Hello',
			},
		);
	});

	test('all missing settings are reported together', () => {
		const details = mapping({ chatInboundMessageName: 'text' });
		expect(caught(() => inboundValues(details, MESSAGE))).toMatchObject({
			resolution: expect.stringMatching(/ and fill in .+ and .+\.$/),
		});
	});
});

test.each<[string, JsonValue, string | null]>([
	['at the top', { session_id: 's-1' }, 's-1'],
	['in the envelope', { success: true, data: { session_id: 's-1' } }, 's-1'],
	['in a list', { of: [{ it: [{ session_id: 's-1' }] }] }, 's-1'],
	['the outermost of several', { data: { a: { session_id: 'in' }, session_id: 'out' } }, 'out'],
	['a number', { session_id: 7 }, '7'],
	[
		'two of the same depth',
		{ data: { of: { session_id: 's-1' }, to: { session_id: 's-2' } } },
		null,
	],
	['one of the same depth twice', { a: { session_id: 's-1' }, b: { session_id: 's-1' } }, 's-1'],
	['zero', { session_id: 0 }, '0'],
	['after an empty one', { session_id: '', data: { session_id: 's-1' } }, 's-1'],
	["after one that isn't an ID", { session_id: { id: 1 }, data: { session_id: 's-1' } }, 's-1'],
	['nowhere', { session: 's-1' }, null],
	['null', { session_id: null }, null],
	['not in a text', 'session_id', null],
])('finds the ID of a created session: %s', (_name, body, id) => {
	expect(createdSessionId(mapping({}), response(body))).toBe(id);
});

test.each<[string, string | null]>([
	['data.id', 's-1'],
	['data.number', '7'],
	['data.empty', null],
	['data.none', null],
	['data', null],
])('with the path %s in the credential: %p', (path, id) => {
	const body = { data: { id: 's-1', number: 7, empty: '', session_id: 's-2' } };
	expect(createdSessionId(mapping({ chatCreateSessionPath: path }), response(body))).toBe(id);
});

describe('a message with an unknown outcome', () => {
	const unknown = () => new OutcomeUnknown('It broke', forEveryone('Look there.'), 'ECONNRESET');

	beforeEach(() => {
		jest.spyOn(Math, 'random').mockReturnValue(0.5);
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	async function sent(hasKey: boolean, ...results: Array<ApiResponse | Error>) {
		const sleeps: number[] = [];
		const clock = {
			now: () => 0,
			elapsed: () => 0,
			sleep: async (ms: number) => {
				sleeps.push(ms);
				await Promise.resolve();
			},
		};
		let attempts = 0;
		const client = new ApiClient(
			async () => await Promise.reject(new Error('unused')),
			clock,
			() => 0,
		);
		const send = async () => {
			const next = results[Math.min(attempts++, results.length - 1)];
			await Promise.resolve();
			if (next === undefined || next instanceof Error) throw next ?? new Error('no result');
			return next;
		};
		const result: unknown = await sendKeyed(client, hasKey, send, requireAccepted).catch(
			(error: unknown) => error,
		);
		return { result, attempts, sleeps };
	}

	test('is sent again with its key', async () => {
		const done = response({ success: true });
		expect(await sent(true, unknown(), done)).toEqual({ result: done, attempts: 2, sleeps: [500] });
	});

	test('is sent 3 times in total, and then reports that a repeat is safe', async () => {
		const { result, attempts, sleeps } = await sent(true, unknown());
		expect([attempts, sleeps]).toEqual([3, [500, 1_000]]);
		expect(result).toMatchObject({
			outcome: 'unknown',
			message: 'It broke',
			resolution:
				'The message was sent several times with the same idempotency key, which is safe. You can run this item again with the same key.',
		});
	});

	test('is sent once without a key', async () => {
		const { result, attempts } = await sent(false, unknown());
		expect(attempts).toBe(1);
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
		['the state "invalid"', response({ data: { state: 'invalid', error: 'agent_inactive' } })],
		['the state "busy"', response({ data: { state: 'busy', error: 'server_busy' } })],
	];

	test.each(failures)("isn't settled by %s in a later attempt", async (_name, later) => {
		const { result, attempts } = await sent(true, unknown(), later);
		expect(attempts).toBe(2);
		expect(result).toBeInstanceOf(OutcomeUnknown);
		expect(result).toMatchObject({
			message: expect.stringContaining('may have accepted the message'),
			resolution: expect.stringContaining('Check the conversation in the service'),
			originalMessage: expect.stringMatching(/agent_inactive|slow down|ECONNREFUSED|server_busy/),
		});
	});

	test.each(failures)("isn't unknown if the first attempt has %s", async (_name, first) => {
		const { result, attempts } = await sent(true, first);
		expect(attempts).toBe(1);
		expect(result).not.toBeInstanceOf(OutcomeUnknown);
	});

	test('is different from a rejection', async () => {
		const rejected = new InvalidInput('No', forEveryone('Correct it.'));
		expect(await sent(true, rejected)).toEqual({ result: rejected, attempts: 1, sleeps: [] });
	});
});

function caught(act: () => unknown): unknown {
	try {
		return act();
	} catch (error) {
		return error;
	}
}
