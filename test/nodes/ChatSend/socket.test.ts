import type { INodeParameters } from 'n8n-workflow';
import { INVALID_CODES } from '../../../nodes/shared/chat/frames';
import { chatHarness, eventually, records, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendBy: 'socket',
	sessionId: sessions.open,
	message: '={{ $json.text }}',
});
const send = async (text: string, parameters: INodeParameters = {}) =>
	await harness.run(parameters, { items: [{ text }] });

const frames = () =>
	harness
		.simulator()
		.sessions.frames()
		.map(({ text }): unknown => JSON.parse(text));
const originalMessage = () =>
	harness
		.simulator()
		.sessions.get(sessions.open)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

describe('each state of the ack has its own outcome', () => {
	test('default: the reply', async () => {
		expect(records(await send('Hello'))).toEqual([
			{
				session_id: sessions.open,
				state: 'default',
				reply: 'You said: Hello',
				mode: 'ai',
				help_requested: false,
				turn_id: 'turn_1',
				message_id: expect.stringMatching(/^n8n-/),
			},
		]);
	});

	test('accepted: a replay, with the reply of the first time', async () => {
		const key = { idempotency: 'own', idempotencyKey: 'k-1' };
		await send('Hello', key);
		const [replayed] = records(await send('Hello', key));
		expect(replayed).toMatchObject({ state: 'accepted', reply: 'You said: Hello' });
		expect(originalMessage()).toEqual(['Hello']);
	});

	test('merged: the reply from the messages, with the result', async () => {
		const [item] = records(await send('please merge this'));
		expect(item).toEqual({
			session_id: sessions.open,
			state: 'merged',
			merged_into: expect.any(String),
			turn_id: expect.any(String),
			message_id: expect.stringMatching(/^n8n-/),
			reply: 'You said: please merge this',
			reply_source: 'events',
			turn_result: expect.objectContaining({ turn_id: item?.merged_into, state: 'default' }),
		});
	});

	test('busy once: tried again, and taken once', async () => {
		expect(records(await send('please be busy'))).toMatchObject([{ state: 'default' }]);
		expect(frames()).toHaveLength(2);
		expect(originalMessage()).toEqual(['please be busy']);
	});

	test('busy all the time: surely not taken', async () => {
		expect(stopMessage(await send('please stay busy'))).toEqual({
			message: 'The service is too busy to take the message',
			description: expect.stringMatching(/Send it again later.*server_busy/),
		});
		expect(originalMessage()).toEqual([]);
	});

	test('error: nobody knows whether it was taken', async () => {
		expect(stopMessage(await send('please fail'))).toEqual({
			message: expect.stringContaining('could not handle the message'),
			description: expect.stringMatching(
				/Look at the conversation.*The service said: internal_error\.$/,
			),
		});
		expect(frames()).toHaveLength(1);
	});

	test.each(INVALID_CODES)('invalid, %s: what is wrong and what to do', async (code) => {
		const { message, description } = stopMessage(await send(`please be invalid: ${code}`));
		expect(message).not.toBe('The service did not accept the message');
		expect(description).toContain(`The service said: ${code}`);
	});

	test('invalid with a code that is not documented: shown as it is', async () => {
		expect(stopMessage(await send('please be invalid: too_blue'))).toEqual({
			message: 'The service did not accept the message',
			description: expect.stringContaining('too_blue'),
		});
	});
});

describe('an ack with a state of no document', () => {
	const answered = async (payload: object) => {
		const sending = send('please never ack');
		await eventually(() => frames().length === 1);
		const ack = JSON.stringify({ type: 'ws_write_result', payload });
		harness.simulator().sessions.pushRaw(sessions.open, ack);
		return await sending;
	};

	test('and an error: rejected, not an item of the output', async () => {
		const run = await answered({ state: 'quarantined', error: 'spam_suspected' });
		expect(stopMessage(run)).toEqual({
			message: 'The service did not accept the message',
			description: expect.stringContaining('spam_suspected (state quarantined)'),
		});
		expect(frames()).toHaveLength(1);
	});

	test('and no error: data, passed on as it is', async () => {
		expect(records(await answered({ state: 'queued', position: 3 }))).toEqual([
			{ session_id: sessions.open, state: 'queued', position: 3 },
		]);
	});
});

test('a protected message that is run again while others talk: not given their replies', async () => {
	const key = { idempotency: 'own', idempotencyKey: 'k-1', options: { replyTimeLimit: 50 } };
	await send('please merge this', key);
	const again = send('please merge this', key);
	await eventually(() => frames().length === 2);
	harness.simulator().sessions.pushEvent(sessions.open, 'message_received', {
		id: 'of-another',
		type: 'message',
		role: 'ai',
		content: 'An answer to somebody else',
	});
	expect(records(await again)).toMatchObject([
		{ state: 'accepted', reply: null, reply_source: 'uncertain' },
	]);
});

test.each(['none', 'own'])(
	'an interim text (key: %s): the ack is waited for on the same socket, and its reply returned',
	async (idempotency) => {
		const key = idempotency === 'own' ? { idempotency, idempotencyKey: 'k-1' } : {};
		expect(records(await send('please check first', key))).toMatchObject([
			{ state: 'default', reply: 'You said: please check first' },
		]);
		expect([frames().length, harness.connections()]).toEqual([1, 1]);
	},
);

test('a protected message whose ack never comes: sent again, and told', async () => {
	const run = await send('please never ack', { idempotency: 'own', idempotencyKey: 'k-1' });
	expect(stopMessage(run)).toEqual({
		message: 'The message was sent, but the service did not confirm it in time',
		description: expect.stringContaining('with the same key is safe'),
	});
	expect(originalMessage()).toEqual(['please never ack']);
	expect(frames()).toHaveLength(3);
});

