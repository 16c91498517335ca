import type { INodeParameters } from 'n8n-workflow';
import { speedUp } from '../../engine';
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
const customerMessages = () =>
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

	test('accepted: a replay, with the first reply', async () => {
		const key = { idempotency: 'own', idempotencyKey: 'k-1' };
		await send('Hello', key);
		const [replayed] = records(await send('Hello', key));
		expect(replayed).toMatchObject({ state: 'accepted', reply: 'You said: Hello' });
		expect(customerMessages()).toEqual(['Hello']);
	});

	test('always busy: not accepted', async () => {
		expect(stopMessage(await send('please stay busy'))).toEqual({
			message: 'The service is too busy to accept the message',
			description: expect.stringMatching(/Send it again later.*server_busy/),
		});
		expect(customerMessages()).toEqual([]);
	});

	test('error: the outcome is unknown', async () => {
		expect(stopMessage(await send('please fail'))).toEqual({
			message: expect.stringContaining("couldn't process the message"),
			description: expect.stringMatching(
				/Check the conversation.*The service said: internal_error\.$/,
			),
		});
		expect(frames()).toHaveLength(1);
	});
});

test('an ack with an undocumented state and no error is passed through', async () => {
	const sending = send('please never ack');
	await eventually(() => frames().length === 1);
	const payload = { state: 'queued', position: 3 };
	const ack = JSON.stringify({ type: 'ws_write_result', payload });
	harness.simulator().sessions.pushRaw(sessions.open, ack);
	expect(records(await sending)).toEqual([{ session_id: sessions.open, ...payload }]);
});

test.each(['none', 'own'])(
	'an interim message (key: %s): waits for the ack on the same socket, and returns its reply',
	async (idempotency) => {
		const key = idempotency === 'own' ? { idempotency, idempotencyKey: 'k-1' } : {};
		expect(records(await send('please check first', key))).toMatchObject([
			{ state: 'default', reply: 'You said: please check first' },
		]);
		expect([frames().length, harness.connections()]).toEqual([1, 1]);
	},
);

test('a message with a key and without an ack: sent again, then reported', async () => {
	speedUp(1_000);
	const run = await send('please never ack', { idempotency: 'own', idempotencyKey: 'k-1' });
	expect(stopMessage(run)).toEqual({
		message: "The message was sent, but the service didn't confirm it in time",
		description: expect.stringContaining('with the same idempotency key, which is safe'),
	});
	expect(customerMessages()).toEqual(['please never ack']);
	expect(frames()).toHaveLength(3);
});

test("a connection that breaks before the ack: unknown, and isn't sent again", async () => {
	const run = await send('please drop me');
	expect(stopMessage(run)).toEqual({
		message: 'The connection was lost after the message was sent',
		description: expect.stringContaining("it wasn't sent again"),
	});
	expect(frames()).toHaveLength(1);
});

test('the same with a key: sent again, accepted once', async () => {
	const sending = send('please answer slowly', { idempotency: 'derived', uniqueBy: 'row 7' });
	await eventually(() => frames().length === 1);
	harness.simulator().sessions.cutSockets();
	// The second ack reports that the message was accepted before.
	expect(records(await sending)).toMatchObject([
		{ state: 'accepted', turn_id: expect.any(String) },
	]);
	expect(new Set(frames().map((frame) => JSON.stringify(frame))).size).toBe(1);
	expect(customerMessages()).toEqual(['please answer slowly']);
});

test("Retry On Fail doesn't send a message with an unknown outcome again", async () => {
	const over = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const run = await harness.run(
		{},
		{ items: [{ text: 'One' }, { text: 'please drop me' }], overrides: over },
	);
	expect(stopMessage(run).message).toContain('connection was lost');
	expect(stopMessage(run).description).toContain('1 message was already sent in this run (item 0)');
	expect(customerMessages()).toEqual(['One', 'please drop me']);
});

