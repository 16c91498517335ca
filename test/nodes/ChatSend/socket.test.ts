import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import type { JsonObject } from '../../../nodes/core/values/json';
import { engineTool, passTime, speedUp, records } from '../../engine';
import { untilIdle } from '../../n8n/until';
import { chatHarness, eventually, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendingMethod: 'socket',
	sessionId: sessions.open,
	message: '={{ $json.text }}',
});
const send = async (text: string, parameters: INodeParameters = {}) =>
	await harness.run(parameters, { items: [{ text }] });

const frameShape = z.object({ message_id: z.string() }).passthrough();

const control = () => harness.simulator().sessions;
const frames = () =>
	control()
		.frames()
		.map(({ text }) => frameShape.parse(JSON.parse(text)));
const sent = async (count: number) => await eventually(() => frames().length === count);
const customerMessages = (id: string = sessions.open) =>
	control()
		.get(id)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

test('a message to a person who has taken over says why it has no reply, also to a model', async () => {
	control().setMode(sessions.open, 'support');
	const reply_hint = expect.stringContaining('a person has taken over the chat');
	expect(records(await send('Hello'))).toMatchObject([
		{ reply: null, mode: 'support', reply_hint },
	]);
	const parameters = {
		sendingMethod: 'socket',
		sessionId: sessions.open,
		message: 'Are you there?',
	};
	const tool = engineTool(await harness.other('chatSend', parameters));
	expect(await tool({})).toMatchObject({ result: { reply: null, reply_hint } });
});

test.each([
	['response', 'Response'],
	['option', 'Option ID'],
])('an answer to an interactive message by %s must not be empty', async (answerWith, field) => {
	const empty = '={{ "" }}';
	const answer = { answerWith, response: empty, optionId: empty };
	const parameters = { operation: 'answerInteraction', interactionId: 'i-1', ...answer };
	expect(stopMessage(await send('', parameters)).message).toBe(`'${field}' is empty`);
	expect(frames()).toEqual([]);
});

test('a session without a token, because the service gets too many requests, says to send fewer and later', async () => {
	speedUp(500);
	harness.simulator().faults.respond(/ws_token/, 429);
	expect(stopMessage(await send('Hello'))).toEqual({
		message: 'The connection to the chat session keeps failing, so nothing was sent',
		description: expect.stringContaining('Try again later, with fewer requests at the same time.'),
	});
});

test('Retry On Fail sends a message with an unknown outcome again only with a key', async () => {
	const over = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const run = await harness.run(
		{},
		{ items: [{ text: 'One' }, { text: 'please drop me' }], overrides: over },
	);
	expect(stopMessage(run).message).toContain("didn't confirm it");
	expect(stopMessage(run).description).toContain('Completed in an earlier attempt: row 1.');
	expect(customerMessages()).toEqual(['One', 'please drop me']);
	const sending = harness.run(
		{ options: { idempotencyKey: '={{ $json.text }}' } },
		{ items: [{ text: UNACKED }], overrides: over },
	);
	await sent(3);
	control().cutSockets();
	await sent(4);
	harness.acks({ state: 'default', reply: 'Yes' });
	expect(records(await sending)).toMatchObject([{ reply: 'Yes' }]);
	const [, , first, second] = frames();
	expect(second).toEqual(first);
});

test('a replay has the first reply', async () => {
	const key = { options: { idempotencyKey: 'k-1' } };
	await send('Hello', key);
	const [replayed] = records(await send('Hello', key));
	expect(replayed).toMatchObject({ state: 'accepted', reply: 'You said: Hello' });
	expect(customerMessages()).toEqual(['Hello']);
});

test('upper and lower case are the same session: one connection at a time, messages in order, the same key', async () => {
	const items = [sessions.open, sessions.open.toUpperCase()].flatMap((session) =>
		['please be busy', 'two'].map((text) => ({ session, text })),
	);
	const parameters = {
		sessionId: '={{ $json.session }}',
		options: { idempotencyKey: '={{ $json.text }}', concurrency: 4 },
	};
	const output = records(await harness.run(parameters, { items }));
	expect(output.map(({ reply }) => reply)).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(customerMessages()).toEqual(['please be busy', 'two']);
	// Each one was closed before the next one, or else the service would have rejected it.
	expect(harness.sockets()).toHaveLength(items.length);
});

test('10 concurrent executions share a connection, and no message comes between the attempts of another one', async () => {
	const texts = Array.from({ length: 10 }, (_, index) => `please be busy ${index}`);
	const runs = texts.map(async (text) => await send(text));
	for (const run of await Promise.all(runs)) expect(stopMessage(run).message).toContain('not stop');
	expect(customerMessages().sort()).toEqual(texts);
	expect(harness.sockets()).toHaveLength(1);
	const order = frames().map((frame) => JSON.stringify(frame));
	expect(order.filter((_, index) => index % 2 === 0)).toEqual(
		order.filter((_, index) => index % 2 === 1),
	);
});

test('messages to 20 sessions are sent without waiting for an ack', async () => {
	const ids = Array.from({ length: 20 }, () => control().create().sessionId);
	const items = ids.map((id) => ({ text: 'please never ack', session: id }));
	const never = harness.run({ sessionId: '={{ $json.session }}' }, { items });
	await sent(20);
	passTime(120_000);
	await never;
	expect(ids.map((id) => customerMessages(id))).toEqual(ids.map(() => ['please never ack']));
});