test('a connection that breaks before the ack: unknown, and never sent again by itself', async () => {
	const run = await send('please drop me');
	expect(stopMessage(run)).toEqual({
		message: 'The connection was lost after the message was sent',
		description: expect.stringContaining('it was not sent again'),
	});
	expect(frames()).toHaveLength(1);
});

test('the same with a key: sent again, taken once', async () => {
	const sending = send('please answer slowly', { idempotency: 'derived', uniqueBy: 'row 7' });
	await eventually(() => frames().length === 1);
	harness.simulator().sessions.cutSockets();
	// The second ack says that the message was accepted before, and a later one contains the reply.
	expect(records(await sending)).toMatchObject([
		{ state: 'accepted', reply: 'You said: please answer slowly', reply_source: 'ack' },
	]);
	expect(new Set(frames().map((frame) => JSON.stringify(frame))).size).toBe(1);
	expect(originalMessage()).toEqual(['please answer slowly']);
});

test('n8n’s Retry On Fail does not send a message of unknown fate again', async () => {
	const overrides = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const run = await harness.run(
		{},
		{ items: [{ text: 'One' }, { text: 'please drop me' }], overrides },
	);
	expect(stopMessage(run).message).toContain('connection was lost');
	expect(stopMessage(run).description).toContain('1 message was already sent in this run (item 0)');
	expect(originalMessage()).toEqual(['One', 'please drop me']);
});

test('a derived key is the same in every run, and another for another message', async () => {
	const keysOf = async (text: string, uniqueBy: string) => {
		await send(text, { idempotency: 'derived', uniqueBy });
		return frames().at(-1);
	};
	const first = await keysOf('Yes', '1');
	expect(first).toMatchObject({ idempotency_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
	expect(await keysOf('Yes', '1')).toEqual(first);
	expect(await keysOf('Yes', '2')).not.toEqual(first);
	expect(originalMessage()).toEqual(['Yes', 'Yes']);
});

test('a message ID of one’s own is sent and given back', async () => {
	const [item] = records(await send('Hello', { options: { messageId: 'm-1' } }));
	expect(item).toMatchObject({ message_id: 'm-1' });
	expect(frames()).toEqual([{ type: 'message', content: 'Hello', message_id: 'm-1' }]);
});

test('messages of a session keep their order, whatever the concurrency; one socket each', async () => {
	const texts = ['please be busy', 'two', 'three', 'four'];
	const items = texts.flatMap((text) => [
		{ text, session: sessions.open },
		{ text, session: sessions.dormant },
	]);
	const parameters = { sessionId: '={{ $json.session }}', options: { concurrency: 8 } };
	const replies = records(await harness.run(parameters, { items })).map(({ reply }) => reply);
	expect(replies).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(originalMessage()).toEqual(texts);
	expect(harness.connections()).toBe(2);
});

test('a session in two letter cases is one: one connection, messages in order, the same key', async () => {
	const items = [sessions.open, sessions.open.toUpperCase()].flatMap((session) =>
		['please be busy', 'two'].map((text) => ({ session, text })),
	);
	const parameters = {
		sessionId: '={{ $json.session }}',
		idempotency: 'derived',
		uniqueBy: 'row 7',
		options: { concurrency: 4 },
	};
	const output = records(await harness.run(parameters, { items }));
	expect(output.map(({ reply }) => reply)).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(originalMessage()).toEqual(['please be busy', 'two']);
	expect(harness.connections()).toBe(1);
});

test('Continue On Fail: the other items go on, each error names its item', async () => {
	const items = [{ text: 'One' }, { text: 'please be invalid: agent_inactive' }, { text: 'Three' }];
	const overrides = { onError: 'continueRegularOutput' as const };
	expect(records(await harness.run({}, { items, overrides }))).toMatchObject([
		{ reply: 'You said: One' },
		{
			error: 'The agent of this session is not active [item 1]',
			details: { item: 1, outcome: 'rejected', service_said: 'agent_inactive' },
		},
		{ reply: 'You said: Three' },
	]);
});

test('a session that another client holds: left to it, or taken over', async () => {
	const other = await harness.otherClient(sessions.open);
	expect(stopMessage(await send('Hello')).description).toContain('turn on Take Over');
	expect(records(await send('Hello', { takeOver: true }))).toMatchObject([{ state: 'default' }]);
	other.close();
	expect(originalMessage()).toEqual(['Hello']);
});

test.each<[string, INodeParameters, string]>([
	['an empty message', { message: ' ' }, 'Message is empty'],
	['no session', { sessionId: ' ' }, 'The Session ID is empty'],
	['a word as session', { sessionId: 'chat' }, '"chat" is not a session ID'],
	['no key', { idempotency: 'own', idempotencyKey: '={{ "" }}' }, 'Idempotency Key is empty'],
	[
		'nothing unique',
		{ idempotency: 'derived', uniqueBy: '={{ "" }}' },
		'What Makes This Message Unique is empty',
	],
	[
		'no interaction',
		{ operation: 'answerInteraction', interactionId: '={{ "" }}', optionId: 'a' },
		'Interaction ID is empty',
	],
])('%s: rejected before anything is sent', async (_case, parameters, message) => {
	const run = await harness.run(parameters, { items: [{ text: 'Hello' }] });
	expect(stopMessage(run).message).toBe(message);
	expect(harness.simulator().requests).toEqual([]);
});