test('a derived key is the same in every execution, and differs between messages', async () => {
	const keysOf = async (text: string, uniqueBy: string) => {
		await send(text, { idempotency: 'derived', uniqueBy });
		return frames().at(-1);
	};
	const first = await keysOf('Yes', '1');
	expect(first).toMatchObject({ idempotency_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
	expect(await keysOf('Yes', '1')).toEqual(first);
	expect(await keysOf('Yes', '2')).not.toEqual(first);
	expect(customerMessages()).toEqual(['Yes', 'Yes']);
});

test('a custom message ID is sent and returned', async () => {
	const [item] = records(await send('Hello', { developerSettings: { messageId: 'm-1' } }));
	expect(item).toMatchObject({ message_id: 'm-1' });
	expect(frames()).toEqual([{ type: 'message', content: 'Hello', message_id: 'm-1' }]);
});

test('messages of a session keep their order with any concurrency, on one socket per session', async () => {
	const texts = ['please be busy', 'two', 'three', 'four'];
	const items = texts.flatMap((text) => [
		{ text, session: sessions.open },
		{ text, session: sessions.dormant },
	]);
	const parameters = { sessionId: '={{ $json.session }}', developerSettings: { concurrency: 8 } };
	const replies = records(await harness.run(parameters, { items })).map(({ reply }) => reply);
	expect(replies).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(customerMessages()).toEqual(texts);
	expect(harness.connections()).toBe(2);
});

test('upper and lower case are the same session: one connection, messages in order, the same key', async () => {
	const items = [sessions.open, sessions.open.toUpperCase()].flatMap((session) =>
		['please be busy', 'two'].map((text) => ({ session, text })),
	);
	const parameters = {
		sessionId: '={{ $json.session }}',
		idempotency: 'derived',
		uniqueBy: 'row 7',
		developerSettings: { concurrency: 4 },
	};
	const output = records(await harness.run(parameters, { items }));
	expect(output.map(({ reply }) => reply)).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(customerMessages()).toEqual(['please be busy', 'two']);
	expect(harness.connections()).toBe(1);
});

test('Continue On Fail: other items continue, and each error names its item', async () => {
	const items = [{ text: 'One' }, { text: 'please be invalid: agent_inactive' }, { text: 'Three' }];
	const overrides = { onError: 'continueRegularOutput' as const };
	expect(records(await harness.run({}, { items, overrides }))).toMatchObject([
		{ reply: 'You said: One' },
		{
			error: 'The agent of this session is inactive [item 1]',
			details: { item: 1, outcome: 'rejected', service_said: 'agent_inactive' },
		},
		{ reply: 'You said: Three' },
	]);
});

test('a session in use by another client: rejected, or taken over', async () => {
	const other = await harness.otherClient(sessions.open);
	expect(stopMessage(await send('Hello')).description).toContain(
		"turn on 'Disconnect Other Connection'",
	);
	expect(records(await send('Hello', { disconnectOther: true }))).toMatchObject([
		{ state: 'default' },
	]);
	other.close();
	expect(customerMessages()).toEqual(['Hello']);
});

test.each<[string, INodeParameters, string]>([
	['an empty message', { message: ' ' }, "'Message' is empty"],
	['no session', { sessionId: ' ' }, "'Session ID' is empty"],
	['an invalid session ID', { sessionId: 'chat' }, `'Session ID' isn't a session ID (got "chat")`],
	['no key', { idempotency: 'own', idempotencyKey: '={{ "" }}' }, "'Idempotency Key' is empty"],
	['nothing unique', { idempotency: 'derived', uniqueBy: '={{ "" }}' }, "'Unique Value' is empty"],
	[
		'no interaction ID',
		{ operation: 'answerInteraction', interactionId: '={{ "" }}', optionId: 'a' },
		"'Interaction ID' is empty",
	],
])('%s: rejected before anything is sent', async (_case, parameters, message) => {
	const run = await harness.run(parameters, { items: [{ text: 'Hello' }] });
	expect(stopMessage(run).message).toBe(message);
	expect(harness.simulator().requests).toEqual([]);
});