test('a session in use by another client: rejected, or taken over', async () => {
	const other = await harness.otherClient(sessions.open);
	expect(stopMessage(await send('Hello')).description).toContain(
		"'Disconnect Other Connection' takes the session",
	);
	expect(records(await send('Hello', { options: { disconnectOther: true } }))).toMatchObject([
		{ state: 'default' },
	]);
	other.close();
	expect(customerMessages()).toEqual(['Hello']);
});

test('a key whose expression returns nothing is rejected before anything is sent', async () => {
	const run = await send('Hello', { options: { idempotencyKey: '={{ $json.none }}' } });
	expect(stopMessage(run).message).toContain("'Idempotency Key'");
	expect(harness.simulator().requests).toEqual([]);
});

/** A message that the service doesn't acknowledge by itself. */
const UNACKED = 'please never ack';
const UNKNOWN = "The message was sent, but the service didn't confirm it";
const KEY = { options: { idempotencyKey: 'row 7' } };

describe('a message whose attempts have these ends', () => {
	const acked = (payload: JsonObject) => () => harness.acks(payload);
	const breaks = () => control().cutSockets();
	const timeIsUp = () => passTime(120_000);
	const times = (count: number, end: () => unknown) => Array.from({ length: count }, () => end);

	const accepted = acked({ state: 'default', reply: 'Yes' });
	const busy = acked({ state: 'busy', error: 'server_busy' });
	const failed = acked({ state: 'error', error: 'oops' });
	const reply = { state: 'default', reply: 'Yes' };

	test.each<[string, INodeParameters, Array<() => unknown>, string | JsonObject]>([
		['an ack', {}, [accepted], reply],
		['an undocumented state', {}, [acked({ state: 'queued', position: 3 })], { position: 3 }],
		['an error, with a key', KEY, [failed], "The service couldn't process the message"],
		['a broken connection', {}, [breaks], UNKNOWN],
		['a broken connection, with a key', KEY, [breaks], UNKNOWN],
		['no ack', {}, [timeIsUp], UNKNOWN],
		['busy 5 times and an ack', {}, [...times(5, busy), accepted], reply],
		['busy 6 times', {}, times(6, busy), 'The service is too busy to accept the message'],
	])('%s: is sent as often, always the same', async (_ends, parameters, ends, outcome) => {
		speedUp(500);
		const sending = send(UNACKED, parameters);
		for (const [index, end] of ends.entries()) {
			await sent(index + 1);
			end();
		}
		const run = await sending;
		if (typeof outcome === 'string') expect(stopMessage(run).message).toBe(outcome);
		else expect(records(run)).toMatchObject([outcome]);
		await harness.connected(0);
		expect(frames()).toHaveLength(ends.length);
		expect(new Set(frames().map((frame) => JSON.stringify(frame))).size).toBe(1);
	});
});

test('the last message of a session that is closed may get its ack a minute later, and the next one is not sent', async () => {
	await harness.publish();
	const last = send(UNACKED);
	await sent(1);
	const body = { success: false, error: 'session_closed' };
	harness.simulator().faults.respond(/ws_token/, 409, { body });
	harness.receives({ type: 'session_closed' });
	await untilIdle();
	passTime(60_000);
	await untilIdle();
	harness.acks({ state: 'default', reply: 'Bye' });
	expect(records(await last)).toMatchObject([{ reply: 'Bye' }]);
	await harness.connected(0);
	expect(stopMessage(await send('Hello')).message).toBe(
		'The chat session is closed, so nothing was sent',
	);
	expect(frames()).toHaveLength(1);
});

describe('a late ack', () => {
	test('with the ID of the earlier message, or without one, is not taken for that of the next message', async () => {
		await harness.publish();
		expect(stopMessage(await send('please drop me')).message).toBe(UNKNOWN);
		const next = send(UNACKED);
		await sent(2);
		const [earlier, own] = frames().map(({ message_id }) => message_id);
		harness.acks({ state: 'default', reply: 'late', message_id: earlier ?? '' });
		harness.acks({ state: 'default', reply: 'late' });
		harness.acks({ state: 'default', reply: 'own', message_id: own ?? '' });
		expect(records(await next)).toMatchObject([{ reply: 'own' }]);
	});

	test('without an ID is taken for that of the same message, which was sent again with its key', async () => {
		await harness.publish();
		const retryOnFail = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const sending = harness.run(KEY, { items: [{ text: UNACKED }], overrides: retryOnFail });
		await sent(1);
		control().cutSockets();
		await sent(2);
		harness.acks({ state: 'accepted' });
		expect(records(await sending)).toMatchObject([{ state: 'accepted' }]);
		expect(records(await send('Hello'))).toMatchObject([{ reply: 'You said: Hello' }]);
	});

	test('that repeats the one of an earlier message is not taken for that of the next message', async () => {
		await send('Hello');
		const next = send(UNACKED);
		await sent(2);
		const [earlier] = frames().map(({ message_id }) => message_id);
		harness.acks({ state: 'default', reply: 'repeated', message_id: earlier ?? '' });
		harness.acks({ state: 'default', reply: 'own' });
		expect(records(await next)).toMatchObject([{ reply: 'own' }]);
	});

	test("can't come on the socket of the next message, because another one is opened", async () => {
		await harness.publish();
		const unconfirmed = send(UNACKED);
		await sent(1);
		passTime(120_000);
		expect(stopMessage(await unconfirmed).message).toBe(UNKNOWN);
		expect(records(await send('Hello'))).toMatchObject([{ reply: 'You said: Hello' }]);
		expect(harness.sockets()).toHaveLength(2);
	});
});
